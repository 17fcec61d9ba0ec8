import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { type ClampEvent, createSpillStore, type WrapPolicy, wrapTool } from 'spillway'
import { describe, expect, it } from 'vitest'
import plugin from '../../cli/hook/opencode.js'
import type { HookPolicy } from '../../lib/hook/blocks.js'
import type * as Clamping from '../../lib/hook/clamp_blocks.js'
import { place, seq, shell, spillway, write } from '../support/cli.js'

/** Of the package, whose engine it shares. */
const { clampBlocks } = createRequire(__filename)('../../dist/clamp_blocks.js') as typeof Clamping
const BIG = seq(9_000)
const LIMIT = 16_384
const env = { HOME: place, XDG_STATE_HOME: join(place, 'state') }

/** A made-up event of Claude Code, after a tool has run. */
const event = (tool_name: string, tool_response: unknown, more = {}) =>
  JSON.stringify({
    session_id: 's',
    permission_mode: 'default',
    hook_event_name: 'PostToolUse',
    tool_name,
    tool_input: {},
    tool_use_id: 'call_1',
    tool_response,
    ...more,
  })
const hook = (input: string, flags: readonly string[] = []) =>
  spillway(['hook', 'claude-code', ...flags], { input, env })
const outputOf = (stdout: string) => JSON.parse(stdout).hookSpecificOutput.updatedToolOutput

const bash = (stdout: string, more = {}) => ({
  stdout,
  stderr: '',
  interrupted: false,
  isImage: false,
  ...more,
})
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const text = (text: string) => ({ type: 'text', text })

/** Results of each tool with a text in its place. */
const SHAPES: [tool: string, (text: string) => unknown][] = [
  ['Bash', (text) => bash(text)],
  [
    'Read',
    (content) => ({
      type: 'text',
      file: { filePath: '/a', content, numLines: 9, startLine: 1, totalLines: 9 },
    }),
  ],
  ['Grep', (content) => ({ mode: 'content', numFiles: 0, filenames: [], content, numLines: 9 })],
  ['mcp__some__tool', (some) => [text(some), image]],
  ['mcp__some__json', (text) => text],
]

describe('spillway hook claude-code', () => {
  it('turns pages of HTML into text with --clean-html', async () => {
    const page = `<!DOCTYPE html><html><body>${'<p>One &amp; two</p>'.repeat(2_000)}</body></html>`
    const { stdout } = await hook(event('mcp__web__fetch', [text(page)]), ['--clean-html'])
    const [{ text: shown }] = outputOf(stdout)
    expect(shown).toContain('One & two\n')
    expect(shown).not.toContain('<p>')
    const small = [text('<!DOCTYPE html><html><body><p>One</p></body></html>')]
    const { stdout: changed } = await hook(event('mcp__web__fetch', small), ['--clean-html'])
    expect(outputOf(changed)).toEqual([text('One')])
  })

  it.each(SHAPES)('answers in the shape of %s, and says nothing else', async (tool, resultOf) => {
    const { code, stdout, stderr } = await hook(event(tool, resultOf(BIG)))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const answer = JSON.parse(stdout)
    const sent = answer.hookSpecificOutput.updatedToolOutput
    const cut = /"(1\\n2\\n.*?truncated: [\d,]+ of [\d,]+ chars.*?)"/.exec(JSON.stringify(sent))?.[1]
    const shown: string = JSON.parse(`"${cut}"`)
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(LIMIT)
    expect(answer).toEqual({
      hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: resultOf(shown) },
    })
  })

  it.each(SHAPES)('leaves a %s that fits', { tags: 'long' }, async (tool, resultOf) => {
    expect(await hook(event(tool, resultOf(seq(99))))).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('saves what it cuts, but no file that was read', async () => {
    const dir = join(place, 'whole')
    for (const [tool, resultOf] of SHAPES) await hook(event(tool, resultOf(BIG)), ['--dir', dir])
    const saved = readdirSync(dir).filter((name) => name !== 'key')
    expect(saved.map((name) => name.split('.')[1]).sort()).toEqual([
      'Bash',
      'Grep',
      'mcp__some__json',
      'mcp__some__tool',
    ])
    for (const name of saved) expect(readFileSync(join(dir, name), 'utf8')).toBe(BIG)
  })

  it('reads the file in which the host has saved a whole output, and asks for no preview of the rest', async () => {
    const persistedOutputPath = write('persisted.txt', `${BIG}error: the disk is full\n`)
    const result = bash(BIG.slice(0, 30_000), { persistedOutputPath, persistedOutputSize: 48_918 })
    const { stdout } = await hook(event('Bash', result), ['--keep', 'tail'])
    const { stdout: shown, ...others } = outputOf(stdout)
    expect(others).toEqual({ stderr: '', interrupted: false, isImage: false })
    expect(shown).toMatch(/9000\nerror: the disk is full\n$/)
  })

  const SECRET = `ghp_${'a1B2'.repeat(9)}`

  it.each([
    ['small', BIG],
    [BIG, 'small'],
    [BIG, BIG],
    ['', BIG],
  ])('bounds what Bash wrote to stderr beside stdout', { tags: 'long' }, async (stdout, stderr) => {
    const { stdout: answer } = await hook(event('Bash', bash(stdout, { stderr })))
    const { stdout: out, stderr: err, ...others } = outputOf(answer)
    expect(others).toEqual({ interrupted: false, isImage: false })
    expect(Buffer.byteLength(out + err)).toBeLessThanOrEqual(LIMIT)
    for (const [kept, whole] of [
      [out, stdout],
      [err, stderr],
    ]) {
      if (whole === BIG) expect(kept).toContain('1\n2\n')
      else expect(kept).toBe(whole)
    }
    expect(out + err).toMatch(/truncated: [\d,]+ of [\d,]+ chars/)
  })

  it('redacts stderr of Bash beside stdout', { tags: 'long' }, async () => {
    for (const streams of [
      { stdout: 'a', stderr: `token ${SECRET}` },
      { stdout: `token ${SECRET}`, stderr: 'a' },
      { stdout: BIG, stderr: `${BIG}token ${SECRET}` },
    ]) {
      const { stdout } = await hook(event('Bash', bash('', streams)), ['--redact', '--keep', 'tail'])
      expect(stdout).toContain('[redacted: github token]')
      expect(stdout).not.toContain(SECRET)
    }
  })

  it('bounds embedded resources, and whatever else blocks hold', { tags: 'long' }, async () => {
    const resource = (text: string) => ({ type: 'resource', resource: { uri: 'file:///a', text } })
    for (const blocks of [
      [resource(BIG)],
      [text('small'), resource(BIG)],
      [resource(BIG), text(BIG)],
      [{ type: 'resource', resource: { uri: `file:///${BIG}`, text: 'a' } }],
      [text('small'), { type: 'frob', data: BIG }],
      [{ type: 'frob', data: BIG }],
      [{ ...text('small'), more: BIG }],
    ]) {
      const { code, stdout, stderr } = await hook(event('mcp__some__tool', blocks))
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const sent = outputOf(stdout)
      expect(Array.isArray(sent)).toBe(true)
      expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThan(1.2 * LIMIT)
    }
    const small = [resource('small'), text('small'), { type: 'frob', data: 'small' }]
    expect((await hook(event('mcp__some__tool', small))).stdout).toBe('')
  })

  it('leaves images whole', async () => {
    const large = { type: 'image', source: { ...image.source, data: 'iVBORw0KGgo'.repeat(9_000) } }
    expect((await hook(event('mcp__some__tool', [large, text('small')]))).stdout).toBe('')
    const sent = outputOf((await hook(event('mcp__some__tool', [large, text(BIG)]))).stdout)
    expect(sent).toEqual([large, text(expect.stringMatching(/truncated/))])
  })

  it('answers to a result and to arguments of any depth', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const blocks = event('mcp__some__tool', [{ ...text(BIG), more: 'DEEP' }], { tool_input: ['DEEP'] })
    const { stdout, stderr } = await hook(blocks.replaceAll('"DEEP"', deep))
    expect(stderr).toBe('')
    expect(outputOf(stdout)[0].text).toMatch(/truncated/)
    expect(stdout.length).toBeLessThan(2 * LIMIT)
  })

  it('reads no pipe in place of a file of the host', async () => {
    const pipe = join(place, 'pipe')
    await shell(`mkfifo '${pipe}'`)
    const { code, stdout, stderr } = await hook(event('Bash', bash('', { persistedOutputPath: pipe })))
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(/is a pipe or a device/)
  })

  it.each([
    ['another event', event('Bash', bash(BIG), { hook_event_name: 'PreToolUse' })],
    ['a failure', event('Bash', undefined, { hook_event_name: 'PostToolUseFailure', error: BIG })],
    ['an unknown tool', event('Frobnicate', bash(BIG))],
    ['a tool named like a property', event('constructor', bash(BIG))],
    ['an image', event('Bash', bash(BIG, { isImage: true }))],
    ['another shape', event('Bash', [text(BIG)])],
    ['no result', event('Read', undefined)],
    ['no object', '7'],
  ])('has no answer to %s', async (_, input) => {
    expect(await hook(input)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it.each([
    ['no event', '', [], /JSON/],
    ['half an event', event('Bash', bash(BIG)).slice(0, -9), [], /JSON/],
    ['a lost file', event('Bash', bash('', { persistedOutputPath: '/no/such' })), [], /no such file/],
    ['a wrong flag', event('Bash', bash(BIG)), ['--frob'], /unknown flag --frob/],
    ['a wrong limit', event('Bash', bash(BIG)), ['--max-bytes', '-1'], /--max-bytes/],
  ])('exits with 0 and no answer on %s, and tells stderr', async (_, input, flags, told) => {
    const { code, stdout, stderr } = await hook(input, flags)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(told)
  })

  it('still cuts where nothing can be saved', async () => {
    const dir = join(write('file', ''), 'dir')
    const { code, stdout } = await hook(event('Grep', { content: BIG }), ['--dir', dir])
    expect(code).toBe(0)
    expect(outputOf(stdout).content).toMatch(/could not be saved/)
  })

  it.each([
    [['hook'], /HOST is missing; expected one of claude-code/],
    [['hook', 'nobody'], /unknown host "nobody"/],
    [['hook', 'claude-code', 'more'], /unexpected argument "more"/],
  ])('%j is reported', async (args, told) => {
    const { code, stdout, stderr } = await spillway(args, { env })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(told)
  })

  it.each([
    ['fits', 'small', []],
    ['is cut', BIG, ['clamp_blocks.js', 'spill.js', 'spill.js']],
  ])('loads little for a result that %s: the host waits', async (_, text, more) => {
    const told = write(
      'told.cjs',
      `process.on('exit', () => {
         const files = Object.keys(require.cache).map((file) => require('node:path').basename(file))
         const parts = process.moduleLoadList.map((part) => part.split(' ').at(-1))
         require('node:fs').writeFileSync(__filename + '.json', JSON.stringify({ files, parts }))
       })`,
    )
    await spillway(['hook', 'claude-code'], {
      input: event('Bash', bash(text)),
      env: { ...env, NODE_OPTIONS: `--require ${told}` },
    })
    const { files, parts } = JSON.parse(readFileSync(`${told}.json`, 'utf8'))
    const always = [
      'cli.js',
      'hook.js',
      'hosts.js',
      'index.js',
      'record.js',
      'spillway.node',
      'terminal.js',
      'text.js',
    ]
    expect(files.filter((file: string) => file !== 'told.cjs').sort()).toEqual([...always, ...more].sort())
    for (const dear of ['crypto', 'net', 'tty', 'stream', 'internal/fs/promises', 'worker_threads'])
      expect(parts).not.toContain(dear)
  })

  it('waits for an event and for its reader on streams that do not block', async () => {
    const input = event('Bash', bash(seq(90_000)))
    const flags = ['--max-bytes', '300K', '--max-lines', 'Infinity', '--keep', 'head']
    const refusing = write(
      'refusing.cjs',
      `const fs = require('node:fs')
       const once = (name, most) => {
         const real = fs[name]
         let left = most
         fs[name] = (fd, bytes, from = 0) => {
           if (fd > 1) return real(fd, bytes, from)
           if (left === 0) throw Object.assign(new Error(name), { code: 'EAGAIN' })
           const done = real(fd, bytes, from, Math.min(left, bytes.length - from))
           left -= done
           return done
         }
       }
       once('readSync', 70_000)
       once('writeSync', 1_000)`,
    )
    const refused = spillway(['hook', 'claude-code', ...flags], {
      input,
      env: { ...env, NODE_OPTIONS: `--require ${refusing}` },
    })
    const [patient, plain] = await Promise.all([refused, hook(input, flags)])
    const named = (text: string) => text.replace(/[0-9a-f]{16}/, 'id')
    expect(plain.stdout.length).toBeGreaterThan(300_000)
    expect(named(patient.stdout)).toBe(named(plain.stdout))
  })

  it('keeps of one text what a wrapped tool keeps', async () => {
    const line = fc.constantFrom(
      'error: no such file',
      'GET /api took 12 ms',
      '',
      '漢字 😀\ud800',
      'x'.repeat(300),
    )
    const lines = fc.array(line, { maxLength: 90 }).map((all) => all.join('\n'))
    const policy = fc.record(
      {
        keep: fc.constantFrom('head', 'tail', 'ends', 'findings', 'relevant', 'auto'),
        maxBytes: fc.integer({ min: 150, max: 2_000 }),
        maxLineBytes: fc.constant(200),
        maxLines: fc.integer({ min: 5, max: 50 }),
        notice: fc.constantFrom('hint', 'pi', false),
        isError: fc.boolean(),
      },
      { requiredKeys: ['maxBytes'] },
    )
    await fc.assert(
      fc.asyncProperty(lines, policy, fc.boolean(), async (text, { isError, ...policy }, isPaged) => {
        const [name, input, content] = ['Bash', { command: 'grep took' }, [{ type: 'text', text }]]
        const pages = isPaged ? ['offset', 'limit'] : undefined
        const parameters = { properties: isPaged ? { offset: {} } : {} }
        const given = { content, ...(isError && { isError }) }
        const tool = wrapTool(
          { name, parameters, execute: async (_: unknown) => given },
          policy as WrapPolicy,
        )
        const all = { ...policy, ...(isError && { isError }) } as HookPolicy
        expect(await clampBlocks(content, { name, input, pages }, all)).toEqual(
          (await tool.execute(input)).content,
        )
      }),
      { numRuns: 300 },
    )
  })

  it('tells listeners of each text that it cuts, with the name of what was saved', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
    const store = createSpillStore({ dir, reference: 'id' })
    const events: ClampEvent[] = []
    const policy = { maxBytes: 900, storing: () => store, onClamp: (event: ClampEvent) => events.push(event) }
    for (const more of [{}, { clean: true }] as const) {
      const call = { name: 'Bash', input: {}, pages: undefined }
      const [block] = await clampBlocks([{ type: 'text', text: BIG }], call, {
        ...policy,
        ...more,
      } as HookPolicy)
      const id = /saved as ([0-9a-f]{16}),/.exec((block as { text: string }).text)?.[1]
      expect(id).toBeDefined()
      expect(events.splice(0)).toMatchObject([{ action: 'cut', tool: 'Bash', saved: id }])
    }
    rmSync(dir, { recursive: true, force: true })
  })

  it('takes any event', { tags: 'long' }, async () => {
    const words = fc.constantFrom(BIG, 'small', 'stdout', 'file', 'content', 'type', 'text')
    const value = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { withCrossShrink: true },
        words,
        fc.jsonValue(),
        fc.dictionary(words, tie('any'), { maxKeys: 3 }),
        fc.array(tie('any'), { maxLength: 3 }),
      ),
    })).any
    const tool = fc.constantFrom(...SHAPES.map(([name]) => name), 'Frobnicate')
    await fc.assert(
      fc.asyncProperty(tool, value, async (name, result) => {
        const { code, stdout, stderr } = await hook(event(name, result), ['--max-bytes', '1000'])
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
        if (stdout) expect(Object.keys(JSON.parse(stdout))).toEqual(['hookSpecificOutput'])
      }),
      { numRuns: 25 },
    )
  })
})

/** A made-up event of Gemini CLI, whose session stands in a directory of its own. */
function gemini(tool_name: string, llmContent: unknown, more = {}) {
  const project = mkdtempSync(join(place, 'project-'))
  const transcript_path = join(project, 'chats/session.jsonl')
  const tool_response = { llmContent, returnDisplay: BIG }
  const names = { session_id: 's', hook_event_name: 'AfterTool', tool_name, transcript_path }
  const input = JSON.stringify({ ...names, tool_input: {}, tool_response, ...more })
  const run = (event = input, flags: readonly string[] = []) =>
    spillway(['hook', 'gemini-cli', ...flags], { input: event, env })
  return { folder: join(project, 'spillway'), transcript_path, run }
}
const untrusted = (text: string) => `<untrusted_context>\n${text}\n</untrusted_context>`

describe('spillway hook gemini-cli', () => {
  it.each([
    ['run_shell_command', untrusted(`Output: ${BIG}\nProcess Group PGID: 7`)],
    ['read_file', BIG],
    ['grep_search', BIG],
    ['mcp_some_tool', [{ text: untrusted(BIG) }]],
  ])(
    'has the host read a file in place of %s, and removes it then',
    { tags: 'long' },
    async (tool, content) => {
      const { folder, transcript_path, run } = gemini(tool, content)
      const { code, stdout, stderr } = await run()
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      const answer = JSON.parse(stdout)
      const { file_path } = answer.hookSpecificOutput.tailToolCallRequest.args
      expect(answer).toEqual({
        hookSpecificOutput: {
          hookEventName: 'AfterTool',
          tailToolCallRequest: { name: 'read_file', args: { file_path } },
        },
      })
      expect(dirname(file_path)).toBe(folder)
      const shown = readFileSync(file_path, 'utf8')
      expect(shown).toMatch(/truncated: [\d,]+ of [\d,]+ chars/)
      expect(Buffer.byteLength(shown)).toBeLessThan(LIMIT + 100)
      if (JSON.stringify(content).includes('<untrusted_context>'))
        expect(shown).toMatch(/^<untrusted_context>\n[\s\S]*\n<\/untrusted_context>$/)
      const saved = readdirSync(folder).filter((name) => name !== 'key' && !file_path.endsWith(name))
      expect(saved.map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(
        tool === 'read_file' ? [] : [BIG],
      )
      const more = { transcript_path, tool_input: { file_path }, original_request_name: tool }
      const again = gemini('read_file', shown, more)
      expect(await again.run()).toMatchObject({ code: 0, stdout: '', stderr: '' })
      expect(existsSync(file_path)).toBe(false)
    },
  )

  it.each([
    'DIR/../victim/1.2.shown.txt',
    'DIR/../../NAME/victim/1.2.shown.txt',
    'DIR/link/1.2.shown.txt',
    'DIR/./../victim/1.2.shown.txt',
    'DIR/notes.shown.txt',
    'DIR/more/1.2.shown.txt',
  ])('removes no file of others: %s', { tags: 'long' }, async (path) => {
    const { folder, transcript_path } = gemini('read_file', BIG)
    const project = dirname(folder)
    for (const dir of ['victim', 'spillway', 'spillway/more']) mkdirSync(join(project, dir))
    symlinkSync('../victim', join(folder, 'link'))
    const files = ['victim/1.2.shown.txt', 'spillway/notes.shown.txt', 'spillway/more/1.2.shown.txt']
    for (const file of files) write(join(project.slice(place.length), file), 'precious')
    const file_path = path.replace('DIR', folder).replace('NAME', project.slice(place.length + 1))
    const more = { transcript_path, tool_input: { file_path }, original_request_name: 'x' }
    expect(await gemini('read_file', 'small', more).run()).toMatchObject({ code: 0, stdout: '', stderr: '' })
    for (const file of files) expect(readFileSync(join(project, file), 'utf8')).toBe('precious')
  })

  it('keeps what the host tells of a command that failed, and its findings', async () => {
    const lines = `${BIG}error: the disk is full\n${BIG}`
    const { folder, run } = gemini(
      'run_shell_command',
      untrusted(`Output: ${lines}\nExit Code: 2\nProcess Group PGID: 7`),
    )
    await run()
    const [held = ''] = readdirSync(folder).filter((name) => name.endsWith('.shown.txt'))
    const shown = readFileSync(join(folder, held), 'utf8')
    expect(shown).toContain('\nerror: the disk is full\n')
    expect(shown).toMatch(/\nExit Code: 2\nProcess Group PGID: 7\n<\/untrusted_context>$/)
  })

  it('shows no line that the host would cut, and no more lines', async () => {
    for (const text of ['x'.repeat(40_000), 'y\n'.repeat(9_000)]) {
      const { folder, run } = gemini('grep_search', text)
      await run(undefined, ['--max-lines', '5000'])
      const [held = ''] = readdirSync(folder).filter((name) => name.endsWith('.shown.txt'))
      const lines = readFileSync(join(folder, held), 'utf8').split('\n')
      expect(lines.length).toBeLessThanOrEqual(2_000)
      for (const line of lines) expect(line.length).toBeLessThanOrEqual(2_000)
    }
  })

  it.each([
    [
      'an image',
      'mcp_some_tool',
      [{ text: BIG }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
      {},
    ],
    ['an error', 'read_file', BIG, { tool_response: { llmContent: BIG, error: { message: 'x' } } }],
    ['an unknown tool', 'web_fetch', BIG, {}],
    ['another event', 'read_file', BIG, { hook_event_name: 'BeforeTool' }],
    ['what fits', 'read_file', 'small', {}],
  ])('has no answer to %s', async (_, tool, content, more) => {
    const { run } = gemini(tool, content, more)
    expect(await run()).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it.each([
    [
      'text that the host takes for binary',
      { tool_response: { llmContent: `\0${BIG}` } },
      /control characters/,
    ],
    ['a session without a file', { transcript_path: '' }, /transcript_path of the event must be/],
  ])('leaves %s, and tells stderr', async (_, more, told) => {
    const { code, stdout, stderr } = await gemini('read_file', BIG, more).run()
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(told)
  })
})

/** A made-up event of OpenCode, as our plugin hands it on. */
const opencode = (tool_name: string, tool_response: unknown) =>
  spillway(['hook', 'opencode'], {
    input: JSON.stringify({
      hook_event_name: 'tool.execute.after',
      session_id: 's',
      tool_name,
      tool_use_id: 'c',
      tool_input: {},
      tool_response,
    }),
    env,
  })

describe('spillway hook opencode', () => {
  it.each([
    ['bash', (output: string) => ({ title: 'a', output, metadata: { exit: 0 } })],
    ['read', (output: string) => ({ title: 'a', output, metadata: {} })],
    ['some_tool', (some: string) => ({ content: [text(some), { type: 'image', data: 'AAAA' }] })],
  ])('answers in the shape of %s', async (tool, resultOf) => {
    const { code, stdout, stderr } = await opencode(tool, resultOf(BIG))
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const { tool_response: sent } = JSON.parse(stdout)
    const shown = tool === 'some_tool' ? sent.content[0].text : sent.output
    expect(shown).toMatch(/truncated: [\d,]+ of [\d,]+ chars/)
    expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(LIMIT)
    expect(sent).toEqual(resultOf(shown))
    expect(await opencode(tool, resultOf('small'))).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('reads the whole output of a command that failed, and keeps its findings', async () => {
    const outputPath = write('tool_1', `${BIG}error: the disk is full\n${BIG}`)
    const { stdout } = await opencode('bash', { output: seq(9), metadata: { exit: 1, outputPath } })
    expect(JSON.parse(stdout).tool_response.output).toContain('\nerror: the disk is full\n')
  })

  it.each([
    ['a tool of another plugin', 'frob', { output: BIG }],
    ['no result', 'bash', null],
  ])('leaves %s', async (_, tool, result) => {
    expect(await opencode(tool, result)).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('is asked by a plugin, which leaves a result if anything fails', async () => {
    const call = { tool: 'bash', sessionID: 's', callID: 'c', args: {} }
    const told = `printf '{"tool_response":{"output":"short"}}'`
    for (const [command, output] of [
      [`cat > '${join(place, 'told.json')}'; ${told}`, 'short'],
      [`exit 3`, BIG],
      [`no-such-command`, BIG],
      [`printf '{'`, BIG],
      [`true`, BIG],
    ] as const) {
      const hooks = await plugin.server({}, { command })
      const result = { title: 'a', output: BIG }
      await hooks['tool.execute.after'](call, result)
      expect(result).toEqual({ title: 'a', output })
    }
    expect(JSON.parse(readFileSync(join(place, 'told.json'), 'utf8'))).toEqual({
      hook_event_name: 'tool.execute.after',
      session_id: 's',
      tool_name: 'bash',
      tool_use_id: 'c',
      tool_input: {},
      tool_response: { title: 'a', output: BIG },
    })
  })
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { place, seq, spillway, write } from './cli.js'

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

  it.each(SHAPES)('leaves a %s that fits', async (tool, resultOf) => {
    expect(await hook(event(tool, resultOf(seq(99))))).toMatchObject({ code: 0, stdout: '', stderr: '' })
  })

  it('saves what it cuts, but no file that was read', async () => {
    const dir = join(place, 'whole')
    for (const [tool, resultOf] of SHAPES) await hook(event(tool, resultOf(BIG)), ['--dir', dir])
    const saved = readdirSync(dir)
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
  ])('%j is told of', async (args, told) => {
    const { code, stdout, stderr } = await spillway(args, { env })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toMatch(told)
  })

  it('takes any event', async () => {
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

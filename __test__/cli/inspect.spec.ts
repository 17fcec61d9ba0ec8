import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { agentSamples, fileOf } from '../support/agent_samples.js'
import { end, place, session, shell, spillway, terminal, write } from '../support/cli.js'
import { jsonLines, readRows } from '../support/scratch.js'

const LONG = 'a line of output, 漢字\n'.repeat(20_000)

/** A session of Pi whose results have these texts, and details of this many chars. */
function detailed(results: readonly [text: string, details: number][]): string {
  const rows = session(results.map(([text]) => ['bash', text])).split('\n')
  const details = results.map(([, chars]) => chars)
  return rows
    .map((row) => {
      if (!row.includes('"toolResult"')) return row
      const parsed = JSON.parse(row)
      parsed.message.details = { output: 'x '.repeat((details.shift() ?? 0) / 2) }
      return JSON.stringify(parsed)
    })
    .join('\n')
}

/** A row of Claude Code, whose result has a second copy beside it. */
const claude = (text: string, copy: string) =>
  `${JSON.stringify({
    type: 'user',
    uuid: 'a',
    parentUuid: null,
    sessionId: 's',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: text }] },
    toolUseResult: { stdout: copy },
  })}\n`

describe('inspect and repair', () => {
  it.each([
    [
      'over.jsonl',
      detailed([
        [LONG, 0],
        ['short', 0],
        [LONG, 90_000],
      ]),
      '2 results over the limits',
    ],
    [
      'details.jsonl',
      detailed([
        ['short', 90_000],
        ['short', 10],
      ]),
      '1 result with large details',
    ],
    [
      'both.jsonl',
      detailed([
        [LONG, 0],
        ['short', 90_000],
        [LONG, 90_000],
        ['short', 20_000],
      ]),
      '2 results over the limits, 2 more with large details',
    ],
    // A repair leaves details that it would shorten by little.
    ['little.jsonl', detailed([[LONG, 8_500]]), '1 result over the limits'],
    [
      'copies.jsonl',
      claude(LONG, LONG) + claude('short', LONG),
      '1 result over the limits, 1 more with large details',
    ],
  ])('%s: count the same, in the same words', { tags: 'long' }, async (name, text, found) => {
    const file = write(name, text)
    const inspected = await spillway(['inspect', file])
    expect(inspected.stdout).toContain(`\n${found}. To cut ${/^1 [^,]*$/.test(found) ? 'it' : 'them'}:\n`)
    expect((await spillway(['repair', '--dry-run', file])).stdout).toContain(`: would cut ${found}; `)
    expect((await spillway(['repair', file])).stdout).toContain(`: cut ${found}; `)
    expect((await spillway(['inspect', file])).stdout).toContain('\nAll results are within the limits.\n')
    expect((await spillway(['repair', file])).stdout).toContain(': nothing to do')
  })

  it('change a row without a cut, and say so', async () => {
    const file = write('torn.jsonl', session([['bash', 'short']]).slice(0, -1))
    expect((await spillway(['repair', '--dry-run', file])).stdout).toContain(': no result to cut; ')
    expect((await spillway(['repair', file])).stdout).toMatch(
      /: no result cut; .*\n {2}its last row had no newline/,
    )
  })
})

describe('repair of images and of all results', () => {
  const png = Buffer.alloc(60_000)
  Buffer.from('89504e470d0a1a0a0000000d4948445200000010000000100806', 'hex').copy(png)
  const source = { type: 'base64', media_type: 'image/png', data: png.toString('base64') }
  const rows = Array.from({ length: 4 }, (_, at) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${at}`, name: 'shot', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: [{ type: 'image', source }] }],
    },
  ]).flat()

  it.each([
    [['--max-media-items', '1'], 3],
    [['--max-media-bytes', '130000'], 2],
    [['--max-media-bytes', '130000', '--for', 'anthropic'], 2],
  ])('%j omits the oldest', { tags: 'long' }, async (flags, gone) => {
    const file = write('images.jsonl', jsonLines(rows))
    const dry = await spillway(['repair', '--dry-run', ...flags, file])
    expect(dry.stdout).toContain(
      `\n  replaces ${gone} images and files by words, ${gone * 60} KB; nothing else changes\n`,
    )
    expect((await spillway(['repair', ...flags, file])).code).toBe(0)
    expect(readRows(file).map((row) => JSON.stringify(row).includes('omitted]'))).toEqual(
      rows.map((_, at) => at % 2 === 1 && at < gone * 2),
    )
  })

  it('--max-total-chars bounds all results together', async () => {
    const file = write(
      'many.jsonl',
      session(Array.from({ length: 10 }, () => ['bash', 'short line\n'.repeat(1_000)])),
    )
    expect((await spillway(['repair', '--max-total-chars', '50K', file])).code).toBe(0)
    const { byTool } = await inspectSession(file)
    expect(byTool[0]?.chars).toBeLessThanOrEqual(51_200)
    expect((await spillway(['repair', '--undo', '--max-total-chars', '50K', file])).code).toBe(2)
  })
})

describe('inspect of several sessions', () => {
  const over = session([['bash', LONG]])
  const within = session([['read', 'short']])

  function folder(name: string): string {
    mkdirSync(join(place, name, 'sub/deep'), { recursive: true })
    write(`${name}/b.jsonl`, over)
    write(`${name}/a.jsonl`, within)
    write(`${name}/sub/deep/c d.jsonl`, over)
    write(`${name}/sub/deep/note.txt`, 'no session')
    mkdirSync(join(place, name, '.hidden'), { recursive: true })
    write(`${name}/.hidden/d.jsonl`, over)
    return name
  }

  it('has a line for each, and a summary', async () => {
    const dir = folder('several')
    const { code, stdout, stderr } = await spillway(['inspect', dir])
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^ {2}session +size +results +over +large details$/)
    expect(lines.slice(1, 4)).toEqual([
      expect.stringMatching(/^ {2}several\/a\.jsonl +\d+ bytes +1 +0 +0$/),
      expect.stringMatching(/^ {2}several\/b\.jsonl +[\d.]+ KB +1 +1 +0$/),
      expect.stringMatching(/^ {2}several\/sub\/deep\/c d\.jsonl +[\d.]+ KB +1 +1 +0$/),
    ])
    expect(lines.slice(4)).toEqual([
      '',
      expect.stringMatching(
        /^3 sessions, [\d.]+ MB: 2 results over the limits, in 2 sessions\. To cut them:$/,
      ),
      "  spillway repair several/b.jsonl 'several/sub/deep/c d.jsonl'",
      '',
    ])
    const { code: repaired } = await shell(lines.at(-2) ?? '')
    expect(repaired).toBe(0)
    const after = await spillway(['inspect', dir])
    expect(after.stdout).toMatch(/\n3 sessions, [\d.]+ KB\. All results are within the limits\.\n$/)
  })

  it.each([
    [['*.jsonl'], ['a.jsonl', 'b.jsonl']],
    [['**/*.jsonl'], ['a.jsonl', 'b.jsonl', 'sub/deep/c d.jsonl']],
    [
      ['sub/**/[c-d]*.jsonl', 'a.jsonl'],
      ['sub/deep/c d.jsonl', 'a.jsonl'],
    ],
    [['[!a].jsonl'], ['b.jsonl']],
    [
      ['?.jsonl', 'b.jsonl', '.'],
      ['a.jsonl', 'b.jsonl', 'sub/deep/c d.jsonl'],
    ],
    [['.hidden/*.jsonl', '.h*/d.jsonl'], ['.hidden/d.jsonl']],
  ])('%j are the files of that pattern, each once', { tags: 'long' }, async (patterns, files) => {
    const dir = folder('patterns')
    const line = patterns.map((pattern) => `'${pattern}'`).join(' ')
    const { stdout, code } = await shell(`cd ${dir}; spillway inspect --json ${line}`)
    const reports = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(code).toBe(0)
    expect(reports.map(({ path }) => path)).toEqual(files)
    for (const { path, ...report } of reports)
      expect(report).toEqual(await inspectSession(join(place, dir, path), { top: 5 }))
  })

  it('takes a file whose name looks like a pattern', async () => {
    write('[ab].jsonl', over)
    write('a.jsonl', within)
    expect((await spillway(['inspect', '--json', '[ab].jsonl'])).stdout).toContain('"path":"[ab].jsonl"')
  })

  it('repair takes patterns and directories too', async () => {
    const dir = folder('repaired')
    const { stdout, code } = await spillway(['repair', `${dir}/*.jsonl`])
    expect(code).toBe(0)
    expect(stdout.match(/^\S+\.jsonl: (?:cut|nothing)/gm)).toEqual([
      'repaired/a.jsonl: nothing',
      'repaired/b.jsonl: cut',
    ])
    const whole = await spillway(['repair', dir])
    expect([whole.code, whole.stderr]).toEqual([0, ''])
    expect(readFileSync(join(place, dir, 'sub/deep/c d.jsonl'), 'utf8').length).toBeLessThan(over.length)
  })

  it('goes on after a file that cannot be read, and exits with 1', async () => {
    const dir = folder('broken')
    write(`${dir}/aa.jsonl`, '{"compilerOptions":{}}\n')
    const { code, stdout, stderr } = await spillway(['inspect', `${dir}/none*.jsonl`, dir])
    expect(code).toBe(1)
    expect(stderr).toMatch(/^spillway inspect: broken\/none\*\.jsonl: no such file; .*\n$/)
    expect(stdout).toMatch(/\n3 sessions, /)
  })

  it('says so of a name in a directory that is not UTF-8', async () => {
    const dir = folder('latin')
    const name = Buffer.concat([Buffer.from(join(place, dir, 'caf')), Buffer.of(0xe9), Buffer.from('.jsonl')])
    writeFileSync(name, within)
    for (const command of ['inspect', 'repair']) {
      const { code, stderr } = await spillway([command, dir])
      expect(code).toBe(1)
      expect(stderr).toBe(
        `spillway ${command}: latin/caf\ufffd.jsonl: no such file; a name that is not UTF-8 cannot be opened: rename it\n`,
      )
    }
  })

  it('draws the way through them on a terminal alone, within its columns', async () => {
    const dir = folder('a-directory-with-a-name-that-is-rather-long-for-a-line-of-a-terminal')
    const { stdout } = await end(terminal(`inspect ${dir}`, { env: { NO_COLOR: '1' } }))
    expect(stdout).toMatch(/\rinspect {2}.* 33% {2}of 3 sessions/)
    const shown = stdout.split('\x1b[K').at(-1) ?? ''
    const rows = shown.split('\r\n').filter((line) => line.startsWith('  ') && !line.includes('spillway'))
    expect(rows).toHaveLength(4)
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(80)
    expect(rows[1]).toMatch(/^ {2}\.\.\..*\/a\.jsonl /)
  })
})

describe('inspect --sent', () => {
  const text = 'one more line of a log\n'.repeat(200)

  it('says how often each result was sent, and what that cost', async () => {
    write('sent.jsonl', session(Array.from({ length: 30 }, (_, at) => ['bash', `${at} ${text}`])))
    const { stdout } = await spillway(['inspect', '--sent', '--json', '--top', '2', 'sent.jsonl'])
    const { sent } = JSON.parse(stdout)
    const each = sent.mostSent[0].tokens
    // Before an answer those before it were sent: the first 29 times, the last not yet.
    expect(
      sent.mostSent.map(({ callId, times }: { callId: string; times: number }) => [callId, times]),
    ).toEqual([
      ['call_0', 29],
      ['call_1', 28],
    ])
    expect(sent.requests).toBe(30)
    expect(sent.resultTokens).toBeGreaterThan(each * 29 * 14)
    expect(sent.resultTokens).toBeLessThan(each * 30 * 15)
    expect(sent.tokens).toBeGreaterThan(sent.resultTokens)
    // Each result is written once, and read by each later request.
    expect(sent.price).toBeGreaterThan(1.25 * 29 * each + 0.1 * each * 28 * 14)
    expect(sent.price).toBeLessThan(1.5 * 29 * each + 0.12 * each * 29 * 15)
    expect(sent.clearedPrice).toBeLessThan(sent.price)
    const shown = (await spillway(['inspect', '--sent', 'sent.jsonl'])).stdout
    expect(shown).toContain('30 requests sent ')
    expect(shown).toMatch(/\n {2}bash +call_0 +[\d,]+ +29 +[\d,]+\n/)
    expect(shown).toMatch(/with clearToolResults [\d,]+:\n\d+% less\.\n$/)
  })

  it.each(agentSamples.map((sample) => [sample.agent, sample] as const))(
    'reads %s',
    { tags: 'long' },
    async (_, sample) => {
      write('agent.jsonl', fileOf(sample, text))
      const { code, stdout } = await spillway(['inspect', '--sent', '--json', 'agent.jsonl'])
      const { sent, toolResults } = JSON.parse(stdout)
      expect(code).toBe(0)
      // OpenCode and Kimi Code store parts of messages, and Continue CLI messages within others.
      const hasAnswers = !['opencode', 'kimi-code', 'continue'].includes(sample.format)
      expect([toolResults > 0, sent.requests > 0]).toEqual([true, hasAnswers])
    },
  )

  it('takes one file, unless it prints JSON', async () => {
    const one = session([['bash', text]])
    write('one.jsonl', one)
    write('two.jsonl', one)
    const { code, stderr } = await spillway(['inspect', '--sent', 'one.jsonl', 'two.jsonl'])
    expect([code, stderr]).toEqual([2, expect.stringContaining('--sent takes one FILE, or --json')])
    const all = await spillway(['inspect', '--sent', '--json', 'one.jsonl', 'two.jsonl'])
    expect(all.stdout.match(/"sent":\{"requests":1,/g)).toHaveLength(2)
  })
})

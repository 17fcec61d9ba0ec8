import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { inspectSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { agentSamples, fileOf } from '../support/agent_samples.js'
import { end, place, session, shell, spillway, start, terminal, write } from '../support/cli.js'
import { until } from '../support/wait.js'

const ONE_LINE = /^spillway[^\n]*\n$/

/** Runs a command without the right of root to read and write what modes forbid. */
const bounded = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []

const LONG = 'a line of output, 漢字\n'.repeat(20_000)

describe('inspect', () => {
  const results: [string, string][] = [
    ['bash', LONG],
    ['read', 'short'],
    ['bash', LONG],
    ['漢\x1b[31m', 'x'.repeat(900)],
  ]

  it('shows at a glance what takes the room', async () => {
    write('a.jsonl', session(results))
    const { code, stdout, stderr } = await spillway(['inspect', 'a.jsonl'])
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n')
    expect(lines[0]).toMatch(/^a\.jsonl: a Pi session, [\d.]+ MB in 9 rows$/)
    expect(stdout).toMatch(/^ {2}bash +2 +840,000 {2}█+ +100%$/m)
    expect(stdout).toContain('2 results over the limits. To cut them:\n  spillway repair a.jsonl\n')
    const cleaned = await spillway(['inspect', '--clean', '--max-chars', '500', 'a.jsonl'])
    expect(cleaned.stdout).toContain('spillway repair --max-chars 500 --clean a.jsonl\n')
    expect(lines.filter((line) => [...line].length > 80)).toEqual([])
    // Nothing that a session holds moves the cursor.
    expect(stdout).toContain('\\u6f22\\u001b[31m')
    expect(stdout).not.toContain('\x1b')
    expect((await spillway(['inspect', 'a.jsonl'], { env: { LANG: 'C' } })).stdout).toMatch(/ #+ +100%$/m)
  })

  it('prints no char that a terminal acts on, whatever tools and files are called', async () => {
    const name = 'x\u007f\u009b2J\u009d0;owned\u009c\u202e\u200f'
    const file = write(`${name}.jsonl`, session([[name, 'y'.repeat(60_000)]]))
    const report = await inspectSession(file)
    const inspected = await spillway(['inspect', '--json', file])
    expect(JSON.parse(inspected.stdout)).toEqual({ path: file, ...report })
    const page = await spillway(['inspect', file])
    const planned = await spillway(['repair', '--dry-run', file])
    const repaired = await spillway(['repair', '--json', file])
    expect(JSON.parse(repaired.stdout)).toMatchObject({ path: file, clamped: 1 })
    const missing = await spillway(['repair', `${file}.gone`])
    for (const { stdout, stderr } of [inspected, page, planned, repaired, missing])
      expect(stdout + stderr).not.toMatch(/[\p{Bidi_Control}\u007f-\u009f]/u)
  })

  it('--json prints the report', async () => {
    const file = write('b.jsonl', session(results))
    const { stdout } = await spillway(['inspect', '--json', '--top', '1', '--max-chars', '800', file])
    expect(JSON.parse(stdout)).toEqual({
      path: file,
      ...(await inspectSession(file, { top: 1, maxChars: 800 })),
    })
  })

  it('is coloured on a terminal, unless NO_COLOR says not to be', { tags: 'long' }, async () => {
    write('c.jsonl', session(results))
    const onTerminal = (env: Record<string, string>) => end(terminal('inspect c.jsonl', { env }))
    expect((await onTerminal({})).stdout).toContain('\x1b[31m')
    for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }] as const)
      expect((await onTerminal(env)).stdout).not.toContain('\x1b')
  })

  it.each([
    ['no-such.jsonl', /no-such\.jsonl: no such file/],
    ['folder', /folder: holds no session that is known; give the file of a session/],
    ['forbidden.jsonl', /permission denied/],
    ['image.png', /image\.png: unrecognized session format/],
    ['tsconfig.json', /tsconfig\.json: unrecognized session format \(format unknown\)/],
    ['/dev/null', /\/dev\/null is not a session in JSON \(found a device, pipe or socket\)/],
  ])('%s is a mistake that one line tells', { tags: 'long' }, async (file, told) => {
    mkdirSync(join(place, 'folder'), { recursive: true })
    write('image.png', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'))
    write('tsconfig.json', '{"compilerOptions":{"strict":true}}')
    write('forbidden.jsonl', session(results))
    await shell('chmod 000 forbidden.jsonl')
    for (const command of ['inspect', 'repair']) {
      const { code, stdout, stderr } = await spillway([command, file], { before: bounded })
      expect([code, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(told)
      expect(stderr).toMatch(ONE_LINE)
    }
    expect(['image.png', 'tsconfig.json'].map((name) => statSync(join(place, name)).size)).toEqual([16, 35])
  })
})

describe('repair', () => {
  const before = session([
    ['bash', LONG],
    ['read', 'short'],
  ])

  it('cuts what is too large and keeps the file as it was', async () => {
    const file = write('d.jsonl', before)
    const { code, stdout, stderr } = await spillway(['repair', 'd.jsonl'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^d\.jsonl: cut 1 result over the limits; 521 KB to 5\d\.\d KB in 5 rows\n {2}backup: .*d\.jsonl\.bak\n$/,
    )
    expect(readFileSync(`${file}.bak`, 'utf8')).toBe(before)
    expect((await inspectSession(file)).oversized).toBe(0)
    expect((await spillway(['repair', file])).stdout).toMatch(/: nothing to do: 5 rows/)
  })

  it('--dry-run and --no-backup write what they say', async () => {
    mkdirSync(join(place, 'e'))
    const file = write('e/e.jsonl', before)
    const dry = await spillway(['repair', '--dry-run', file])
    expect(dry.stdout).toMatch(/would cut 1 result over the limits; 521 KB to 5\d\.\d KB in 5 rows/)
    expect([readFileSync(file, 'utf8'), readdirSync(join(place, 'e'))]).toEqual([before, ['e.jsonl']])
    const { stdout } = await spillway(['repair', '--no-backup', '--json', '--max-chars', '500', file])
    expect(JSON.parse(stdout)).toMatchObject({
      path: file,
      changed: true,
      clamped: 1,
      bytesBefore: Buffer.byteLength(before),
    })
    expect(readdirSync(join(place, 'e'))).toEqual(['e.jsonl'])
    expect(statSync(file).size).toBeLessThan(3_000)
  })

  it('says before it writes that no agent opened such a session after a repair', {
    tags: 'long',
  }, async () => {
    const bySource = ['Gemini CLI up to 0.38', 'Cline and Roo Code', 'OpenCode']
    const big = 'a line of output\n'.repeat(9_000)
    let nth = 0
    const said = async (text: string, ...flags: string[]) => {
      const file = write(`source-${nth++}.json`, text)
      // The repair fails before it writes.
      mkdirSync(`${file}.bak`)
      const { stderr } = await spillway(['repair', '--max-chars', '4000', ...flags, file])
      expect(readFileSync(file, 'utf8') === text).toBe(true)
      return stderr.match(/whose form is known by the source of its agent/g)?.length ?? 0
    }
    for (const sample of agentSamples) {
      const text = fileOf(sample, big)
      const isOne = bySource.includes(sample.agent)
      expect([sample.agent, await said(text)]).toEqual([sample.agent, Number(isOne)])
      if (!isOne) continue
      expect(await said(text, '--dry-run')).toBe(0)
      // A mend leaves the messages of a document cut off; a part of OpenCode has one alone.
      const torn = text.trimEnd().slice(0, -1)
      expect(await said(torn, '--damaged', 'mend')).toBe(Number(sample.agent !== 'OpenCode'))
    }
  })

  it('goes on with the next file, and tells of all', async () => {
    write('f.jsonl', before.slice(0, -1))
    write('empty.jsonl', '')
    const { code, stdout, stderr } = await spillway(['repair', 'gone.jsonl', 'f.jsonl', 'empty.jsonl'])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^spillway repair: gone\.jsonl: no such file.*\n$/),
    ])
    expect(stdout).toMatch(
      /^f\.jsonl: cut 1 .*\n {2}its last row had no newline: one was added\n.*\nempty\.jsonl: empty session/,
    )
  })

  it('takes the sessions in and below a directory, and paths on stdin', async () => {
    for (const folder of ['many/below', 'many/.hidden']) mkdirSync(join(place, folder), { recursive: true })
    const names = ['many/a.jsonl', 'many/below/b.jsonl', 'many/c.jsonl']
    const others = [
      'many/.hidden/d.jsonl',
      'many/a.jsonl.bak',
      'many/.e.jsonl',
      'many/notes.txt',
      'linked.jsonl',
    ]
    for (const name of [...names, ...others]) write(name, before)
    symlinkSync(join(place, 'linked.jsonl'), join(place, 'many/link.jsonl'))
    write('many/bad.jsonl', 'a log\n'.repeat(9_000))
    const dry = await spillway(['repair', '--dry-run', 'many'])
    // A file that only has the name of a session is passed over.
    expect([dry.code, dry.stderr]).toEqual([0, ''])
    expect(dry.stdout.match(/^\S+(?=: would cut 1 )/gm)).toEqual([
      'many/a.jsonl',
      'many/below/b.jsonl',
      'many/c.jsonl',
    ])
    expect(dry.stdout).toMatch(/\n3 sessions, 1\.6 MB to \d+ KB: 3 with changes, 0 as before, 0 failed\n$/)
    const input = `many/c.jsonl\r\n\nmany/below\n`
    const { code, stdout } = await spillway(['repair', '--no-backup', '-'], { input })
    expect([code, stdout.match(/^\S+(?=: cut 1 )/gm)]).toEqual([0, ['many/c.jsonl', 'many/below/b.jsonl']])
    for (const name of [...others, 'many/a.jsonl'])
      expect(readFileSync(join(place, name), 'utf8')).toBe(before)
    const again = await spillway(['inspect', '--json', 'many/a.jsonl', '-'], { input: 'many/c.jsonl' })
    expect(again.stdout.match(/"path":"[^"]*"/g)).toEqual(['"path":"many/a.jsonl"', '"path":"many/c.jsonl"'])
  })

  it('follows no link in a directory or by a pattern below it, so that each session is repaired once', async () => {
    mkdirSync(join(place, 'linked/real'), { recursive: true })
    mkdirSync(join(place, 'elsewhere'))
    for (const name of ['linked/real/a.jsonl', 'elsewhere/b.jsonl']) write(name, before)
    symlinkSync(join(place, 'elsewhere'), join(place, 'linked/away'))
    symlinkSync(join(place, 'linked'), join(place, 'linked/real/loop'))
    symlinkSync(join(place, 'elsewhere/b.jsonl'), join(place, 'linked/b.jsonl'))
    symlinkSync('nowhere', join(place, 'linked/dangling.jsonl'))
    for (const name of ['linked', 'linked/**/a*.jsonl', 'lin*/**/a.jsonl']) {
      const { code, stdout, stderr } = await spillway(['repair', '--dry-run', name])
      expect([name, code, stderr]).toEqual([name, 0, ''])
      expect(stdout.match(/^\S+(?=: would cut 1 )/gm)).toEqual(['linked/real/a.jsonl'])
    }
    expect((await spillway(['repair', 'linked'])).code).toBe(0)
    expect(readFileSync(join(place, 'elsewhere/b.jsonl'), 'utf8')).toBe(before)
  })

  it('exits by the worst of all files, whichever comes last', { tags: 'long' }, async () => {
    mkdirSync(join(place, 'worst'))
    write('worst/a.jsonl', before)
    write('worst/b.jsonl', 'a log\n'.repeat(9_000))
    write('worst/c.jsonl', before)
    for (const command of ['inspect', 'repair'])
      for (const [names, worst] of [
        [['a', 'c'], 0],
        [['a', 'b', 'c'], 1],
        [['b', 'a'], 1],
        [['a', 'gone'], 1],
      ] as const) {
        const { code } = await spillway([command, '--json', ...names.map((name) => `worst/${name}.jsonl`)])
        expect([command, names, code]).toEqual([command, names, worst])
      }
    // Nothing is done under a wrong flag.
    expect((await spillway(['repair', '--keep', 'all', 'worst'])).code).toBe(2)
  })

  it('is safe beside others that repair the same directory', { tags: 'long' }, async () => {
    mkdirSync(join(place, 'shared'))
    const names = Array.from({ length: 12 }, (_, at) => `${at}`.padStart(2, '0'))
    for (const name of names) write(`shared/${name}.jsonl`, before)
    write('alone.jsonl', before)
    await spillway(['repair', 'alone.jsonl'])
    const expected = readFileSync(join(place, 'alone.jsonl'), 'utf8')
    const all = await Promise.all(Array.from({ length: 4 }, () => end(start(['repair', 'shared']))))
    for (const { code, stdout, stderr } of all) {
      // The command names a session that another process has locked or just replaced.
      expect(
        stderr.replace(/^spillway repair: shared\/\d\d\.jsonl[^\n]*(?:lock|changed)[^\n]*\n/gm, ''),
      ).toBe('')
      expect(code).toBe(stderr === '' ? 0 : 1)
      expect(stdout).toMatch(/\n12 sessions, /)
    }
    const cut = all.flatMap(({ stdout }) => stdout.match(/^\S+(?=: cut 1 )/gm) ?? [])
    expect(cut.sort()).toEqual(names.map((name) => `shared/${name}.jsonl`))
    for (const name of names) {
      expect(readFileSync(join(place, `shared/${name}.jsonl`), 'utf8')).toBe(expected)
      expect(readFileSync(join(place, `shared/${name}.jsonl.bak`), 'utf8')).toBe(before)
    }
    const left = readdirSync(join(place, 'shared')).filter(
      (name) => !/^\d\d\.jsonl(?:\.bak(?:\.latest|\.note)?)?$/.test(name),
    )
    expect(left).toEqual([])
  })

  it('repairs a session whose first row is damaged, as inspect tells to', { tags: 'long' }, async () => {
    const results = before.slice(before.indexOf('\n') + 1)
    for (const start of ['', '\0\0\0', 'ssion","version":3}\n', '[1]\n'].map((row) => `${row}${before}`))
      await mended(start)
    await mended(`{"type":"sess\n${results}`)
    // No row of it is one of a session.
    write('log.txt', 'a log\n'.repeat(9_000))
    const { code, stderr } = await spillway(['repair', 'log.txt'])
    expect([code, stderr]).toEqual([1, expect.stringMatching(/log\.txt: unrecognized session format/)])

    async function mended(text: string): Promise<void> {
      const file = write('damaged.jsonl', text)
      expect((await spillway(['inspect', file])).stdout).toContain(`spillway repair ${file}`)
      const { code, stdout, stderr } = await spillway(['repair', '--no-backup', file])
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain('cut 1 result over the limits')
      expect(readFileSync(file, 'utf8').split('\n')[0]).toBe(text.split('\n')[0])
    }
  })

  it('repairs the others too where it cannot report', async () => {
    const files = ['full-one.jsonl', 'full-two.jsonl'].map((name) => write(name, before))
    const { code, stderr } = await shell(`spillway repair ${files.join(' ')} > /dev/full`)
    expect(code).toBe(1)
    expect(stderr.split('\n').slice(0, -1)).toEqual(
      files.map(
        (file) =>
          `spillway repair: ${file} is done, but not its report: no space left on the device; free some and run this again`,
      ),
    )
    for (const file of files) expect(readFileSync(file, 'utf8').length).toBeLessThan(before.length)
  })

  it('takes a file whose name starts with a dash as inspect writes it', async () => {
    write('-dash.jsonl', before)
    const { stdout } = await spillway(['inspect', '--', '-dash.jsonl'])
    const told = stdout.split('\n').at(-2) ?? ''
    const { code, stdout: report } = await shell(told)
    expect([told.trim(), code]).toEqual(['spillway repair ./-dash.jsonl', 0])
    expect(report).toContain('cut 1 result over')
  })

  it('repairs all files though nobody reads what was done', async () => {
    const files = ['j1.jsonl', 'j2.jsonl', 'j3.jsonl'].map((name) => write(name, before))
    const child = start(['repair', ...files])
    child.stdout?.destroy()
    const { code, stderr } = await end(child)
    expect([code, stderr]).toEqual([0, ''])
    for (const file of files) expect((await inspectSession(file)).oversized).toBe(0)
  })

  it('says of a file in a directory that cannot be written', async () => {
    mkdirSync(join(place, 'closed'))
    const file = write('closed/g.jsonl', before)
    await shell('chmod 500 closed')
    const { code, stderr } = await spillway(['repair', file], { before: bounded })
    expect([code, stderr]).toEqual([1, expect.stringMatching(/g\.jsonl: permission denied/)])
    expect(stderr).toMatch(ONE_LINE)
    expect(readFileSync(file, 'utf8')).toBe(before)
    await shell('chmod 700 closed')
  })

  it('leaves the file as it was when it is interrupted', { tags: 'long' }, async () => {
    mkdirSync(join(place, 'h'))
    const big = session(Array.from({ length: 200 }, () => ['bash', LONG] as [string, string]))
    const file = write('h/h.jsonl', big)
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      const child = start(['repair', file])
      await until(() => readdirSync(join(place, 'h')).length > 1)
      child.kill(signal)
      const { code, stdout, stderr } = await end(child)
      expect([code, stdout]).toEqual([128 + constants.signals[signal], ''])
      expect(stderr).toBe(`spillway repair: stopped by ${signal}; the file was not changed\n`)
      expect(readdirSync(join(place, 'h'))).toEqual(['h.jsonl'])
      expect(readFileSync(file, 'utf8') === big).toBe(true)
    }
  })

  it('shows how far it is on a terminal alone', { tags: 'long' }, async () => {
    write('i.jsonl', session(Array.from({ length: 100 }, () => ['bash', LONG] as [string, string])))
    const { stdout } = await end(terminal('repair i.jsonl'))
    expect(stdout).toMatch(/\ri\.jsonl {2}.*█.* \d+% {2}of 52\.0 MB, \d+ cut/)
    expect(stdout.split('\r\x1b[K').at(-1)).toContain('cut 100 results over the limits')
  })

  it('draws one line for all of several, and leaves their reports alone', async () => {
    mkdirSync(join(place, 'drawn'))
    for (const name of 'abcd') write(`drawn/${name}.jsonl`, session([['bash', LONG]]))
    const { stdout } = await end(terminal('repair drawn', { env: { NO_COLOR: '1' } }))
    for (const share of ['0', '25', '50', '75'])
      expect(stdout).toMatch(new RegExp(`\rrepair {2}[^\n]* ${share}% {2}of 4 sessions`))
    // Each line is erased before a report stands in its place.
    const shown = stdout.split('\r\n').map((line) => line.split('\r\x1b[K').at(-1))
    expect(shown.filter((line) => /^drawn\/[a-d]\.jsonl: cut 1 /.test(line ?? ''))).toHaveLength(4)
    expect(shown.filter((line) => /%/.test(line ?? ''))).toEqual([])
    expect(stdout).toMatch(/\n4 sessions, /)
  })

  it('draws its progress within a narrow terminal', { tags: 'long' }, async () => {
    const name = 'a-name-that-is-long-for-it.jsonl'
    write(name, session(Array.from({ length: 100 }, () => ['bash', LONG] as [string, string])))
    const { stdout } = await end(terminal(`repair ${name}`, { columns: 40, env: { NO_COLOR: '1' } }))
    const lines = stdout
      .split('\r')
      .flatMap((line) => (/^a.*\[K$/.test(line) ? line.slice(0, -'\x1b[K'.length) : []))
    expect(lines[0]).toMatch(/^a-nam\.\.\. .* \d+% {2}of 52\.0 MB, \d+ cut$/)
    expect(lines.filter((line) => line.length >= 40)).toEqual([])
  })
})

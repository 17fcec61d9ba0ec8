import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { clampText, estimateTokens, inspectSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { end, lineOf, seq, session, spillway, terminal, typed, write } from '../support/cli.js'

const { version } = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'))

describe('examples of --help', () => {
  it('are lines that the commands take, with a purpose each', { tags: 'long' }, async () => {
    const { stdout } = await spillway(['--help'])
    const commands = [...stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name)
    expect(commands.length).toBeGreaterThan(5)
    for (const command of commands) {
      const help = (await spillway([command, '--help'])).stdout
      const examples = help.split('\nExamples:\n')[1]?.trimEnd().split('\n') ?? []
      expect(examples.length).toBeGreaterThan(1)
      for (const [at, line] of examples.entries()) {
        expect(line).toMatch(at % 2 === 0 ? /^ {2}# [A-Z0-9]/ : /^ {2}\S.*spillway |^ {2}spillway /)
        if (at % 2 === 0) continue
        // The part of this command line, asked for help: its flags are checked before that is
        // shown.
        const [, own = ''] =
          /(spillway [^|<>]*?)(?: -- .*| *[|<>].*)?$/.exec(line.replaceAll("'error|FAILED'", 'x')) ?? []
        const { code, stderr, stdout: shown } = await typed(`${own} --help`)
        expect([own, code, stderr]).toEqual([own, 0, ''])
        expect(shown).toBe(help)
      }
    }
  })
})

describe('flags', () => {
  it.each(['-V', 'version'])('%s tells the version', async (name) => {
    expect(await spillway([name])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
  })

  it.each([
    ['2K', 2048],
    ['1k', 1024],
    ['1M', 1_048_576],
    ['1G', 1_073_741_824],
    ['300', 300],
    ['0K', 0],
    ['Infinity', Number.POSITIVE_INFINITY],
  ])('--max-bytes %s is %d bytes, and --max-chars as many chars', { tags: 'long' }, async (size, amount) => {
    const input = seq(2_000)
    const bytes = await spillway(['clamp', '--keep', 'tail', '--max-bytes', size], { input })
    expect(bytes.stdout).toBe(lineOf(clampText(Buffer.from(input), { keep: 'tail', maxBytes: amount })))
    const chars = await spillway(['clamp', '--keep', 'tail', '--max-chars', size], { input })
    expect(chars.stdout).toBe(lineOf(clampText(Buffer.from(input), { keep: 'tail', maxChars: amount })))
  })

  it.each(['K', '1.5K', '-1K', '10KB', '1e3', ' 1', '', '99999999G'])('%j is not a size', async (size) => {
    const { code, stderr } = await spillway(['clamp', `--max-bytes=${size}`])
    expect(code).toBe(2)
    expect(stderr).toMatch(
      /^spillway clamp: --max-bytes (?:takes a size such as|must be a whole number)[^\n]*\n$/,
    )
  })

  it('--max-tokens bounds the tokens', async () => {
    const input = Buffer.from(seq(9_000))
    const { stdout } = await spillway(['clamp', '--max-tokens', '90', '--keep', 'head'], { input })
    expect(stdout).toBe(lineOf(clampText(input, { maxTokens: 90, keep: 'head' })))
    expect(estimateTokens(stdout)).toBeLessThanOrEqual(90)
    const file = write('tokens.jsonl', session([['bash', seq(900)]]))
    expect((await inspectSession(file)).oversized).toBe(0)
    const { stdout: page } = await spillway(['inspect', '--max-tokens', '90', file])
    expect(page).toContain(`spillway repair --max-tokens 90 ${file}`)
    await spillway(['repair', '--max-tokens', '90', file])
    expect((await inspectSession(file, { maxTokens: 90 })).oversized).toBe(0)
  })

  it('--needle may be repeated, and each makes its lines findings', { tags: 'long' }, async () => {
    // Among many odd lines, only a needle tells which ones count.
    const towns = Array.from(
      { length: 400 },
      (_, at) => `the ${(at * 7919).toString(36)} went to ${at.toString(36)}ville\n`,
    )
    const middle = `the parcel went to Oslo\n${towns.join('')}the crate went to Lima\n${towns.join('')}`
    const input = Buffer.from(`${seq(9_000)}${towns.join('')}${middle}${seq(9_000)}`)
    const flags = ['clamp', '--keep', 'findings', '--max-bytes', '600']
    expect((await spillway(flags, { input })).stdout).not.toMatch(/Oslo|Lima/)
    const { stdout } = await spillway([...flags, '--needle', 'parcel', '--needle=crate'], { input })
    expect(stdout).toContain('the parcel went to Oslo\n')
    expect(stdout).toContain('the crate went to Lima\n')
    expect(stdout).toBe(
      lineOf(clampText(input, { keep: 'findings', maxBytes: 600, needles: ['parcel', 'crate'] })),
    )
    const { code, stderr } = await spillway(['clamp', '--needle', ''])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^spillway clamp: --needle must /)])
  })

  it('--query may be repeated, the first weighing most', async () => {
    const lines = Array.from(
      { length: 4_000 },
      (_, at) => `line ${at} of ${(at * 7919) % 4001} in a plain text\n`,
    )
    lines[2_000] = 'the gearbox of the tractor is in the barn\n'
    lines[2_500] = 'the harbour is closed for a storm\n'
    const input = Buffer.from(lines.join(''))
    const query = ['tractor gearbox', 'harbour storm']
    const flags = query.flatMap((text) => ['--query', text])
    const { stdout } = await spillway(['clamp', '--keep', 'relevant', '--max-bytes', '2K', ...flags], {
      input,
    })
    expect(stdout).toBe(lineOf(clampText(input, { keep: 'relevant', maxBytes: 2048, query })))
    expect(stdout).toContain('gearbox')
  })
})

describe('on a terminal', () => {
  it.each([
    [
      'clamp --max-lines 3 --keep head < lines.txt',
      'omitted (limit 3 lines); ask for less, or for specific sections]',
    ],
    ['clamp < open.txt', 'no newline'],
    ['clamp --max-bytes Infinity --max-lines Infinity < open.txt', 'no newline'],
    ['clamp --max-bytes Infinity --max-lines Infinity < closed.txt', 'a newline'],
    ['run -- cat open.txt', '[exit code 0]'],
  ])('%s ends its last line, once', { tags: 'long' }, async (args, last) => {
    write('lines.txt', seq(99))
    write('open.txt', 'no newline')
    write('closed.txt', 'a newline\n')
    const { stdout, code } = await end(terminal(args, { columns: 200 }))
    expect(code).toBe(0)
    expect(stdout.endsWith(`${last}\r\n`)).toBe(true)
  })

  it('writes nothing for nothing', async () => {
    write('nothing.txt', '')
    for (const flags of ['', ' --max-bytes Infinity --max-lines Infinity'])
      expect((await end(terminal(`clamp${flags} < nothing.txt`))).stdout).toBe('')
  })
})

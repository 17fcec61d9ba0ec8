import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { findNodeAtLocation, parseTree } from 'jsonc-parser'
import { inspectSession, repairSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { agentSamples, fileOf } from '../support/agent_samples.js'
import { session, spillway } from '../support/cli.js'
import { scratch } from '../support/scratch.js'

const { dir, write } = scratch()

const BIG = 'line of output\n'.repeat(90_000)
const row = (content: string, id = 'c') => JSON.stringify({ role: 'tool', tool_call_id: id, content })
const read = (path: string) => readFileSync(path, 'utf8')
const mend = (path: string) => repairSession(path, { damaged: 'mend' })
const aside = (path: string) => (existsSync(`${path}.damaged`) ? read(`${path}.damaged`) : '')

describe('damaged rows', () => {
  const torn = row('short').slice(0, 40)
  it.each([
    ['NUL bytes before a row', `${row('a')}\n${'\0'.repeat(4_096)}${row(BIG)}\n`, [row('a'), BIG], ''],
    ['a torn row before a whole one', `${row('a')}\n${torn}${row(BIG)}\n`, [row('a'), BIG], `${torn}\n`],
    ['two rows on one line', `${row('a')}${row(BIG)}\n`, [row('a'), BIG], ''],
    ['a raw newline in a string', `${row('a')}\n${row(BIG).replace('\\n', '\n')}\n`, [row('a'), BIG], ''],
    ['a torn row of metadata', `{"type":"summa\n${row(BIG)}\n`, [BIG], '{"type":"summa\n'],
  ])('are mended: %s', async (_, text, rows, scraps) => {
    const path = write(text)
    const { damaged } = await inspectSession(path)
    expect(damaged).toBeGreaterThan(0)
    const report = await mend(path)
    expect(report).toMatchObject({ changed: true, damaged })
    expect(report.damagedPath).toBe(scraps === '' ? undefined : `${path}.damaged`)
    const left = read(path).split('\n')
    expect(left.pop()).toBe('')
    expect(left).toHaveLength(rows.length)
    for (const [at, expected] of rows.entries())
      if (expected === BIG)
        expect(JSON.parse(left[at] as string).content).toMatch(/^line of output[\s\S]*truncated/)
      else expect(left[at]).toBe(expected)
    expect(aside(path)).toBe(scraps)
    expect(read(`${path}.bak`) === text).toBe(true)
    expect(await inspectSession(path)).toMatchObject({ damaged: 0, oversized: 0 })
    expect(await mend(path)).toMatchObject({ changed: false, damaged: 0 })
  })

  it('are kept byte for byte unless asked, and are never nothing to do where a result hides in one', async () => {
    const text = `${row('a')}\n${torn}${row(BIG)}\n`
    const path = write(text)
    expect(await repairSession(path)).toMatchObject({ changed: false, damaged: 1, reason: 'damaged rows' })
    expect(read(path) === text).toBe(true)
    const small = write(`${row('a')}\n${torn}\n`)
    expect(await repairSession(small)).toMatchObject({ changed: false, damaged: 1, reason: 'nothing to do' })
    await expect(repairSession(path, { damaged: 'fix' as 'mend' })).rejects.toMatchObject({
      code: 'ERR_SPILLWAY_OPTION',
    })
  })

  it('are reported in the same words by inspect and repair, with the command that mends them', async () => {
    const path = write(`${row('a')}\n${torn}${row(BIG)}\n`)
    const said = `1 row is not JSON. To mend it:\n  spillway repair --damaged mend ${path}`
    const strip = (text: string) => text.replaceAll('\n    ', '\n  ')
    expect((await spillway(['inspect', path])).stdout).toContain(said)
    const kept = await spillway(['repair', path])
    expect([kept.code, strip(kept.stdout)]).toEqual([1, expect.stringContaining(said)])
    const dry = await spillway(['repair', '--dry-run', '--damaged', 'mend', path])
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringContaining('would be mended')])
    expect(existsSync(`${path}.damaged`)).toBe(false)
    const { code, stdout } = await spillway(['repair', '--damaged', 'mend', path])
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`1 row was not JSON: mended; text that is not a row is in ${path}.damaged`),
    ])
  })

  it('count in a budget over all results, which finds them mended', async () => {
    const path = write(
      `${row('b'.repeat(9_000), 'c1')}${row('d'.repeat(9_000), 'c2')}\n${row('e'.repeat(9_000), 'c3')}\n`,
    )
    await repairSession(path, { damaged: 'mend', aggregate: { maxChars: 9_000, protectNewest: false } })
    const texts = read(path)
      .trimEnd()
      .split('\n')
      .map((row) => JSON.parse(row).content as string)
    expect(texts).toHaveLength(3)
    expect(texts.join('').length).toBeLessThanOrEqual(9_000)
  })
})

describe('rows that are not UTF-8', () => {
  const bad = Buffer.concat([
    Buffer.from('{"role":"tool","tool_call_id":"b","content":"'),
    Buffer.from([0xe6, 0x97]),
    Buffer.from('"}'),
  ])
  const bytesOf = (...parts: (string | Buffer)[]) =>
    Buffer.concat(parts.map((part) => Buffer.from(part as string)))
  const writeBytes = (bytes: Buffer) => {
    const path = write('')
    writeFileSync(path, bytes)
    return path
  }

  it('are damaged, and mended to the text that Node reads', async () => {
    const path = writeBytes(bytesOf(row('a'), '\n', bad, '\n', row('c'), '\n'))
    expect(await inspectSession(path)).toMatchObject({ damaged: 1, toolResults: 2 })
    expect(await repairSession(path)).toMatchObject({ changed: false, damaged: 1 })
    expect((await spillway(['doctor', path])).stdout).toContain('1 row is not JSON')
    expect(await mend(path)).toMatchObject({ changed: true, damaged: 1 })
    expect(read(path)).toBe(`${row('a')}\n${bad.toString()}\n${row('c')}\n`)
    expect(existsSync(`${path}.damaged`)).toBe(false)
    expect(await mend(path)).toMatchObject({ changed: false, damaged: 0 })
  })

  it('keep their place in the chain, and are not a reason where the agent reads them', async () => {
    const rows = session([['bash', 'short']]).split(/(?<=\n)/)
    const at = rows.findIndex((text) => text.includes('short'))
    const odd = Buffer.from(rows[at]?.replace('short', 'sho?rt') ?? '')
    odd[odd.indexOf('?')] = 0xff
    const path = writeBytes(bytesOf(...rows.slice(0, at), odd, ...rows.slice(at + 1)))
    expect((await spillway(['doctor', path])).stdout).toContain('none needs a repair')
    const { damaged, orphans = 0, paired = 0 } = await repairSession(path, { pairs: true })
    expect([damaged, orphans, paired]).toEqual([1, 0, 0])
    await mend(path)
    expect(read(path)).toBe([...rows.slice(0, at), odd.toString(), ...rows.slice(at + 1)].join(''))
  })

  it('stay as the last row, which has no newline', async () => {
    const path = writeBytes(bytesOf(row('a'), '\n', bad))
    expect(await mend(path)).toMatchObject({ changed: true, damaged: 1, tornTail: true })
    expect(read(path)).toBe(`${row('a')}\n${bad.toString()}\n`)
    expect(await mend(path)).toMatchObject({ changed: false, damaged: 0 })
  })

  it('are joined where a newline stands in a char', async () => {
    for (const char of ['\u00e9', '\u65e5', '\u{1f600}'])
      for (let at = 1; at < Buffer.byteLength(char); at++) {
        const whole = Buffer.from(row(`x${char}y`))
        const place = whole.indexOf(Buffer.from(char)) + at
        const path = writeBytes(
          bytesOf(row('a'), '\n', whole.subarray(0, place), '\n', whole.subarray(place), '\n'),
        )
        await mend(path)
        expect(read(path)).toBe(`${row('a')}\n${row(`x${char}y`)}\n`)
        expect(aside(path)).toBe('')
      }
  })
})

describe('text that is not a session', () => {
  const root = join(__dirname, '../..')
  const shown = row('a manual may show a row')
  it.each([
    ['a manual', readFileSync(join(root, 'README.md'), 'utf8')],
    [
      'a manual of sessions',
      `${readFileSync(join(root, 'docs/sessions.md'), 'utf8')}\n${shown}\n${shown}\nend`,
    ],
    ['a program', readFileSync(join(root, 'dist/cli.js'), 'utf8')],
    ['a table', Array.from({ length: 40 }, (_, at) => `${at},"name",${shown}`).join('\n')],
    [
      'a log with rows',
      Array.from({ length: 40 }, (_, at) => (at % 4 !== 1 ? `12:00 INFO ${at}` : shown)).join('\n'),
    ],
    [
      'a log with brackets',
      Array.from({ length: 40 }, (_, at) => (at % 4 !== 1 ? `[INFO] ${at}` : shown)).join('\n'),
    ],
    ['a document without a whole message', '[{"role":"user","content":"never fin'],
    [
      'an indented document of another kind',
      JSON.stringify({ name: 'x', files: [{ role: 'a' }] }, null, 2).slice(0, -3),
    ],
    ['a list with an element a line', `[!,\n${shown},\n${shown}\n`],
    [
      'a torn part',
      '{\n  "sessionID": "s",\n  "messageID": "m",\n  "type": "tool",\n  "state": {"output": "a',
    ],
    ['NUL bytes', '\0'.repeat(9_000)],
    ['a header alone', '{"type":"session","version":3,"id":"s"}\n{"type":"mess'],
  ])('is left as it is, with the reason: %s', { tags: 'long' }, async (_, text) => {
    const path = write(text)
    const { code, stdout, stderr } = await spillway(['repair', '--damaged', 'mend', path])
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringMatching(/unrecognized session format.*\n$/)])
    expect(read(path) === text).toBe(true)
    expect(readdirSync(dir).filter((name) => join(dir, name).startsWith(path))).toHaveLength(1)
    expect((await spillway(['doctor', path])).stdout).not.toContain('--damaged mend')
  })
})

describe.runIf(process.platform !== 'win32')('what stands at the name of a file beside a session', () => {
  const text = `${row('a')}\n${row('b').slice(0, 30)}\n${row('c')}\n`
  it.each([
    ['a link', (path: string) => symlinkSync(write('of another'), path)],
    ['a dangling link', (path: string) => symlinkSync('nowhere', path)],
    ['a directory', (path: string) => mkdirSync(path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ])('is not read, and the session stays: %s', async (_, make) => {
    for (const end of ['.damaged', '.bak', '.bak.latest']) {
      const path = write(text)
      make(`${path}${end}`)
      const refused = expect.objectContaining({
        code: 'ERR_SPILLWAY_BESIDE',
        message: expect.stringContaining(end),
      })
      await expect(mend(path)).rejects.toEqual(refused)
      expect(read(path)).toBe(text)
      expect(readdirSync(dir).filter((name) => name.includes('.spillway-'))).toEqual([])
      rmSync(`${path}${end}`, { recursive: true })
      expect(await mend(path)).toMatchObject({ changed: true })
    }
  })
})

/** Damage to a document: its place, its kind, and its bytes. */
const damage = fc.tuple(
  fc.nat(),
  fc.constantFrom('torn', 'junk', 'behind'),
  fc.constantFrom('\0\0\0\0', '\u0001', '}]', '"}]}', '\n{"a', '{"role":"user","content":"x"}'),
)
const documents = agentSamples.filter((sample) => typeof sample.make('x') === 'string')

describe.each(
  documents.map((sample) => [sample.agent, sample] as const),
)('damage to a document of %s', (_, sample) => {
  const text = sample.make('a line\nof {"a":1} [{}, output, ') as string
  const bytes = Buffer.from(text)
  const tree = parseTree(text)
  const list = tree && (tree.type === 'array' ? tree : findNodeAtLocation(tree, ['messages']))
  const messages = list?.children ?? []
  const endOf = (node: { offset: number; length: number }) =>
    Buffer.byteLength(text.slice(0, node.offset + node.length))

  it('leaves each whole message, and loses no byte', async () => {
    let mendings = 0
    await fc.assert(
      fc.asyncProperty(damage, async ([place, kind, junk]) => {
        const at = kind === 'behind' ? bytes.length : 1 + (place % (bytes.length - 1))
        const rest = kind === 'torn' ? [] : [Buffer.from(junk), bytes.subarray(at)]
        const damaged = Buffer.concat([bytes.subarray(0, at), ...rest])
        if (isJson(damaged)) return
        const path = write('')
        writeFileSync(path, damaged)
        const report = await mend(path)
        const left = readFileSync(path)
        const whole = messages.filter((message) => endOf(message) <= at).length
        if (!report.changed) {
          expect(report.reason).toBe('format unknown')
          expect(left.equals(damaged) && !existsSync(`${path}.damaged`)).toBe(true)
          expect(whole).toBe(0)
          return
        }
        mendings += 1
        const scrap = existsSync(`${path}.damaged`) ? readFileSync(`${path}.damaged`) : Buffer.alloc(0)
        const kept = damaged.length - Math.max(0, scrap.length - 1)
        expect(damaged.subarray(kept).equals(scrap.subarray(0, -1))).toBe(true)
        // A raw newline is escaped; the closing brackets are all else that is new.
        if (!(kind === 'junk' && junk.startsWith('\n'))) {
          expect(left.subarray(0, kept).equals(damaged.subarray(0, kept))).toBe(true)
          expect(left.subarray(kept).toString()).toMatch(/^[\]}]{0,2}$/)
        }
        const read = JSON.parse(left.toString())
        const all = Array.isArray(read) ? read : read.messages
        if (all)
          expect(all.slice(0, whole)).toEqual(
            messages
              .slice(0, whole)
              .map(({ offset, length }) => JSON.parse(text.slice(offset, offset + length))),
          )
        // Junk may close the first message before the members that tell its host.
        const format = whole > 0 ? sample.format : expect.any(String)
        expect(await inspectSession(path)).toMatchObject({ format, damaged: 0 })
        expect(await mend(path)).toMatchObject({ changed: false, damaged: 0 })
      }),
      { numRuns: 150 },
    )
    expect(mendings).toBeGreaterThan(0)
  })
})

function isJson(bytes: Buffer | string): boolean {
  try {
    JSON.parse(bytes.toString())
    return true
  } catch {
    return false
  }
}

/** A file of rows of a sample, some of them damaged, and the rows that it still holds. */
const damages = fc.array(
  fc.tuple(fc.constantFrom('whole', 'whole', 'whole', 'nul', 'glued', 'torn', 'broken'), fc.nat()),
  { minLength: 1, maxLength: 12 },
)
const all = agentSamples.filter((sample) => typeof sample.make('x') !== 'string')
// Other files hold offsets into those of Codex CLI, so its damaged rows stay.
const samples = all.filter(({ format }) => format !== 'codex')

describe.each(
  samples.map((sample) => [sample.agent, sample] as const),
)('damage to a session of %s', (_, sample) => {
  const rows = fileOf(sample, 'a line\nof {"a":1} {} output, ').trimEnd().split('\n')
  it('loses nothing and invents nothing', async () => {
    await fc.assert(
      fc.asyncProperty(damages, async (damages) => {
        const [readable, torn]: [string[], string[]] = [[rows[0] as string], []]
        let text = `${rows[0]}\n`
        for (const [kind, seed] of damages) {
          const own = rows[1 + (seed % (rows.length - 1))] as string
          if (kind === 'torn') {
            const cut = own.slice(0, 1 + (seed % (own.length - 1)))
            torn.push(cut)
            text += `${text.endsWith('\n') ? '' : '\n'}${cut}\0\n`
            continue
          }
          const at = kind === 'broken' ? own.indexOf('\\n') : -1
          readable.push(own)
          if (at >= 0) text += `${text.endsWith('\n') ? '' : '\n'}${own.slice(0, at)}\n${own.slice(at + 2)}\n`
          else
            text += `${kind === 'nul' ? '\0'.repeat(1 + (seed % 5_000)) : ''}${own}${kind === 'glued' ? '' : '\n'}`
        }
        const path = write(text)
        const { damaged } = await inspectSession(path)
        const report = await repairSession(path, { damaged: 'mend', backup: false })
        // Rows of the program alone may be those of another.
        if (report.reason === 'format unknown' && !readable.some((row) => row.includes('"message":'))) {
          expect(read(path)).toBe(text)
          return
        }
        expect(report.damaged).toBe(damaged)
        expect(
          read(path)
            .split('\n')
            .filter((row) => row !== ''),
        ).toEqual(readable)
        expect(aside(path)).toBe(torn.map((cut) => `${cut}\n`).join(''))
        expect(await mend(path)).toMatchObject({ changed: false, damaged: 0 })
      }),
      { numRuns: 60 },
    )
  })
})

it('damage to a session of Codex CLI stays where it is, and no other row moves', async () => {
  const sample = all.find(({ format }) => format === 'codex') as (typeof all)[number]
  const [first, ...rows] = fileOf(sample, 'line\n'.repeat(50_000)).split(/(?<=\n)/)
  await fc.assert(
    fc.asyncProperty(damages, async (damages) => {
      const parts = damages.map(([kind, seed]) => {
        const own = rows[seed % rows.length] as string
        if (kind === 'torn') return `${own.slice(0, 1 + (seed % (own.length - 2)))}\n`
        if (kind === 'glued') return own.trimEnd()
        return kind === 'nul' ? '\0'.repeat(1 + (seed % 5_000)) + own : own
      })
      const text = `${first}${parts.join('')}\n`
      const path = write(text)
      const { damaged } = await inspectSession(path)
      const { unmended = 0 } = await repairSession(path, { damaged: 'mend', pairs: false, backup: false })
      expect(unmended).toBe(damaged)
      expect(existsSync(`${path}.damaged`)).toBe(false)
      const [old, now] = [text, read(path)].map((text) => text.split('\n'))
      expect(now?.map((row) => Buffer.byteLength(row))).toEqual(old?.map((row) => Buffer.byteLength(row)))
      for (const [at, row] of (old ?? []).entries()) {
        if (!isJson(row)) expect(now?.[at]).toBe(row)
        else expect(isJson(now?.[at] ?? '')).toBe(true)
      }
    }),
    { numRuns: 60 },
  )
})

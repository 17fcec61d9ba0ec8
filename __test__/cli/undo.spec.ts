import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { repairSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { end, place, session, spillway, start, write } from '../support/cli.js'

/** The engine that `spillway` has loaded, for an undo in this process. */
const native: typeof import('../../dist/native.js') = createRequire(__filename)('../../dist/spillway.node')

const LONG = 'one more line of output\n'.repeat(20_000)
const RESULTS: [string, string][] = [
  ['bash', LONG],
  ['read', 'short'],
]
const at = (file: string, end = '') => join(place, file + end)
const read = (file: string, end = '') => readFileSync(at(file, end), 'utf8')
const row = (id: string) =>
  `${JSON.stringify({ type: 'message', id, parentId: null, message: { role: 'user', content: id } })}\n`

/** Writes a session and repairs it with each of the limits. Returns its texts, the first of them as
 *  it was written. */
async function repaired(file: string, ...limits: number[]): Promise<string[]> {
  const texts = [readFileSync(write(file, session(RESULTS)), 'utf8')]
  for (const maxChars of limits) {
    await repairSession(at(file), { maxChars })
    texts.push(read(file))
  }
  return texts
}

describe('repair --undo', () => {
  it('puts the file before the repair back, and keeps the repaired one', async () => {
    const [before, after] = await repaired('one.jsonl', 5_000)
    const { code, stdout, stderr } = await spillway(['repair', '--undo', 'one.jsonl'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      /^one\.jsonl: put the file before the latest repair back; .* to .*\n {2}backup of the repaired file: .*one\.jsonl\.bak\.latest\n$/,
    )
    expect(read('one.jsonl')).toBe(before)
    expect(read('one.jsonl', '.bak')).toBe(before)
    expect(read('one.jsonl', '.bak.latest')).toBe(after)
  })

  it('undoes the latest of two repairs, and with --first both', async () => {
    const [first, second, third] = await repaired('two.jsonl', 9_000, 2_000)
    await spillway(['repair', '--undo', 'two.jsonl'])
    expect([read('two.jsonl'), read('two.jsonl', '.bak.latest')]).toEqual([second, third])
    const again = await spillway(['repair', '--undo', '--first', 'two.jsonl'])
    expect(again.stdout).toContain('before the first repair back')
    expect([read('two.jsonl'), read('two.jsonl', '.bak')]).toEqual([first, first])
  })

  it('can be undone itself', async () => {
    const [before, after] = await repaired('twice.jsonl', 5_000)
    for (const text of [before, after, before, after]) {
      await spillway(['repair', '--undo', 'twice.jsonl'])
      expect(read('twice.jsonl')).toBe(text)
    }
    expect(read('twice.jsonl', '.bak')).toBe(before)
    expect(readdirSync(place).filter((name) => /^twice\.jsonl\.(?!bak)/.test(name))).toEqual([])
  })

  it('refuses when rows were appended since, unless they are to be kept', async () => {
    const [before, after] = await repaired('grown.jsonl', 5_000)
    appendFileSync(at('grown.jsonl'), row('u1') + row('u2').trimEnd())
    const refused = await spillway(['repair', '--undo', 'grown.jsonl'])
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(
      /2 rows were appended to .*grown\.jsonl since the repair; --keep-appended carries that over\n$/,
    )
    expect(read('grown.jsonl')).toBe(after + row('u1') + row('u2').trimEnd())
    const kept = await spillway(['repair', '--undo', '--keep-appended', 'grown.jsonl'])
    expect(kept.stdout).toContain('back and 2 rows appended since;')
    expect(read('grown.jsonl')).toBe(before + row('u1') + row('u2'))
  })

  it('ends a torn last row of the backup before rows that follow it', async () => {
    const file = write('torn.jsonl', session(RESULTS).trimEnd())
    const before = readFileSync(file, 'utf8')
    await repairSession(file, { maxChars: 5_000 })
    appendFileSync(file, row('u1'))
    await spillway(['repair', '--undo', '--keep-appended', 'torn.jsonl'])
    expect(read('torn.jsonl')).toBe(`${before}\n${row('u1')}`)
  })

  const others: [name: string, change: (file: string) => void, message: RegExp][] = [
    [
      'has no backup',
      (file) =>
        ['.bak', '.bak.latest'].forEach((end) => {
          rmSync(at(file, end))
        }),
      /there is no backup of it/,
    ],
    [
      'was cut shorter',
      (file) => writeFileSync(at(file), `${read(file).split('\n')[0]}\n`),
      /was-cut-shorter.jsonl became shorter since the repair; --discard-changes/,
    ],
    [
      'is another session',
      (file) => writeFileSync(at(file), session(RESULTS).replaceAll('"id":"', '"id":"x')),
      /what the repair wrote to .* was changed since, not only rows appended; --discard-changes/,
    ],
    [
      'has a link in place of its backup',
      (file) => {
        rmSync(at(file, '.bak.latest'))
        symlinkSync('somewhere.jsonl', at(file, '.bak.latest'))
      },
      /\.bak\.latest is a symbolic link, which is not read or replaced; move it away/,
    ],
  ]
  it.each(others)('leaves a session as it is that %s', async (name, change, message) => {
    const file = `${name.replaceAll(' ', '-')}.jsonl`
    await repaired(file, 5_000)
    change(file)
    const before = read(file)
    const { code, stderr } = await spillway(['repair', '--undo', '--keep-appended', file])
    expect([code, stderr]).toEqual([1, expect.stringMatching(message)])
    expect(read(file)).toBe(before)
    expect(existsSync(at(file, '.lock'))).toBe(false)
  })

  it.each([
    '.bak',
    '.bak.latest',
    '.bak.note',
  ])('is not needed if %s is a directory: the repair is refused before it writes', {
    tags: 'long',
  }, async (end) => {
    const file = `directory${end}.jsonl`
    const before = readFileSync(write(file, session(RESULTS)), 'utf8')
    mkdirSync(at(file, end))
    const { code, stderr } = await spillway(['repair', file])
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/is a directory, which is not read or replaced; move it away/),
    ])
    expect(stderr).toContain(at(file, end))
    expect(read(file)).toBe(before)
    const left = readdirSync(place).filter((name) => name.startsWith(file))
    expect(left).toEqual([file, file + end])
    expect((await spillway(['repair', '--no-backup', file])).code).toBe(0)
  })

  it.each([
    [['--first', 's.jsonl'], '--first needs --undo'],
    [['--keep-appended', 's.jsonl'], '--keep-appended needs --undo'],
    [['--discard-changes', 's.jsonl'], '--discard-changes needs --undo'],
    [
      ['--undo', '--keep-appended', '--discard-changes', 's.jsonl'],
      'cannot be combined with --keep-appended',
    ],
    [['--undo', '--dry-run', 's.jsonl'], '--dry-run cannot be combined with --undo'],
    [['--undo', '--max-chars', '9', 's.jsonl'], '--max-chars cannot be combined with --undo'],
  ])('%j is a mistake that one line tells', async (args, message) => {
    const { code, stderr } = await spillway(['repair', ...args])
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  })

  it('waits for the lock of a session, and gives it back', { tags: 'long' }, async () => {
    await repaired('held.jsonl', 5_000)
    writeFileSync(
      at('held.jsonl', '.lock'),
      JSON.stringify({ pid: process.pid, createdAt: new Date().toISOString() }),
    )
    const { code, stderr } = await end(start(['repair', '--undo', 'held.jsonl']))
    expect([code, stderr]).toEqual([1, expect.stringContaining('held by process')])
    rmSync(at('held.jsonl', '.lock'))
    expect((await spillway(['repair', '--undo', 'held.jsonl'])).code).toBe(0)
    expect(existsSync(at('held.jsonl', '.lock'))).toBe(false)
  })

  it('leaves the old file or the new one, and no row lost, when it is killed', { tags: 'long' }, async () => {
    const [before, after] = await repaired('killed.jsonl', 5_000)
    const left = () => readdirSync(place).filter((name) => /^killed\.jsonl\..*\.(?:tmp|lock)$/.test(name))
    let hits = 0
    for (let tries = 0; hits < 5 && tries < 200; tries++) {
      const child = start(['repair', '--undo', 'killed.jsonl'])
      let isOver = false
      const ended = end(child).then((result) => {
        isOver = true
        return result
      })
      // The undo has begun once it has the lock; each kill comes later than the one before.
      const holds = () => existsSync(at('killed.jsonl', '.lock'))
      while (!isOver && !holds()) await setImmediate()
      for (let turn = 0; turn < hits && !isOver; turn++) await setImmediate()
      child.kill('SIGKILL')
      await ended
      hits += Number(child.signalCode === 'SIGKILL')
      expect([before, after]).toContain(read('killed.jsonl'))
      expect(read('killed.jsonl', '.bak')).toBe(before)
    }
    expect(hits).toBe(5)
    // The next one settles what is left, and restores one or the other.
    expect((await spillway(['repair', '--undo', 'killed.jsonl'])).stderr).toBe('')
    expect([before, after]).toContain(read('killed.jsonl'))
    expect(left()).toEqual([])
  })

  it('gives back every session as it was, whatever was repaired and appended', { tags: 'long' }, async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.nat({ max: 4_000 }).map((count) => '漢字 and\r\n'.repeat(count)),
    )
    let number = 0
    const how = {
      first: false,
      keepAppended: true,
      discardChanges: false,
      born: Date.now() - process.uptime() * 1_000,
    }
    await fc.assert(
      fc.asyncProperty(
        fc.array(text, { minLength: 1, maxLength: 4 }),
        fc.array(fc.uuid(), { maxLength: 3 }),
        async (texts, ids) => {
          const file = `any${number++}.jsonl`
          const before = readFileSync(write(file, session(texts.map((text) => ['bash', text]))), 'utf8')
          const { changed } = await repairSession(at(file), { maxChars: 300 })
          if (!changed) return
          const appended = ids.map(row).join('')
          appendFileSync(at(file), appended)
          expect(JSON.parse(await native.undoRepair(at(file), how, native.startWatch()))).toMatchObject({
            changed: true,
          })
          expect(read(file)).toBe(before + appended)
        },
      ),
      { numRuns: 300 },
    )
  })
})

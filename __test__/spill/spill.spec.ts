import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import {
  type ChannelMessages,
  createSpillStore,
  type SpillOptions,
  type SpillRecord,
  type SpillStore,
} from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { until } from '../support/wait.js'

const any = (value: unknown) => value as never
const root = join(__dirname, '../..')
const made: string[] = []
const children: ChildProcess[] = []
const isRoot = process.getuid?.() === 0

afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

/** A directory that is not there yet. */
function place(): string {
  const parent = mkdtempSync(join(tmpdir(), 'spillway-'))
  made.push(parent)
  return join(parent, 'outputs')
}

function store(options: Partial<SpillOptions> = {}): SpillStore & { dir: string } {
  const dir = options.dir ?? place()
  return Object.assign(createSpillStore({ ...options, dir }), { dir })
}

/** The code that a call rejects with. */
async function codeOf(call: Promise<unknown>): Promise<unknown> {
  return (await failureOf(call)).code
}

async function failureOf(call: Promise<unknown>): Promise<{ code?: unknown; message: string }> {
  return call.then(
    () => ({ message: 'nothing failed' }),
    (error) => error,
  )
}

/** Runs a script in a process of its own and returns what it prints. */
function start(script: string, ...args: string[]) {
  const child = spawn(process.execPath, ['-e', script, ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  let printed = ''
  child.stdout.on('data', (chunk) => {
    printed += chunk
  })
  const done = new Promise<string>((resolve) => child.once('close', () => resolve(printed)))
  return { child, done, printed: () => printed }
}

/** Returns true once every thread of a process has come to rest after a signal to stop. */
function isStopped(pid: number): boolean {
  const tasks = `/proc/${pid}/task`
  if (!existsSync(tasks))
    return /^T/.test(execFileSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' }))
  return readdirSync(tasks).every((id) =>
    /^\d+ \(.*\) T /.test(readFileSync(join(tasks, id, 'stat'), 'utf8')),
  )
}

/** Reads pages until there is none. */
async function all(from: SpillStore, id: string, maxBytes?: number): Promise<string> {
  let text = ''
  for (let byte: number | undefined = 0; byte !== undefined; ) {
    const page: { text: string; nextByte?: number } = await from.read(id, {
      byte,
      ...(maxBytes ? { maxBytes } : {}),
    })
    text += page.text
    byte = page.nextByte
  }
  return text
}

const aged = (record: SpillRecord, milliseconds: number) => {
  const then = new Date(Date.now() - milliseconds)
  utimesSync(record.path, then, then)
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** The files of a store besides its secret. */
const filesIn = (dir: string) => readdirSync(dir).filter((file) => file !== 'key')

describe('a spill store', () => {
  it('saves text and bytes exactly, in files that only this user can read', async () => {
    const spill = store()
    const before = process.umask(0)
    const bytes = Buffer.from([0, 1, 10, 0xff, 0xfe, 13, 10, 0xe6, 0xbc])
    const saved = await spill.save(bytes.subarray(1), { tool: 'bash' }).finally(() => process.umask(before))
    expect(readFileSync(saved.path)).toEqual(bytes.subarray(1))
    expect(saved).toEqual({ id: saved.id, path: saved.path, bytes: 8, lines: 3, complete: true })
    expect(saved.id).toMatch(/^[0-9a-f]{16}$/)
    expect(basename(saved.path)).toBe(`${saved.id}.bash.8b.3l.txt`)
    expect(statSync(join(spill.dir, 'key')).mode & 0o777).toBe(process.platform === 'win32' ? 0o666 : 0o600)
    expect(statSync(saved.path).mode & 0o777).toBe(0o600)
    expect(statSync(spill.dir).mode & 0o777).toBe(0o700)
    const text = await spill.save('a\ud800漢\n')
    expect(readFileSync(text.path, 'utf8')).toBe('a\ufffd漢\n')
    expect(text).toMatchObject({ bytes: 8, lines: 1 })
  })

  it('names files by what cannot lead elsewhere', async () => {
    const spill = store()
    const saved = await spill.save('x', { tool: '../../etc/pass wd\0', callId: '../call' })
    expect(filesIn(spill.dir)).toEqual([`${saved.id}.______etc_pass_wd_.1b.1l.txt`])
  })

  it('takes shared and large bytes, and notices when bytes go away', async () => {
    const spill = store()
    const shared = new Uint8Array(new SharedArrayBuffer(5)).fill(65)
    expect(readFileSync((await spill.save(shared)).path, 'utf8')).toBe('AAAAA')
    const large = new Uint8Array(3_000_000).map((_, at) => at % 251)
    expect(Buffer.compare(readFileSync((await spill.save(large)).path), large)).toBe(0)
    const saving = codeOf(spill.save(large))
    structuredClone(large, { transfer: [large.buffer] })
    expect(await saving).toBe('ERR_SPILLWAY_SPILL')
    expect(await spill.list()).toHaveLength(2)
    expect(filesIn(spill.dir)).toHaveLength(2)
  })

  it('gives back any text, page by page', async () => {
    const spill = store()
    await fc.assert(
      fc.asyncProperty(hostileText, fc.integer({ min: 1, max: 200 }), async (text, maxBytes) => {
        const { id, path, lines } = await spill.save(text)
        expect(readFileSync(path, 'utf8')).toBe(text.toWellFormed())
        expect(await all(spill, id, maxBytes)).toBe(text.toWellFormed())
        expect((await spill.read(id)).totalLines).toBe(lines)
        rmSync(path)
      }),
      { numRuns: 60 },
    )
  })

  it('takes chunks one after another, and keeps nothing of those that end in an error', async () => {
    const spill = store()
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 90 })), fc.boolean(), async (chunks, fails) => {
        const failure = new Error('the source failed')
        const source = async function* () {
          yield* chunks
          if (fails) throw failure
        }
        const saving = spill.save(source(), { tool: 'bash' })
        if (fails) await expect(saving).rejects.toBe(failure)
        else {
          const { path, bytes } = await saving
          expect(readFileSync(path)).toEqual(Buffer.concat(chunks))
          expect(bytes).toBe(Buffer.concat(chunks).length)
          rmSync(path)
        }
        expect(filesIn(spill.dir)).toEqual([])
      }),
      { numRuns: 60 },
    )
    const words = async function* () {
      yield 'no bytes'
    }
    expect(await codeOf(spill.save(any(words())))).toBe('ERR_SPILLWAY_OPTION')
    expect(filesIn(spill.dir)).toEqual([])
  })

  it('stops at the quota of a file, and tells the whole', async () => {
    const spill = store({ maxFileBytes: 10 })
    const saved = await spill.save('one\ntwo\nthree\nfour')
    expect(saved).toMatchObject({ bytes: 18, lines: 4, complete: false })
    expect(readFileSync(saved.path, 'utf8')).toBe('one\ntwo\nth')
    expect(await spill.list()).toEqual([saved])
    expect(await spill.read(saved.id)).toMatchObject({ totalBytes: 10, totalLines: 3 })
    expect(await store({ maxFileBytes: 0 }).save('x')).toMatchObject({ bytes: 1, complete: false })
    expect(await store({ maxFileBytes: 0 }).save('')).toMatchObject({ bytes: 0, complete: true })
  })

  it('makes nothing before something is saved', async () => {
    const spill = store()
    expect(await spill.list()).toEqual([])
    expect(await spill.sweep()).toEqual({ removed: 0, bytes: 0 })
    expect(await codeOf(spill.read('0123456789abcdef'))).toBe('ERR_SPILLWAY_SPILL')
    expect(existsSync(spill.dir)).toBe(false)
  })

  it('keeps to its directory when the working directory changes', async () => {
    const dir = place()
    const spill = createSpillStore({ dir: relative(process.cwd(), dir) })
    expect((await spill.save('x')).path.startsWith(`${dir}/`)).toBe(true)
  })

  it('tells of what it saved, and of what it could not', async () => {
    const events: ChannelMessages['spill'][] = []
    const listen = (event: unknown) => events.push(event as ChannelMessages['spill'])
    subscribe('spillway:spill', listen)
    const spill = store()
    const record = await spill.save('x', { tool: 'bash', callId: 'call_1' })
    writeFileSync(`${spill.dir}-file`, '')
    const error = await createSpillStore({ dir: `${spill.dir}-file/x` })
      .save('x')
      .catch((error) => error)
    unsubscribe('spillway:spill', listen)
    expect(events).toEqual([{ tool: 'bash', callId: 'call_1', record }, { error }])
    expect(error.code).toBe('ENOTDIR')
  })
})

describe('options of a store', () => {
  it.each([
    [{}, 'dir'],
    [{ dir: '' }, 'dir'],
    [{ dir: 'a\0b' }, 'dir'],
    [{ dir: 5 }, 'dir'],
    [{ dir: 'x', reference: 'name' }, 'reference'],
    [{ dir: 'x', maxFileBytes: -1 }, 'maxFileBytes'],
    [{ dir: 'x', maxTotalBytes: 1.5 }, 'maxTotalBytes'],
    [{ dir: 'x', maxAge: '7d' }, 'maxAge'],
    [{ dir: 'x', minAge: Number.NaN }, 'minAge'],
  ])('refuses %o', (options, field) => {
    expect(() => createSpillStore(any(options))).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(field) }),
    )
  })

  it('refuses wrong arguments of a call, naming field and value', async () => {
    const spill = store()
    const { id } = await spill.save('x')
    const refused: [() => Promise<unknown>, string][] = [
      [
        () => spill.read('../../etc/passwd'),
        'id must be the id of a saved output, 16 hexadecimal digits, got "../../etc/passwd"',
      ],
      [() => spill.read(`../${id}`), `got "../${id}"`],
      [() => spill.read(`${id}/../${id}`), 'id'],
      [() => spill.read(id.toUpperCase().replace(/^\d/, 'A')), 'id'],
      [() => spill.read(any(undefined)), 'got undefined'],
      [() => spill.read(any({ toString: () => id })), 'got an object'],
      [() => spill.read(id, any(null)), 'range'],
      [() => spill.read(id, { line: 0 }), 'line must be a whole number from 1 up'],
      [() => spill.read(id, { line: -1 }), 'line must be a whole number from 1 up'],
      [() => spill.read(id, { byte: -1 }), 'byte'],
      [() => spill.read(id, { lines: 0 }), 'lines'],
      [() => spill.read(id, { maxBytes: 0 }), 'maxBytes'],
      [() => spill.search('..', 'x'), 'id'],
      [() => spill.search(id, ''), 'pattern'],
      [() => spill.search(id, 'a\nb'), 'pattern'],
      [() => spill.search(id, 'a'.repeat(5_000)), 'pattern'],
      [() => spill.search(id, any(5)), 'pattern'],
      [() => spill.search(id, 'x', { max: 0 }), 'max'],
      [() => spill.search(id, 'x', any({ regex: 'yes' })), 'regex'],
      [() => spill.sweep({ retain: ['../x'] }), 'retain[0]'],
      [() => spill.sweep(any({ retain: id })), 'retain'],
      [() => spill.save(any(5)), 'text'],
      [() => spill.save('x', any({ tool: 5 })), 'tool'],
    ]
    for (const [call, words] of refused) {
      const error = await failureOf(call())
      expect(error).toMatchObject({ code: 'ERR_SPILLWAY_OPTION' })
      expect(error.message).toContain(words)
    }
  })
})

describe('reading back', () => {
  it('pages by line', async () => {
    const spill = store()
    const { id } = await spill.save('one\ntwo\nthree\nfour')
    expect(await spill.read(id, { line: 2, lines: 2 })).toEqual({
      text: 'two\nthree\n',
      line: 2,
      byte: 4,
      totalLines: 4,
      totalBytes: 18,
      nextLine: 4,
      nextByte: 14,
    })
    expect(await spill.read(id, { line: 4 })).toMatchObject({ text: 'four', line: 4, byte: 14 })
    expect(await spill.read(id, { line: 99 })).toMatchObject({ text: '', byte: 18 })
    expect((await spill.read(id, { line: 3, byte: 1 })).text).toBe('ne\ntwo\nthree\nfour')
  })

  it('gives at most 40,960 bytes unless more is asked for', async () => {
    const spill = store()
    const { id } = await spill.save('0123456789\n'.repeat(10_000))
    const page = await spill.read(id)
    expect(page.text).toHaveLength(Math.floor(40_960 / 11) * 11)
    expect(page.nextLine).toBe(Math.floor(40_960 / 11) + 1)
    expect((await spill.read(id, { maxBytes: 100_000 })).text).toHaveLength(Math.floor(100_000 / 11) * 11)
    expect((await spill.read(id, { maxBytes: Number.POSITIVE_INFINITY })).text).toHaveLength(110_000)
  })

  it('pages through a line of 24 MB by byte', { tags: 'long' }, async () => {
    const spill = store()
    const line = '{"key": "漢字😀"}, '.repeat(1_050_000)
    const { id, bytes } = await spill.save(line)
    expect(bytes).toBeGreaterThan(24_000_000)
    const first = await spill.read(id)
    expect(first.nextLine).toBeUndefined()
    expect(Buffer.byteLength(first.text)).toBeGreaterThan(40_950)
    expect(await all(spill, id, 5_000_000)).toBe(line)
    const middle = await spill.read(id, { byte: 12_000_001, maxBytes: 100 })
    expect(middle).toMatchObject({ line: 1, totalLines: 1, totalBytes: bytes })
    expect(line).toContain(middle.text)
  })

  it('searches plain texts and regular expressions', async () => {
    const spill = store()
    const { id } = await spill.save('ok 1\nError: [a](b)\r\nok 2\nerror: ÄÖ\nok 3\n')
    const lines = async (...search: [string, object?]) =>
      (await spill.search(id, ...search)).map(({ line }) => line)
    expect(await spill.search(id, '[a](b)', { context: 1 })).toEqual([
      { line: 2, byte: 12, text: 'Error: [a](b)', before: ['ok 1'], after: ['ok 2'] },
    ])
    expect(await lines('[a](b)', { regex: true })).toEqual([])
    expect(await lines('error')).toEqual([4])
    expect(await lines('error', { ignoreCase: true })).toEqual([2, 4])
    expect(await lines('äö', { ignoreCase: true })).toEqual([4])
    expect(await lines('^ok \\d$', { regex: true })).toEqual([1, 3, 5])
    expect(await lines('ok', { max: 2 })).toEqual([1, 3])
    expect(await lines('ok', { line: 2 })).toEqual([3, 5])
    expect(await lines('(?i)^ERROR.*b\\)$', { regex: true })).toEqual([2])
    expect(await lines('\\<error\\>', { regex: true })).toEqual([4])
  })

  it('knows the case and the classes of Unicode', async () => {
    const spill = store()
    const { id } = await spill.save('ÉÉ\nПРИВЕТ, мир\nélève\n漢字\n\xa0\n٣٤\n')
    const lines = async (pattern: string, ignoreCase = false) =>
      (await spill.search(id, pattern, { regex: true, ignoreCase })).map(({ line }) => line)
    expect(await lines('é+', true)).toEqual([1, 3])
    expect(await lines('(?i)^éé$')).toEqual([1])
    expect(await lines('[а-я]+ет', true)).toEqual([2])
    expect(await lines('^\\w+$')).toEqual([1, 3, 4, 6])
    expect(await lines('\\bмир\\b')).toEqual([2])
    expect(await lines('\\bve\\b')).toEqual([])
    expect(await lines('^\\s$')).toEqual([5])
    expect(await lines('^\\d+$')).toEqual([6])
    expect(await lines('\\p{Han}')).toEqual([4])
    expect(await lines('(?-u:^\\w)')).toEqual([])
  })

  it('searches lines that are not UTF-8', async () => {
    const spill = store()
    const { id } = await spill.save(Buffer.from('one\n\xff\xfe Error 7 \xe6\xbc\ntwo\n', 'latin1'))
    const found = { line: 2, byte: 7, text: '\ufffd\ufffd Error 7 \ufffd', before: [], after: [] }
    for (const regex of [true, false])
      expect(await spill.search(id, 'error 7', { regex, ignoreCase: true })).toEqual([found])
    expect(await spill.search(id, 'Error \\d .$', { regex: true })).toEqual([])
    expect(await spill.search(id, 'Error \\d (?-u:..)$', { regex: true })).toEqual([found])
  })

  it('shows of a long line what is around the match, and how to get there', async () => {
    const spill = store()
    const line = `${'漢'.repeat(4_000_000)}needle${'x'.repeat(12_000_000)}`
    const { id } = await spill.save(`short\n${line}\nshort\n`)
    const [match] = await spill.search(id, 'needle', { context: 2 })
    expect(match?.text).toMatch(/^\[\+\d+ bytes\]漢+needlex+\[\+\d+ bytes\]$/)
    expect(Buffer.byteLength(match?.text ?? '')).toBeLessThan(600)
    expect(match).toMatchObject({ line: 2, before: ['short'], after: ['short'] })
    expect((await spill.read(id, { byte: match?.byte ?? 0, maxBytes: 8 })).text).toBe('needlexx')
  })

  it('keeps the answer of a search within its bounds', async () => {
    const spill = store()
    const { id } = await spill.save(`${'error '.repeat(400)}\n`.repeat(5_000))
    const size = (found: Awaited<ReturnType<SpillStore['search']>>) =>
      found.flatMap(({ text, before, after }) => [text, ...before, ...after]).join('\n').length
    for (const options of [
      {},
      { max: 1_000 },
      { max: 1_000, context: 100 },
      { max: Number.POSITIVE_INFINITY },
    ]) {
      const found = await spill.search(id, 'error', options)
      expect(size(found)).toBeLessThanOrEqual(40_960)
      expect(found.length).toBeGreaterThan(50)
    }
    expect(await spill.search(id, 'e', { max: 3, context: 100 })).toHaveLength(3)
    const blank = await spill.save(`m${'\n'.repeat(120)}`.repeat(1_000))
    const found = await spill.search(blank.id, 'm', { max: 1_000, context: 100 })
    expect(found).toHaveLength(1_000)
    expect(size(found)).toBeLessThanOrEqual(40_960)
  })

  it('takes hostile expressions in its stride', async () => {
    const spill = store()
    const { id } = await spill.save('a'.repeat(5_000_000))
    for (const pattern of [
      '(',
      '((a{1000}){1000}){1000}',
      'a{4000000000}',
      '(a)\\1',
      '(?=a)',
      `${'('.repeat(2_000)}`,
    ])
      expect(await codeOf(spill.search(id, pattern, { regex: true }))).toBe('ERR_SPILLWAY_OPTION')
    expect(await spill.search(id, '(a+)+$', { regex: true })).toHaveLength(1)
    expect(await spill.search(id, '(a|aa)+b', { regex: true })).toEqual([])
  })

  it('ends large expressions within a long line before it would give up', async () => {
    const spill = store()
    const { id } = await spill.save(`${'a'.repeat(127 * 1_024)}!\n`)
    for (const pattern of [
      '[a-z]{0,900}[a-y]{0,900}z$',
      '(?:|a|a|a|a|a|a|a|a){0,300}Z',
      '(?:a?){1000}a{1000}b',
      '(?:[a-z]?[a-y]?[a-x]?){0,420}Z',
      '(?:a|aa|aaa|aaaa){0,400}Z',
    ])
      expect(await spill.search(id, pattern, { regex: true })).toEqual([])
  })
})

describe('a sweep', () => {
  it('removes what is too old, then the oldest until the rest fits, and nothing young or retained', async () => {
    const spill = store({ maxTotalBytes: 2_500 })
    const records: SpillRecord[] = []
    for (const days of [9, 8, 3, 2, 1, 0]) {
      const record = await spill.save(String(days).repeat(1_000))
      aged(record, days * DAY)
      records.push(record)
    }
    const [oldest, ...rest] = records
    expect(await spill.sweep({ retain: [oldest?.id ?? ''] })).toEqual({ removed: 4, bytes: 4_000 })
    expect((await spill.list()).map(({ id }) => id)).toEqual([oldest?.id, rest.at(-1)?.id])
    expect(await spill.sweep()).toEqual({ removed: 1, bytes: 1_000 })
  })

  it('removes nothing that is younger than minAge', async () => {
    const spill = store({ maxTotalBytes: 0, maxAge: 0, minAge: HOUR })
    const young = await spill.save('x')
    const old = await spill.save('y')
    aged(young, HOUR - 60_000)
    aged(old, HOUR + 60_000)
    expect(await spill.sweep()).toEqual({ removed: 1, bytes: 1 })
    expect(await spill.list()).toEqual([young])
  })

  it('comes by itself before the first file, and not at once again', async () => {
    const dir = place()
    const old = await store({ dir }).save('x')
    aged(old, 8 * DAY)
    const spill = store({ dir })
    expect(await spill.list()).toEqual([old])
    const first = await spill.save('y')
    expect(await spill.list()).toEqual([first])
    aged(first, 8 * DAY)
    const second = await spill.save('z')
    expect(await spill.list()).toEqual([first, second])
  })

  it('leaves what is not its own', async () => {
    const spill = store({ minAge: 0, maxAge: 0 })
    const { id, path } = await spill.save('x')
    const others = [
      'notes.txt',
      `${id}`,
      `${id}.bash.txt`,
      `${id}.bash.1b.1l.txt.gz`,
      'FFFFFFFFFFFFFFFF.bash.part',
    ]
    for (const other of others) writeFileSync(join(spill.dir, other), 'x')
    mkdirSync(join(spill.dir, '1111111111111111.bash.1b.1l.txt'))
    symlinkSync(path, join(spill.dir, '2222222222222222.bash.1b.1l.txt'))
    expect(await spill.list()).toHaveLength(1)
    expect(await spill.sweep()).toEqual({ removed: 1, bytes: 1 })
    expect(filesIn(spill.dir)).toHaveLength(others.length + 2)
  })

  it('goes together with other sweeps while outputs are saved', { tags: 'long' }, async () => {
    const dir = place()
    const sweeping = `
      const { createSpillStore } = require('spillway')
      const store = createSpillStore({ dir: process.argv[1], minAge: 0, maxTotalBytes: 3_000 })
      let [removed, ended] = [0, false]
      process.stdin.once('data', () => { ended = true })
      const run = async () => {
        while (!ended) removed += (await store.sweep()).removed
        console.log(removed)
      }
      run().then(() => process.exit(), (error) => { console.log(error); process.exit() })
      console.log('ready')`
    const saving = `
      const { createSpillStore } = require('spillway')
      const store = createSpillStore({ dir: process.argv[1], minAge: 0 })
      const run = async () => {
        let lost = 0
        for (let at = 0; at < 300; at++) {
          const record = await store.save('x'.repeat(at * 7) + '\\n')
          if (!record.complete) throw record
          await store.read(record.id).catch((error) => { if (error.code !== 'ERR_SPILLWAY_SPILL') throw error; lost++ })
        }
        console.log(lost)
      }
      run().catch((error) => console.log(error))`
    const sweepers = [start(sweeping, dir), start(sweeping, dir)]
    for (const sweeper of sweepers) await until(() => sweeper.printed().includes('ready'))
    const lost = Number(await start(saving, dir).done)
    for (const { child } of sweepers) child.stdin.write('end')
    const removed = await Promise.all(
      sweepers.map(async ({ done }) => Number((await done).replace('ready', ''))),
    )
    const left = await store({ dir }).list()
    // Every file went exactly once, or is still there.
    expect((removed[0] as number) + (removed[1] as number) + left.length).toBe(300)
    expect(left.every(({ complete }) => complete)).toBe(true)
    expect(lost).toBeLessThan(300)
  })
})

describe('faults', () => {
  it('knows in a new process what is complete, and what its writer left behind', {
    tags: 'long',
  }, async () => {
    const dir = place()
    const script = `
      const { createSpillStore } = require('spillway')
      const store = createSpillStore({ dir: process.argv[1], maxFileBytes: Infinity })
      const run = async () => {
        await store.save('whole\\n')
        store.save(Buffer.alloc(1_000_000_000, 'line\\n'))
      }
      run()`
    const { child, done } = start(script, dir)
    const part = () => (existsSync(dir) ? readdirSync(dir) : []).find((file) => file.endsWith('.part'))
    await until(
      () => (statSync(join(dir, part() ?? '-'), { throwIfNoEntry: false })?.size as number) > 1_000_000,
    )
    // While its writer is there it is not swept, however old or large.
    child.kill('SIGSTOP')
    await until(() => isStopped(child.pid ?? 0))
    const spill = store({ dir, maxAge: 0, minAge: 0, maxTotalBytes: 0 })
    expect(await spill.sweep()).toEqual({ removed: 1, bytes: 6 })
    const [running] = await spill.list()
    expect(running).toMatchObject({ complete: false })
    child.kill('SIGKILL')
    await done
    const [left] = await spill.list()
    expect(left).toEqual(running)
    expect(left?.lines).toBe(Math.ceil((left?.bytes ?? 0) / 5))
    expect(await spill.read(left?.id ?? '', { line: 7, lines: 1 })).toMatchObject({ text: 'line\n' })
    expect(await spill.sweep()).toEqual({ removed: 1, bytes: left?.bytes })
  })

  it('counts a file that was cut short as not complete', async () => {
    const spill = store()
    const saved = await spill.save('one\ntwo\n')
    truncateSync(saved.path, 5)
    expect(await spill.list()).toEqual([{ ...saved, complete: false }])
    expect(await spill.read(saved.id)).toMatchObject({ text: 'one\nt', totalBytes: 5, totalLines: 2 })
  })

  it('leaves no file when the disk is full or cannot be written', () => {
    const dir = place()
    mkdirSync(dir, { recursive: true })
    const script = `
      const { createSpillStore } = require('spillway')
      const { readdirSync } = require('fs')
      const [, dir] = process.argv
      const run = async () => {
        const codes = []
        for (const text of ['fits\\n', Buffer.alloc(20_000_000, 'x')])
          await createSpillStore({ dir: dir + '/outputs' }).save(text).then(() => codes.push('saved'), ({ code }) => codes.push(code))
        console.log(JSON.stringify([...codes, readdirSync(dir, { recursive: true }).length]))
      }
      run()`
    const run = (...[command = '', ...args]: string[]): unknown[] =>
      JSON.parse(
        execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }),
      )
    const after = (before: string) => [
      'sh',
      '-c',
      `${before} && exec "$@"`,
      'sh',
      process.execPath,
      '-e',
      script,
      dir,
    ]
    // The directory of the outputs, its secret, and the saved output.
    expect(run(...after('ulimit -f 2000'))).toEqual(['saved', 'EFBIG', 3])

    // A limit stands for a full disk where nothing may be mounted.
    const mounted = (options: string) => `mount -t tmpfs -o ${options} tmpfs '${dir}'`
    const unshared = ['unshare', '-rm']
    if (spawnSync('unshare', ['-rm', 'sh', '-c', mounted('ro')]).status !== 0) return
    expect(run(...unshared, ...after(mounted('size=4m,mode=0700')))).toEqual(['saved', 'ENOSPC', 3])
    expect(run(...unshared, ...after(mounted('ro')))).toEqual(['EROFS', 'EROFS', 0])
  })

  it('says why a directory cannot be written', async () => {
    const dir = place()
    mkdirSync(dir, { recursive: true })
    const nobody = 65_534
    if (isRoot) {
      chmodSync(join(dir, '..'), 0o755)
      chownSync(dir, nobody, nobody)
    }
    chmodSync(dir, 0o500)
    // No mode holds back root.
    const script = `
      const { createSpillStore } = require('spillway')
      if (process.getuid() === 0) process.seteuid(${nobody})
      const dir = process.argv[1]
      const codes = [dir, dir + '/new'].map((dir) => createSpillStore({ dir }).save('x').catch((error) => error.code + ' ' + error.path))
      Promise.all(codes).then((codes) => console.log(codes.join()))`
    expect(await start(script, dir).done).toBe(`EACCES ${dir},EACCES ${dir}/new\n`)
    expect(readdirSync(dir)).toEqual([])
  })

  it('follows no link, neither to a directory nor to a file', async () => {
    const spill = store()
    const saved = await spill.save('x\n')
    const secret = join(spill.dir, '../secret')
    writeFileSync(secret, 'y\n')
    rmSync(saved.path)
    symlinkSync(secret, saved.path)
    expect(await codeOf(spill.read(saved.id))).toBe('ERR_SPILLWAY_SPILL')
    expect(await codeOf(spill.search(saved.id, 'y'))).toBe('ERR_SPILLWAY_SPILL')
    expect(await spill.list()).toEqual([])

    const link = `${spill.dir}-link`
    symlinkSync(spill.dir, link)
    const linked = store({ dir: link, minAge: 0, maxAge: 0 })
    for (const call of [
      () => linked.save('x'),
      () => linked.list(),
      () => linked.sweep(),
      () => linked.read(saved.id),
    ])
      expect(await failureOf(call())).toMatchObject({
        code: 'ERR_SPILLWAY_SPILL',
        message: `outputs are not saved in ${link}, which is a symbolic link`,
      })
    expect(await codeOf(store({ dir: `${link}/.//` }).save('x'))).toBe('ERR_SPILLWAY_SPILL')
    symlinkSync(join(spill.dir, 'nowhere'), `${link}-dead`)
    expect(await codeOf(store({ dir: `${link}-dead` }).save('x'))).toBe('ERR_SPILLWAY_SPILL')
    expect(filesIn(spill.dir)).toHaveLength(1)
  })

  it('closes its own directory, and rejects a directory of others or with files of others', async () => {
    const open = place()
    mkdirSync(open, { recursive: true, mode: 0o755 })
    await store({ dir: open }).save('x')
    expect(statSync(open).mode & 0o777).toBe(0o700)
    chmodSync(open, 0o777)
    await store({ dir: open }).save('x')
    expect(statSync(open).mode & 0o777).toBe(0o700)

    const common = place()
    mkdirSync(common, { recursive: true, mode: 0o755 })
    writeFileSync(join(common, 'package.json'), '{}')
    expect(
      await store({ dir: common })
        .save('x')
        .catch((error) => error.message),
    ).toBe(
      `outputs are not saved in ${common}, which can be entered by other users, and holds other files than saved outputs`,
    )
    expect(statSync(common).mode & 0o777).toBe(0o755)

    let foreign = '/'
    if (isRoot) {
      foreign = place()
      mkdirSync(foreign, { recursive: true })
      chownSync(foreign, 12_345, 12_345)
    }
    const refused = {
      code: 'ERR_SPILLWAY_SPILL',
      message: expect.stringContaining('belongs to another user'),
    }
    expect(
      await store({ dir: foreign })
        .save('x')
        .catch((error) => error),
    ).toMatchObject(refused)
  })

  it('serves worker threads, also those that end while they save', async () => {
    const dir = place()
    const work = `
      const { parentPort, workerData } = require('node:worker_threads')
      const { createSpillStore } = require('spillway')
      const store = createSpillStore({ dir: workerData })
      store.save('x'.repeat(1_000_000)).then((record) => parentPort.postMessage(record))
      store.save(Buffer.alloc(60_000_000))`
    const workers = Array.from({ length: 3 }, () => new Worker(work, { eval: true, workerData: dir }))
    const records = await Promise.all(
      workers.map((worker) => new Promise<SpillRecord>((resolve) => worker.once('message', resolve))),
    )
    await Promise.all(workers.map((worker) => worker.terminate()))
    const listed = await store({ dir }).list()
    for (const record of records) expect(listed).toContainEqual(record)
    // A thread may still be at a save that its worker began.
    await until(async () => {
      const left = await store({ dir }).list()
      return left.every(({ id, complete, bytes }) =>
        complete ? bytes > 0 : records.every((record) => record.id !== id),
      )
    })
  })
})

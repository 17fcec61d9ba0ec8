// biome-ignore-all lint/suspicious/noExplicitAny: rows of several formats
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { type RepairOptions, repairSession } from 'spillway'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { goesRound } from '../support/wait.js'

const root = join(__dirname, '../..')
const all = mkdtempSync(join(tmpdir(), 'spillway-repair-'))
afterAll(() => rmSync(all, { recursive: true, force: true }))

let places = 0
const place = () => {
  const dir = join(all, String(places++))
  mkdirSync(dir)
  return dir
}

const result = (text: string) => ({ role: 'tool', tool_call_id: 'c', content: text })
const BIG = `${'line of output\n'.repeat(9_000)}the end`
const ROWS = [{ role: 'user', content: 'go' }, result(BIG), result('short')]
const textOf = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')

function session(text = textOf(ROWS)): string {
  const path = join(place(), 's.jsonl')
  writeFileSync(path, text)
  return path
}

const besides = (path: string) => readdirSync(join(path, '..')).sort()

/** Runs a script in a process of its own, with a path as its first argument. */
const node = (script: string, path: string) => [process.execPath, '-e', script, path] as const
const REPAIR = `require('spillway').repairSession(process.argv[1]).then((report) => report.changed, (error) => error.code)
  .then((outcome) => console.log(JSON.stringify(outcome)))`

function run([command, ...args]: readonly string[]): unknown {
  return JSON.parse(
    execFileSync(command as string, args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
}

describe('repairSession', () => {
  it('cuts what is over the limits, says what it did, and keeps the file as it was beside it', async () => {
    const path = session()
    const before = readFileSync(path, 'utf8')
    chmodSync(path, 0o640)
    const seen: unknown[] = []
    const hear = (report: unknown) => seen.push(report)
    subscribe('spillway:repair', hear)
    const report = await repairSession(path)
    unsubscribe('spillway:repair', hear)
    const after = readFileSync(path, 'utf8')
    expect(report).toEqual({
      changed: true,
      rows: 3,
      clamped: 1,
      damaged: 0,
      tornTail: false,
      bytesBefore: before.length,
      bytesAfter: after.length,
      unmatched: 0,
      backupPath: `${path}.bak`,
    })
    expect(seen).toEqual([{ path, ...report }])
    const [first, cut, last] = after.split('\n')
    const [was, , same] = before.split('\n')
    expect([first, last]).toEqual([was, same])
    const text = JSON.parse(cut as string).content
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(51_200)
    expect(text).toMatch(/^line of output\n[\s\S]*\[\.\.\. \d+ more characters truncated\]/)
    expect(statSync(path).mode & 0o777).toBe(0o640)
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(before)
    expect(besides(path)).toEqual(['s.jsonl', 's.jsonl.bak', 's.jsonl.bak.latest', 's.jsonl.bak.note'])

    const second = await repairSession(path, { maxBytes: 500 })
    expect(second).toMatchObject({ changed: true, backupPath: `${path}.bak.latest` })
    expect(readFileSync(`${path}.bak`, 'utf8')).toBe(before)
    expect(readFileSync(`${path}.bak.latest`, 'utf8')).toBe(after)
  })

  it('leaves a file alone that has nothing to do', async () => {
    const path = session(textOf([ROWS[0], ROWS[2]]))
    const { ino, mtimeMs } = statSync(path)
    expect(await repairSession(path)).toMatchObject({ changed: false, reason: 'nothing to do', rows: 2 })
    expect(statSync(path)).toMatchObject({ ino, mtimeMs })
    expect(besides(path)).toEqual(['s.jsonl'])
    for (const text of ['', '\n \n', '{"type":"session","version":3}\n', '\ufeff'])
      expect(await repairSession(session(text))).toMatchObject({ changed: false, reason: 'empty session' })
  })

  it('says in a dry run what it would do', async () => {
    const path = session(textOf(ROWS).trimEnd())
    const before = readFileSync(path, 'utf8')
    const dry = await repairSession(path, { dryRun: true })
    expect(dry).toMatchObject({ changed: false, reason: 'dry run', clamped: 1, tornTail: true })
    expect(besides(path)).toEqual(['s.jsonl'])
    expect(readFileSync(path, 'utf8')).toBe(before)
    const { bytesAfter } = await repairSession(path, { backup: false })
    expect(dry.bytesAfter).toBe(bytesAfter)
    expect(besides(path)).toEqual(['s.jsonl'])
  })

  it('ends a torn last line, and keeps it', async () => {
    const torn = '{"role":"user","content":"half'
    const path = session(`${textOf([ROWS[0]])}${torn}`)
    expect(await repairSession(path)).toMatchObject({ changed: true, tornTail: true, rows: 2, clamped: 0 })
    expect(readFileSync(path, 'utf8')).toBe(`${textOf([ROWS[0]])}${torn}\n`)
    expect(await repairSession(path)).toMatchObject({ changed: false, tornTail: false })
  })

  it('reads rows of Pi and OpenClaw in every version, and of Claude Code with both copies of a text', async () => {
    const pi = (message: object, id?: string) => ({
      type: 'message',
      ...(id && { id, parentId: null }),
      message,
    })
    const piResult = {
      role: 'toolResult',
      toolCallId: 'c',
      content: [{ type: 'text', text: BIG }],
      details: { raw: BIG },
    }
    for (const version of [undefined, 2, 3]) {
      const header = { type: 'session', ...(version && { version }), id: 's' }
      const custom = {
        type: 'custom',
        customType: 'x',
        data: { role: 'tool', tool_call_id: 'c', content: BIG },
      }
      const rows = [
        header,
        custom,
        pi(piResult, version ? 'a1' : undefined),
        { type: 'leaf', id: 'l', targetId: 'a1' },
      ]
      const path = session(textOf(rows))
      expect(await repairSession(path)).toMatchObject({ changed: true, clamped: 1, rows: 4 })
      const left = readFileSync(path, 'utf8')
        .trimEnd()
        .split('\n')
        .map((row) => JSON.parse(row) as any)
      expect(left.map(({ message, ...row }) => row)).toEqual(rows.map(({ message, ...row }: any) => row))
      expect(left[2].message.content[0].text.length).toBeLessThanOrEqual(51_200)
      expect(JSON.stringify(left[2].message.details).length).toBeLessThanOrEqual(8_192)
    }
    const claude = {
      type: 'user',
      uuid: 'u',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: BIG }] },
      toolUseResult: { stdout: BIG, stderr: '', interrupted: false },
    }
    const path = session(textOf([claude]))
    await repairSession(path)
    const row = JSON.parse(readFileSync(path, 'utf8'))
    expect(row.message.content[0].content.length).toBeLessThanOrEqual(51_200)
    expect(JSON.stringify(row.toolUseResult).length).toBeLessThanOrEqual(8_192)
    expect(row.toolUseResult).toMatchObject({ stderr: '', interrupted: false })
  })

  it('writes no row anew for a few bytes of side data, unless their size is given', async () => {
    const row = (bytes: number) => ({
      role: 'toolResult',
      toolCallId: 'c',
      content: 'ok',
      details: 'd'.repeat(bytes - 2),
    })
    const path = session(textOf([row(9_216)]))
    expect(await repairSession(path)).toMatchObject({ changed: false })
    expect(await repairSession(path, { sideData: { maxBytes: 8_192 } })).toMatchObject({
      changed: true,
      clamped: 1,
    })
    const over = session(textOf([row(9_217)]))
    expect(await repairSession(over)).toMatchObject({ changed: true })
    expect(JSON.stringify(JSON.parse(readFileSync(over, 'utf8')).details).length).toBeLessThanOrEqual(8_192)
  })

  it('tells what it is given wrong', async () => {
    const path = session()
    const wrong: [string, object][] = [
      ['notice', { notice: () => 'gone' }],
      ['backup', { backup: 'no' }],
      ['dryRun', { dryRun: 1 }],
      ['lock', { lock: 0 }],
      ['lockTimeout', { lockTimeout: -1 }],
      ['signal', { signal: {} }],
      ['onProgress', { onProgress: true }],
      ['maxBytes', { maxBytes: -1 }],
      ['sideData', { sideData: 'some' }],
      ['dialect', { dialect: 'cobol' }],
    ]
    for (const [field, options] of wrong)
      await expect(repairSession(path, options)).rejects.toMatchObject({
        code: 'ERR_SPILLWAY_OPTION',
        message: expect.stringContaining(field),
      })
    for (const path of ['', 'a\0b', 7, undefined])
      await expect(repairSession(path as string)).rejects.toMatchObject({ code: 'ERR_SPILLWAY_OPTION' })
    expect(besides(path)).toEqual(['s.jsonl'])
  })

  it('leaves a file without session rows alone', async () => {
    const row = { event: 'log', payload: { lines: BIG } }
    const others = [
      '{"compilerOptions":{"strict":true}}',
      '[1, 2]',
      textOf([row, row]),
      'a log\n'.repeat(9_000),
    ]
    for (const text of others) {
      const path = session(text)
      const { ino, mtimeMs } = statSync(path)
      for (const dryRun of [true, false])
        expect(await repairSession(path, { dryRun })).toMatchObject({
          changed: false,
          reason: 'format unknown',
          tornTail: false,
          bytesAfter: text.length,
        })
      expect(statSync(path)).toMatchObject({ ino, mtimeMs })
      expect(besides(path)).toEqual(['s.jsonl'])
    }
    // One row that is known makes it a session.
    expect(await repairSession(session(textOf([row, ...ROWS])))).toMatchObject({ changed: true, clamped: 1 })
  })

  it('tells what is not a session', async () => {
    const dir = place()
    const missing = join(dir, 'none.jsonl')
    await expect(repairSession(missing)).rejects.toMatchObject({ code: 'ENOENT', path: missing })
    for (const path of [dir, `${dir}/`, '.', '..', '/'])
      await expect(repairSession(path)).rejects.toMatchObject({ code: 'EISDIR', path })
    await expect(repairSession('/dev/null')).rejects.toMatchObject({ code: 'ERR_SPILLWAY_FORMAT' })
    for (const start of [
      Buffer.from('SQLite format 3\0'),
      Buffer.from([0x1f, 0x8b, 8]),
      Buffer.from('\ufeff{', 'utf16le'),
    ]) {
      const path = session()
      writeFileSync(path, Buffer.concat([start, Buffer.alloc(100_000, 'x')]))
      await expect(repairSession(path)).rejects.toMatchObject({ code: 'ERR_SPILLWAY_FORMAT' })
      expect(besides(path)).toEqual(['s.jsonl'])
    }
    if (spawnSync('mkfifo', [join(dir, 'pipe')]).status === 0)
      await expect(repairSession(join(dir, 'pipe'))).rejects.toMatchObject({ code: 'ERR_SPILLWAY_FORMAT' })
  })

  it('stops when asked to, and tells how far it has come', { tags: 'long' }, async () => {
    const path = session(textOf(Array.from({ length: 500 }, () => ROWS).flat()))
    const before = readFileSync(path, 'utf8')
    const reason = new Error('enough')
    await expect(repairSession(path, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    // As that of another realm is to this one.
    const elsewhere: any = {
      aborted: true,
      addEventListener() {},
      removeEventListener() {},
      throwIfAborted() {
        throw reason
      },
    }
    await expect(repairSession(path, { signal: elsewhere })).rejects.toBe(reason)
    const controller = new AbortController()
    const stopped = repairSession(path, { signal: controller.signal })
    controller.abort(reason)
    await expect(stopped).rejects.toBe(reason)
    expect(besides(path)).toEqual(['s.jsonl'])
    expect(readFileSync(path, 'utf8')).toBe(before)
    const seen: any[] = []
    await repairSession(path, {
      onProgress: (progress) => {
        seen.push(progress)
        throw new Error('passed over')
      },
    })
    expect(seen.at(-1)).toEqual({
      bytes: before.length,
      totalBytes: before.length,
      rows: 1_500,
      clamped: 500,
    })
    for (const [at, { bytes }] of seen.entries()) expect(bytes).toBeGreaterThan(seen[at - 1]?.bytes ?? 0)
  })
})

describe('the place of a session', () => {
  it('stays a link, with the lock beside both names', async () => {
    const path = session()
    const link = join(place(), 'link.jsonl')
    symlinkSync(path, link)
    for (const name of [link, path]) {
      writeFileSync(
        `${name}.lock`,
        JSON.stringify({ pid: process.ppid, createdAt: new Date().toISOString() }),
      )
      await expect(repairSession(link, { lockTimeout: 0 })).rejects.toMatchObject({
        code: 'ERR_SPILLWAY_LOCKED',
      })
      rmSync(`${name}.lock`)
    }
    expect(await repairSession(link)).toMatchObject({ changed: true, backupPath: `${path}.bak` })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(readFileSync(link, 'utf8').length).toBeLessThan(60_000)
    expect(besides(link)).toEqual(['link.jsonl'])
    expect(besides(path)).toEqual(['s.jsonl', 's.jsonl.bak', 's.jsonl.bak.latest', 's.jsonl.bak.note'])
  })

  it('leaves other names of the file what they were', async () => {
    const path = session()
    linkSync(path, `${path}.other`)
    await repairSession(path, { backup: false })
    expect(readFileSync(`${path}.other`, 'utf8')).toBe(textOf(ROWS))
  })

  const isRoot = process.getuid?.() === 0
  const NOBODY = 65_534

  it('stays as it is where nothing can be written', () => {
    const path = session()
    const dir = join(path, '..')
    if (isRoot) {
      chmodSync(all, 0o755)
      chownSync(path, NOBODY, NOBODY)
      chownSync(dir, NOBODY, NOBODY)
    }
    chmodSync(dir, 0o500)
    // No mode holds back root.
    const become = `require('spillway'); if (process.getuid() === 0) { process.setegid(${NOBODY}); process.seteuid(${NOBODY}) };`
    expect(run(node(become + REPAIR, path))).toBe('EACCES')
    expect(run(node(become + REPAIR.replace('argv[1]', 'argv[1], { dryRun: true }'), path))).toBe(false)
    chmodSync(dir, 0o700)
    expect(besides(path)).toEqual(['s.jsonl'])
    expect(run(node(become + REPAIR, path))).toBe(true)
    if (isRoot) expect(statSync(path)).toMatchObject({ uid: NOBODY, gid: NOBODY })
    // Names may come and go in a directory that cannot be listed: what was repaired is not a
    // failure.
    writeFileSync(path, textOf(ROWS))
    chmodSync(dir, 0o300)
    expect(run(node(become + REPAIR, path))).toBe(true)
    chmodSync(dir, 0o700)
    expect(besides(path)).toEqual(['s.jsonl', 's.jsonl.bak', 's.jsonl.bak.latest', 's.jsonl.bak.note'])
  })

  it('stays as it is when the disk is full', { tags: 'long' }, () => {
    const rows = textOf(Array.from({ length: 400 }, () => [result(BIG), result('x'.repeat(3_000))]).flat())
    const path = session(rows)
    const limited = (limit: string, path: string) => [
      'sh',
      '-c',
      `${limit} && exec "$@"`,
      'sh',
      ...node(REPAIR, path),
    ]
    expect(run(limited('ulimit -f 2000', path))).toBe('EFBIG')
    expect(besides(path)).toEqual(['s.jsonl'])
    expect(readFileSync(path, 'utf8') === rows).toBe(true)
    // A limit stands for a full disk where nothing may be mounted.
    const dir = place()
    const small = `mount -t tmpfs -o size=60m tmpfs '${dir}' && cp '${path}' '${dir}/s.jsonl'`
    const check = `cmp '${path}' '${dir}/s.jsonl' && test "$(ls '${dir}')" = s.jsonl`
    if (spawnSync('unshare', ['-rm', 'sh', '-c', small]).status !== 0) return
    const script = `${small} && "$@" && ${check}`
    expect(run(['unshare', '-rm', 'sh', '-c', script, 'sh', ...node(REPAIR, join(dir, 's.jsonl'))])).toBe(
      'ENOSPC',
    )
  })

  it('is named in the error when rows could not be carried over', async () => {
    const late = 'the file was replaced; as it was, it is kept in s.jsonl.bak'
    // tests/session_faults/ has the engine say so.
    const failure = JSON.stringify({ code: 'EIO', message: 'full', errno: constants.errno.ENOSPC, late })
    const native = createRequire(__filename)('../../dist/spillway.node')
    const engine = vi.spyOn(native, 'repairSession').mockResolvedValue(failure)
    await expect(repairSession('s.jsonl')).rejects.toMatchObject({
      code: 'ENOSPC',
      message: `ENOSPC: no space left on device, 's.jsonl'; ${late}`,
    })
    engine.mockRestore()
  })
})

describe('the lock', () => {
  const lockOf = (path: string, content: string | object, age = 0) => {
    const lock = `${path}.lock`
    writeFileSync(lock, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
    const then = (Date.now() - age) / 1_000
    utimesSync(lock, then, then)
    return lock
  }
  const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
  /** The start time of a process in ticks, where the system tells it in /proc. */
  const startOf = (pid: number | undefined) =>
    existsSync('/proc/self/stat')
      ? Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19])
      : undefined
  const MINUTE = 60_000
  const DEAD = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }))

  it('of another that lives is waited for', async () => {
    const path = session()
    const child = spawn('sleep', ['60'])
    try {
      const held = { pid: child.pid, createdAt: ago(0) }
      for (const lock of [held, { ...held, starttime: startOf(child.pid) }]) {
        lockOf(path, lock)
        await expect(repairSession(path, { lockTimeout: 20 })).rejects.toMatchObject({
          code: 'ERR_SPILLWAY_LOCKED',
          message: expect.stringContaining(String(child.pid)),
        })
        expect(JSON.parse(readFileSync(`${path}.lock`, 'utf8'))).toEqual(lock)
      }
      const controller = new AbortController()
      const waiting = repairSession(path, { signal: controller.signal })
      controller.abort(new Error('no more'))
      await expect(waiting).rejects.toThrow('no more')
      const given = repairSession(path, { lockTimeout: 2 ** 31 })
      setTimeout(() => rmSync(`${path}.lock`), 100)
      expect(await given).toMatchObject({ changed: true })
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })

  it('that was left behind is taken', async () => {
    const self = { pid: process.pid, createdAt: ago(0) }
    for (const [lock, age] of [
      [{ pid: DEAD, createdAt: ago(0) }, 0],
      [{ pid: process.ppid, createdAt: ago(31 * MINUTE) }, 0],
      [{ ...self, pid: process.ppid, starttime: 1 }, 0],
      [{ ...self, starttime: 1 }, 0],
      [{ ...self, createdAt: '2020-01-01T00:00:00.000Z' }, 0],
      ['', 31 * MINUTE],
      ['{"pid":', 31 * MINUTE],
      ['{"pid":-4}', 31 * MINUTE],
    ] as const) {
      const path = session()
      lockOf(path, lock, age)
      expect(await repairSession(path, { lockTimeout: 0 }), JSON.stringify(lock)).toMatchObject({
        changed: true,
      })
      expect(existsSync(`${path}.lock`)).toBe(false)
    }
  })

  it('that says nothing yet is waited for', async () => {
    for (const content of ['', '{"pid":']) {
      const path = session()
      lockOf(path, content)
      await expect(repairSession(path, { lockTimeout: 0 })).rejects.toMatchObject({
        code: 'ERR_SPILLWAY_LOCKED',
        message: expect.stringContaining(`${path}.lock is held, and does not name its holder`),
      })
    }
  })

  it('that is a directory, as some libraries lock, is waited for', async () => {
    const path = session()
    mkdirSync(`${path}.lock`)
    const failed = repairSession(path, { lockTimeout: 0 })
    await expect(failed).rejects.toMatchObject({ code: 'ERR_SPILLWAY_LOCKED' })
    await expect(failed).rejects.toThrow(`${path}.lock`)
    setTimeout(() => rmdirSync(`${path}.lock`), 100)
    expect(await repairSession(path, { lockTimeout: 2 ** 31 })).toMatchObject({ changed: true })
  })

  it('of this process fails at once, unless the caller says that it is theirs', async () => {
    const path = session()
    const lock = lockOf(path, { pid: process.pid, createdAt: ago(0), starttime: startOf(process.pid) })
    const failed = repairSession(path, { lockTimeout: 2 ** 31 })
    await expect(failed).rejects.toMatchObject({ code: 'ERR_SPILLWAY_LOCKED' })
    await expect(failed).rejects.toThrow(/this process/)
    expect(await repairSession(path, { lock: false })).toMatchObject({ changed: true })
    expect(existsSync(lock)).toBe(true)
  })

  it('is read by others as OpenClaw writes it, and gone in the end', { tags: 'long' }, async () => {
    const path = session(textOf(Array.from({ length: 100 }, () => ROWS).flat()))
    let seen: any
    const repair = repairSession(path)
    for (let look = 0; look < 5_000 && !seen; look++) {
      try {
        seen = JSON.parse(readFileSync(`${path}.lock`, 'utf8'))
      } catch (error: any) {
        // It is there whole, or not at all.
        expect(error.code).toBe('ENOENT')
        await new Promise(setImmediate)
      }
    }
    await repair
    expect(seen).toMatchObject({ pid: process.pid, starttime: startOf(process.pid) })
    expect(new Date(seen.createdAt).toISOString()).toBe(seen.createdAt)
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('lets one of several processes repair at a time', { tags: 'long' }, async () => {
    const path = session(textOf(Array.from({ length: 200 }, () => ROWS).flat()))
    // On a busy machine the others may take longer than one waits by default.
    const script = REPAIR.replace('argv[1]', 'argv[1], { lockTimeout: 100_000 }')
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const [command, ...args] = node(script, path)
        const child = spawn(command as string, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
        let out = ''
        child.stdout.on('data', (data) => {
          out += data
        })
        await once(child, 'close')
        return JSON.parse(out) as unknown
      }),
    )
    expect(outcomes.sort()).toEqual([false, false, false, false, true])
    expect(besides(path)).toEqual(['s.jsonl', 's.jsonl.bak', 's.jsonl.bak.latest', 's.jsonl.bak.note'])
    expect(readFileSync(`${path}.bak`, 'utf8').length).toBeGreaterThan(20_000_000)
  })
})

describe('files that are large', () => {
  it('are repaired however many rows they have, or how long one is', { tags: 'long' }, async () => {
    const tiny = `{"role":"tool","tool_call_id":"c","content":"ok"}\n`
    const path = session(tiny.repeat(300_000) + textOf([result(BIG)]) + tiny.repeat(100_000))
    expect(await repairSession(path, { backup: false })).toMatchObject({
      rows: 400_001,
      clamped: 1,
      changed: true,
    })
    const long = session(textOf([ROWS[0], result('x'.repeat(120_000_000)), ROWS[2]]))
    expect(await repairSession(long, { backup: false })).toMatchObject({ rows: 3, clamped: 1 })
    expect(statSync(long).size).toBeLessThan(60_000)
  })

  it('block nothing else', { tags: 'long' }, async () => {
    const path = session(textOf(Array.from({ length: 300 }, () => ROWS).flat()))
    expect(await goesRound(() => repairSession(path, { backup: false } satisfies RepairOptions))).toBe(true)
  })
})

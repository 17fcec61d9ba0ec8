import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { createSpillStore, measureText, OutputCapture } from 'spillway'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { turns, until } from '../support/wait.js'

const root = join(__dirname, '../..')
const started: ChildProcess[] = []
const made: string[] = []

afterAll(() => {
  for (const child of started) child.kill('SIGKILL')
  for (const dir of made) rmSync(dir, { recursive: true, force: true })
})

function run(command: string, ...args: string[]): ChildProcess {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  started.push(child)
  return child
}

/** Runs a script of the shell. */
const sh = (script: string) => run('sh', '-c', script)

/** Runs a script of Node. */
const node = (script: string, ...args: string[]) => {
  const child = spawn(process.execPath, ['-e', script, ...args], {
    cwd: root,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  started.push(child)
  return child
}

function store() {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
  made.push(dir)
  return createSpillStore({ dir, maxFileBytes: Number.POSITIVE_INFINITY })
}

const MB = 1_000_000

describe('a child', () => {
  it('is captured to its end, with both streams and its exit code', async () => {
    const result = await new OutputCapture().attach(sh('echo out; echo err >&2; exit 3'))
    expect(result).toMatchObject({
      total: { bytes: 8, chars: 8, lines: 2 },
      exit: { exitCode: 3, signal: null },
      truncated: false,
      binary: false,
    })
    expect(result.text.split('\n').sort()).toEqual(['[exit code 3]', 'err', 'out'])
  })

  it('that fails shows its one error among 50,000 lines', { tags: 'long' }, async () => {
    const build = `
      for (let at = 1; at <= 50_000; at++) {
        console.log(\`[\${at}/50000] Compiling src/module_\${(at * 7919) % 50000}.ts\`)
        if (at === 31_007) console.log('src/cart.ts:7:3 - error TS2304: Cannot find name total.')
      }
      process.exitCode = 2`
    for (const keep of ['findings', 'auto'] as const) {
      const spill = store()
      const { text, spill: record } = await new OutputCapture({ keep, spill }).attach(node(build))
      expect(text).toContain('\nsrc/cart.ts:7:3 - error TS2304: Cannot find name total.\n')
      expect(text).toContain('[1/50000] Compiling')
      expect(text).toMatch(/\n\[exit code 2\]$/)
      expect(measureText(text)).toMatchObject({ lines: expect.any(Number) })
      expect(measureText(text).bytes).toBeLessThanOrEqual(51_200)
      expect(record).toMatchObject({ lines: 50_001, complete: true })
    }
  })

  it('that prints 20 MB to one stream has all of the other in the text', { tags: 'long' }, async () => {
    const script = `
      const line = 'a line of progress that says nothing\\n'
      const some = line.repeat(1000)
      console.error('note: config.json is deprecated')
      const more = (left) => left > 0 ? process.stdout.write(some, () => more(left - some.length)) : console.error('3 files written')
      more(20 * 1e6)`
    const capture = new OutputCapture({ streams: 'separate' })
    const { text, stdout, stderr, total } = await capture.attach(node(script))
    expect(stderr).toBe('note: config.json is deprecated\n3 files written\n')
    expect(text).toContain(`stderr:\n${stderr}[exit code 0]`)
    expect(stdout).toMatch(/^a line of progress/)
    expect(total.bytes).toBeGreaterThan(20 * MB)
    const merged = await new OutputCapture({ clean: false }).attach(
      sh('echo "Error: no space left" >&2; yes "more and more of it" | head -c 20000000; exit 1'),
    )
    expect(merged.text).toContain('Error: no space left\n')
    expect(merged.text).toMatch(/\n\[exit code 1\]$/)
    expect(merged.total.bytes).toBe(20 * MB + 21)
  })

  it('is slowed, and nothing of it lost, where its output is saved', async () => {
    const spill = store()
    const capture = new OutputCapture({ spill, clean: false, keep: 'ends' })
    const child = sh('seq 1 3000000')
    const { spill: record, total } = await capture.attach(child)
    const whole = readFileSync(record?.path ?? '', 'latin1')
    expect(record).toMatchObject({ bytes: total.bytes, lines: 3_000_000, complete: true })
    expect(whole.startsWith('1\n2\n3\n') && whole.endsWith('\n2999999\n3000000\n')).toBe(true)
    expect(whole.length).toBe(total.bytes)
  })

  it('that is killed is reported with its signal', async () => {
    const child = sh('echo started; exec sleep 60')
    const capture = new OutputCapture()
    const done = capture.attach(child)
    await once(child.stdout ?? child, 'data')
    expect(capture.snapshot().text).toBe('started\n')
    child.kill('SIGKILL')
    expect(await done).toMatchObject({
      text: 'started\n[killed by SIGKILL]',
      exit: { exitCode: null, signal: 'SIGKILL' },
    })
  })

  it('that does not exist rejects with its error', async () => {
    const capture = new OutputCapture({ spill: store() })
    await expect(capture.attach(run('no-such-command-anywhere'))).rejects.toMatchObject({
      code: 'ENOENT',
      syscall: 'spawn no-such-command-anywhere',
    })
    expect(await capture.finish()).toMatchObject({ text: '', truncated: false })
  })

  it('that did not exist rejects with the same error when the error comes late', async () => {
    const child = run('no-such-command-anywhere', 'at all')
    const [error] = await once(child, 'error').catch((error) => [error])
    const late = await new OutputCapture().attach(child).catch((error) => error)
    expect(late).toEqual(error)
    expect({ ...late }).toEqual({ ...error })
  })

  it('that closes stdout early is waited for', async () => {
    const script = `
      process.stdout.write('before', () => require('fs').closeSync(1))
      process.stdin.on('end', () => console.error('after')).resume()`
    const child = node(script)
    child.stdout?.once('end', () => child.stdin?.end())
    const result = await new OutputCapture({ streams: 'separate' }).attach(child)
    expect(result).toMatchObject({ stdout: 'before', stderr: 'after\n', exit: { exitCode: 0 } })
  })

  it('that leaves its pipes to a grandchild is not waited for longer than the grace', async () => {
    const { text } = await new OutputCapture().attach(sh('sleep 60 & echo $!'), { graceMs: 20 })
    expect(text).toMatch(/^\d+\n\[exit code 0\]$/)
    const grandchild = Number.parseInt(text, 10)
    // It goes on.
    expect(process.kill(grandchild, 0)).toBe(true)
    process.kill(grandchild)
  })

  it('is heard through a grandchild within the grace', async () => {
    const child = spawn('sh', ['-c', 'exec 3<&0; (read line <&3; echo late) & echo early'])
    const done = new OutputCapture().attach(child, { graceMs: 60_000 })
    await once(child, 'exit')
    child.stdin.end('\n')
    expect((await done).text).toBe('early\nlate\n[exit code 0]')
  })

  it('is waited for longer where its output waits to be taken', async () => {
    const capture = new OutputCapture()
    capture.stdout.cork()
    let isDone = false
    const done = capture.attach(sh('sleep 60 & echo $!'), { graceMs: 20 }).finally(() => {
      isDone = true
    })
    // Others, started later, are let go of after the same grace.
    for (let times = 0; times < 3; times++) {
      const { text } = await new OutputCapture().attach(sh('sleep 60 & echo $!'), { graceMs: 20 })
      process.kill(Number.parseInt(text, 10))
    }
    expect(isDone).toBe(false)
    capture.stdout.uncork()
    const { text } = await done
    process.kill(Number.parseInt(text, 10))
    expect(text).toMatch(/^\d+\n\[exit code 0\]$/)
  })

  it('is waited for where something else reads its output slowly, a chunk within each grace', async () => {
    // Time passes as the reader takes chunks, whatever the machine does meanwhile.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const stdout = new PassThrough()
      const given = { stdout, stderr: null, exitCode: null, signalCode: null }
      const child = Object.assign(new EventEmitter(), given) as unknown as ChildProcess
      const write = async (_chunk: unknown, _encoding: string, done: () => void) => {
        await turns()
        vi.advanceTimersByTime(900)
        await turns()
        done()
      }
      const captured = new OutputCapture().attach(child, { graceMs: 1_000 })
      const read = once(stdout.pipe(new Writable({ highWaterMark: 1, write })), 'finish')
      for (let chunk = 0; chunk < 20; chunk++) stdout.write(`chunk ${chunk}\n`)
      child.emit('exit', 1, null)
      stdout.end('error: the last line\n')
      const { text, total } = await captured
      await read
      expect(total.lines).toBe(21)
      expect(text).toMatch(/error: the last line\n\[exit code 1\]$/)
    } finally {
      vi.useRealTimers()
    }
  })

  it('may print to a stream that was ended, which throws nothing', async () => {
    const capture = new OutputCapture()
    capture.stdout.end('before\n')
    expect((await capture.attach(sh('echo lost; echo kept >&2'))).text).toBe('before\nkept\n[exit code 0]')
  })

  it('may go on to print through a grandchild, which nobody has to hear', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
    made.push(dir)
    const count = join(dir, 'count')
    const child = sh(`(while :; do echo more; echo >>${count}; sleep 0.01; done) & echo $!`)
    const { text } = await new OutputCapture({ clean: false }).attach(child, { graceMs: 20 })
    const size = () => statSync(count, { throwIfNoEntry: false })?.size ?? 0
    const before = size()
    await until(() => size() > before + 10)
    process.kill(Number(text.match(/\d+/)?.[0]))
  })

  it('is let go of with all that listened to it, but that an error of its stream harms nobody', async () => {
    const child = sh('sleep 60 & echo $!')
    const { stdout } = child
    const heard = () =>
      Object.fromEntries(stdout?.eventNames().map((name) => [name, stdout.listenerCount(name)]) ?? [])
    const before = heard()
    const { text } = await new OutputCapture().attach(child, { graceMs: 20 })
    process.kill(Number.parseInt(text, 10))
    expect(heard()).toEqual({ ...before, error: 1 })
    stdout?.emit('error', new Error('EIO'))
  })

  it('keeps no host running by a grandchild', async () => {
    const script = `
      const { OutputCapture } = require('spillway')
      const child = require('node:child_process').spawn('sh', ['-c', 'sleep 120 & echo $!'])
      new OutputCapture().attach(child, { graceMs: 50 }).then(({ text }) => console.log(text))`
    const { text } = await new OutputCapture().attach(node(script))
    const grandchild = Number.parseInt(text, 10)
    expect(process.kill(grandchild, 0)).toBe(true)
    process.kill(grandchild)
  })

  it('is killed on abort, which rejects with its reason; what came is there', async () => {
    const child = sh('while :; do echo more; done')
    const capture = new OutputCapture({ spill: store(), clean: false })
    const controller = new AbortController()
    const done = capture.attach(child, { signal: controller.signal })
    await once(child.stdout ?? child, 'data')
    const reason = { why: 'enough' }
    controller.abort(reason)
    await expect(done).rejects.toBe(reason)
    const [code, signal] = child.exitCode === null && !child.signalCode ? await once(child, 'exit') : []
    expect([code ?? child.exitCode, signal ?? child.signalCode]).toEqual([null, 'SIGTERM'])
    const { text, exit } = await capture.finish({ timedOut: true })
    expect(text).toMatch(/^more\n[\s\S]*\[timed out\]$/)
    expect(exit).toEqual({ timedOut: true })
  })

  it('is killed at once where the signal was aborted before', async () => {
    const child = sh('exec sleep 60')
    const done = new OutputCapture().attach(child, { signal: AbortSignal.abort() })
    await expect(done).rejects.toMatchObject({ name: 'AbortError' })
    await once(child, 'exit')
    expect(child.signalCode).toBe('SIGTERM')
  })

  it('keeps its stdin', async () => {
    const child = node(
      `process.stdin.on('data', (chunk) => process.stdout.write(String(chunk).toUpperCase()))`,
    )
    const done = new OutputCapture().attach(child)
    child.stdin?.write('hello ')
    child.stdin?.end('there\n')
    expect((await done).text).toBe('HELLO THERE\n[exit code 0]')
  })

  it('has to have a pipe', async () => {
    const sh = (stdio: StdioOptions) => spawn('sh', ['-c', 'echo out; echo err >&2; exit 4'], { stdio })
    const refused = {
      code: 'ERR_SPILLWAY_OPTION',
      message: expect.stringMatching(/^child has neither stdout nor stderr/),
    }
    await expect(new OutputCapture().attach(sh('ignore'))).rejects.toMatchObject(refused)
    const onlyErr = await new OutputCapture().attach(sh(['ignore', 'ignore', 'pipe']))
    expect(onlyErr.text).toBe('err\n[exit code 4]')
    const missing = spawn('no-such-command-anywhere', { stdio: 'ignore' })
    await expect(new OutputCapture().attach(missing)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('may have exited before', async () => {
    const child = sh('echo early')
    await once(child, 'exit')
    // Node throws away by then what nobody has read.
    expect((await new OutputCapture().attach(child)).text).toMatch(/\[exit code 0\]$/)
  })

  it('is the only one of its capture', async () => {
    const capture = new OutputCapture()
    const done = capture.attach(sh('echo one'))
    await expect(capture.attach(sh('echo two'))).rejects.toMatchObject({ code: 'ERR_SPILLWAY_OPTION' })
    expect((await done).text).toBe('one\n[exit code 0]')
  })

  it('can be let go of', async () => {
    const child = sh('echo $$; exec sleep 60')
    const capture = new OutputCapture()
    const done = capture.attach(child)
    await once(child.stdout ?? child, 'data')
    const first = await capture.finish({ timedOut: true })
    expect(first.text).toMatch(/^\d+\n\[timed out\]$/)
    expect(child.exitCode ?? child.signalCode).toBeNull()
    child.kill()
    expect(await done).toEqual(first)
  })

  it('can be let go of while its pipes are held open, though it has exited', async () => {
    const child = sh('sleep 30 & echo $!')
    const capture = new OutputCapture()
    const done = capture.attach(child, { graceMs: 60_000 })
    await once(child, 'exit')
    await until(() => capture.snapshot().total.lines === 1)
    const first = await capture.finish({ timedOut: true })
    process.kill(Number.parseInt(first.text, 10))
    expect(await done).toEqual(first)
  })

  it('may have listeners of its own, whose chunks stay theirs', async () => {
    const child = spawn('sh', ['-c', 'echo ready; read line; echo more; echo bad >&2'])
    const first = once(child.stdout, 'data')
    first.then(() => child.stdin.end('\n'))
    const read: Buffer[] = []
    const { stderr } = child
    stderr.on('readable', () => {
      for (let chunk = stderr.read(); chunk !== null; chunk = stderr.read()) read.push(chunk)
    })
    const { text } = await new OutputCapture().attach(child)
    expect(String((await first)[0])).toBe('ready\n')
    expect(read.map(String)).toEqual(['bad\n'])
    expect(text.split('\n').sort()).toEqual(['[exit code 0]', 'bad', 'more', 'ready'])
  })

  it('keeps what somebody put back, before and after', async () => {
    const child = spawn('sh', ['-c', 'head -c 70000 /dev/zero | tr "\\0" h; read line; echo more'])
    const { stdout, stdin } = child
    await once(stdout, 'readable')
    const peeked = stdout.read()
    const mine = [Buffer.alloc(9_000, 'a'), Buffer.alloc(9_000, 'b'), Buffer.alloc(9_000, 'c')] as const
    stdout.unshift(peeked)
    stdout.unshift(mine[0])
    const capture = new OutputCapture({ clean: false })
    const done = capture.attach(child)
    stdout.unshift(mine[1])
    // Once all has come, as it comes, and while it is held back.
    await until(() => capture.snapshot().total.bytes >= 88_000)
    stdout.push(mine[2])
    stdin.end('\n')
    expect((await done).total.bytes).toBe(70_000 + 27_000 + 5)
    for (const chunk of [peeked, ...mine]) expect(new Set(chunk).size).toBe(1)
  })

  it('keeps what somebody reads while it is held back', async () => {
    const child = sh('yes | head -c 1000000')
    const { stdout } = child
    if (!stdout) throw new Error('no pipe')
    const capture = new OutputCapture({ clean: false })
    capture.stdout.cork()
    const done = capture.attach(child)
    await until(() => stdout.isPaused() && stdout.readableLength > 0)
    const read = stdout.read() as Buffer
    expect(read.length).toBeGreaterThan(0)
    expect(String(read.subarray(0, 2))).toMatch(/^y\n$|^\ny$/)
    capture.stdout.uncork()
    expect((await done).total.bytes).toBe(1_000_000)
  })

  it('may print through any stream, whose chunks stay where they are', async () => {
    const stdout = new PassThrough()
    const child = Object.assign(new EventEmitter(), {
      stdout,
      stderr: null,
      exitCode: null,
      signalCode: null,
    })
    const done = new OutputCapture().attach(child as unknown as ChildProcess)
    const chunk = Buffer.alloc(5, 'mine\n')
    stdout.end(chunk)
    await once(stdout, 'end')
    child.emit('exit', 0, null)
    expect((await done).text).toBe('mine\n[exit code 0]')
    expect(String(chunk)).toBe('mine\n')
  })

  it('may have been paused', async () => {
    const child = sh('seq 1 50000')
    child.stdout?.pause()
    expect((await new OutputCapture().attach(child)).total.lines).toBe(50_000)
  })

  it.each(['end', 'destroy'] as const)('goes on when %s takes what it waits for away', async (how) => {
    const capture = new OutputCapture({ clean: false })
    capture.stdout.cork()
    const child = sh('yes | head -c 2000000; echo kept >&2')
    const done = capture.attach(child)
    await until(() => child.stdout?.isPaused() === true)
    capture.stdout[how]()
    const { text, total } = await done
    expect(text).toMatch(/kept\n[\s\S]*\[exit code 0\]$/)
    expect(total.bytes).toBeLessThan(MB)
  })

  it('that was started with the same signal rejects with its reason', async () => {
    const signal = AbortSignal.timeout(100)
    const child = spawn('sleep', ['60'], { signal })
    const error = await new OutputCapture().attach(child, { signal }).catch((error) => error)
    expect(error).toBe(signal.reason)
    expect(error.name).toBe('TimeoutError')
  })

  it('is held back by the capture where something else reads it too', async () => {
    const warnings: Error[] = []
    const warned = (warning: Error) => warnings.push(warning)
    process.on('warning', warned)
    const capture = new OutputCapture({ clean: false })
    const child = sh('yes | head -c 10000000')
    let read = 0
    const other = new Writable({
      highWaterMark: 1,
      write(chunk, _, done) {
        read += chunk.length
        setImmediate(done)
      },
    })
    child.stdout?.pipe(other)
    capture.stdout.cork()
    const done = capture.attach(child)
    await until(() => capture.stdout.writableNeedDrain)
    for (let round = 0; round < 20; round++) await new Promise((resolve) => setImmediate(resolve))
    expect(capture.stdout.writableLength).toBeLessThan(MB)
    expect(read).toBeLessThan(MB)
    capture.stdout.uncork()
    expect((await done).total.bytes).toBe(10 * MB)
    if (!other.writableFinished) await once(other, 'finish')
    expect(read).toBe(10 * MB)
    process.off('warning', warned)
    expect(warnings).toEqual([])
  })
})

import type { ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import type { ProcessExit } from 'spillway'
import { spawnError } from '../system_error.js'
import type { Intake } from './input_stream.js'
import { Pipe } from './pipe.js'

/** More bytes than pipes and streams buffer. Output beyond them was written after the exit. */
const ON_ITS_WAY = 2 * 1024 * 1024

/** Longest delay of a timer, in ms. */
const LONGEST = 2 ** 31 - 1

/** A child whose output is captured. */
export class ChildCapture {
  /** Resolves with the child's exit once its output has arrived. Rejects on its 'error' and on
   *  abort. */
  readonly done: Promise<ProcessExit>
  readonly #graceMs: number
  readonly #pipes = new Set<Pipe>()
  #exit: ProcessExit | undefined
  #timer: NodeJS.Timeout | undefined
  #resolve: (exit: ProcessExit) => void = () => {}

  constructor(
    child: ChildProcess,
    [stdout, stderr]: [Intake, Intake],
    graceMs: number,
    signal: AbortSignal | undefined,
  ) {
    this.#graceMs = Math.min(graceMs, LONGEST)
    let aborted = () => {}
    const outcome = new Promise<ProcessExit>((resolve, reject) => {
      this.#resolve = resolve
      aborted = () => reject(signal?.reason)
      // Never removed: a later error must not end the host.
      // If the child was started with the same signal, it emits an error of its own first.
      child.on('error', (error) => reject(signal?.aborted ? signal.reason : error))
      const failure = spawnError(child)
      if (failure) reject(failure)
    })
    signal?.addEventListener('abort', aborted)
    if (signal?.aborted) aborted()
    this.#follow(child.stdout, stdout)
    this.#follow(child.stderr, stderr)
    const exited = (exitCode: number | null, killedBy: string | null) =>
      this.#exited({ exitCode, signal: killedBy })
    if (child.exitCode === null && child.signalCode === null) child.once('exit', exited)
    else exited(child.exitCode, child.signalCode)
    const failed = (reason: unknown) => {
      if (signal?.aborted) child.kill()
      this.#let((pipe) => pipe.close())
      throw reason
    }
    this.done = outcome.catch(failed).finally(() => signal?.removeEventListener('abort', aborted))
  }

  /** Stops reading the child, which continues. */
  leave(): void {
    this.#let((pipe) => pipe.leave())
    this.#check()
  }

  #follow(from: Readable | null, to: Intake): void {
    if (!from || from.destroyed || from.readableEnded) return
    const pipe: Pipe = new Pipe(from, to, () => {
      this.#pipes.delete(pipe)
      this.#check()
    })
    this.#pipes.add(pipe)
  }

  #exited(exit: ProcessExit): void {
    this.#exit = exit
    const came = this.#came()
    this.#wait(came, came)
    this.#check()
  }

  #came(): Map<Pipe, number> {
    return new Map([...this.#pipes].map((pipe) => [pipe, pipe.came]))
  }

  /** Waits for the pipes after the exit, since another process may hold them open. Waits for output
   *  delayed by our disk, and by other readers of the pipes while they make progress. `atExit`,
   *  `before`: bytes at the exit and at the last look. */
  #wait(atExit: Map<Pipe, number>, before: Map<Pipe, number>): void {
    const since = (pipe: Pipe, then: Map<Pipe, number>) => pipe.came - (then.get(pipe) ?? 0)
    const isOnItsWay = (pipe: Pipe) =>
      (pipe.isSlow || (pipe.isWaiting && since(pipe, before) > 0)) && since(pipe, atExit) < ON_ITS_WAY
    const look = () => {
      if ([...this.#pipes].some(isOnItsWay)) this.#wait(atExit, this.#came())
      else this.leave()
    }
    // Deferred until pending reads are done: in between, no output seems to wait.
    this.#timer = setTimeout(() => setImmediate(look), this.#graceMs)
  }

  #check(): void {
    if (!this.#exit || this.#pipes.size > 0) return
    clearTimeout(this.#timer)
    this.#resolve(this.#exit)
  }

  #let(go: (pipe: Pipe) => void): void {
    clearTimeout(this.#timer)
    for (const pipe of this.#pipes) go(pipe)
    this.#pipes.clear()
  }
}

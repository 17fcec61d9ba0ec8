import type { ChildProcess } from 'node:child_process'
import { finished, type Writable } from 'node:stream'
import type { CaptureOptions, CaptureResult, OutputCapture as Declared, ProcessExit } from 'spillway'
import { emitClamp } from '../clamp_event.js'
import { handleOf, named } from '../compiled.js'
import { native } from '../engine.js'
import { compileWith } from '../policy.js'
import { optionsOf, ownOptionsOf } from '../read_options.js'
import { originOf } from '../spill/arguments.js'
import { plain } from '../text/input.js'
import { conflictError, optionError } from '../validate.js'
import { type CaptureSettings, CaptureSnapshot, type NativeCapture } from './capture_texts.js'
import { ChildCapture } from './child.js'
import { Intake } from './input_stream.js'
import { checkExit } from './process.js'
import { Overflow } from './spill_on_overflow.js'

export const OutputCapture: typeof Declared = class OutputCapture implements Declared {
  readonly stdout: Writable
  readonly stderr: Writable
  readonly #streams: [Intake, Intake]
  readonly #native: NativeCapture
  readonly #making: CaptureSettings
  readonly #meta: { tool?: string; callId?: string }
  readonly #overflow: Overflow | undefined
  #following: ChildCapture | undefined
  #result: Promise<CaptureResult> | undefined
  /** The captured output between the end of both streams and the end of the save. */
  #captured: CaptureSnapshot | undefined
  #ended: CaptureResult | undefined

  constructor(options: CaptureOptions = {}) {
    const policy = compileWith({ keep: 'findings', clean: true }, options, 'capture')
    const { tool, callId, streams } = ownOptionsOf('capture', options)
    this.#meta = originOf({ tool, callId })
    const separate = streams === 'separate'
    const source = options.source ?? tool
    this.#making = {
      policy: source === undefined ? policy : named(policy, source.toWellFormed()),
      separate,
      isNamed: source !== undefined,
    }
    // A capture is not a door: it holds too little to hand back the whole output.
    const { spill } = policy.given
    this.#overflow = spill && new Overflow(spill, this.#meta, policy)
    const { clean = [] } = policy
    this.#native = native.startCapture(handleOf(policy), [...clean], separate, spill !== undefined)
    this.#streams = [this.#intake(0), this.#intake(1)]
    this.stdout = this.#streams[0]
    this.stderr = this.#streams[1]
  }

  async attach(
    child: ChildProcess,
    options: { graceMs?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<CaptureResult> {
    if (typeof child !== 'object' || child === null || typeof child.on !== 'function')
      throw optionError(TypeError, 'child', 'a child process', child)
    // A child that could not be started has no pipes either; it emits an error.
    if (child.stdout === null && child.stderr === null && child.pid !== undefined)
      throw conflictError("child has neither stdout nor stderr; spawn it with 'pipe' for one of them")
    const { graceMs, signal } = optionsOf('attach', 'options', options)
    if (this.#result || this.#following)
      throw conflictError(
        'this capture already has a child, or is finished; use a new capture for each child',
      )
    this.#following = new ChildCapture(child, this.#streams, graceMs, signal)
    return this.finish(await this.#following.done)
  }

  snapshot(): CaptureResult {
    if (this.#ended) return { ...this.#ended }
    const captured = this.#captured ?? new CaptureSnapshot(this.#native, this.#making, undefined, true)
    const { id, path, whole = this.#overflow?.whole() } = this.#overflow?.running() ?? {}
    const { figures: _, ...result } = captured.result(whole)
    if (captured !== this.#captured) captured.release()
    if (!result.truncated || id === undefined || path === undefined) return this.#withError(result)
    const { bytes, lines } = result.total
    return { ...result, spill: { id, path, bytes, lines, complete: false } }
  }

  async finish(exit?: ProcessExit): Promise<CaptureResult> {
    const checked = checkExit(exit)
    this.#result ??= this.#end(checked)
    return { ...(await this.#result) }
  }

  async #end(exit: ProcessExit | undefined): Promise<CaptureResult> {
    this.#following?.leave()
    await Promise.all(this.#streams.map(ended))
    const overflow = this.#overflow
    const unsaved = overflow && !overflow.isOpen ? native.takeCapturedBytes(this.#native) : undefined
    const captured = new CaptureSnapshot(this.#native, this.#making, exit, false)
    this.#captured = captured
    const first = captured.result()
    if (!first.truncated) await overflow?.discard()
    // The output was within the limits, but not with the exit line.
    else if (unsaved) await overflow?.write(unsaved)
    const record = first.truncated ? await overflow?.finish() : undefined
    const whole = first.truncated ? overflow?.whole(record) : undefined
    const { figures, ...result } = whole ? captured.result(whole) : first
    if (result.truncated) emitClamp({ ...this.#meta, phase: 'result' }, figures)
    this.#captured = undefined
    captured.release()
    this.#ended = this.#withError(record ? { ...result, spill: record } : result)
    return this.#ended
  }

  #withError(result: CaptureResult): CaptureResult {
    const spillError = result.truncated ? this.#overflow?.error : undefined
    return spillError === undefined ? result : { ...result, spillError }
  }

  #intake(stream: number): Intake {
    return new Intake({
      take: (bytes, isText) => this.#take(stream, plain(bytes, false), isText),
      end: () => native.endCapturedStream(this.#native, stream),
    })
  }

  #take(stream: number, bytes: Uint8Array, isText: boolean): Promise<void> | undefined {
    const isOver = native.captureChunk(this.#native, stream, bytes, isText)
    const overflow = this.#overflow
    if (!overflow) return undefined
    if (overflow.isOpen) return overflow.write(bytes)
    return isOver ? overflow.write(native.takeCapturedBytes(this.#native)) : undefined
  }
}

/** Ends a stream, and waits until everything written to it is consumed. */
function ended(stream: Intake): Promise<void> {
  return new Promise((resolve) => {
    finished(stream, { readable: false }, () => resolve())
    stream.end()
  })
}

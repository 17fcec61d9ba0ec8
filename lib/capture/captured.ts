import type { CaptureResult, LimitName, ProcessExit, TextSize } from 'spillway'
import { type Compiled, failed, handleOf, named, saved } from '../compiled.js'
import { type CapturedCut, native } from '../engine.js'
import type { Figures } from '../result/blocks.js'
import type { Whole } from '../spill/call_spill.js'
import type { Input } from '../text/input.js'
import { exceededBy, type Measured } from '../text/limits.js'
import { truncate } from '../text/notice_function.js'
import { keptLines, type Truncation, truncationOf } from '../text/truncation.js'
import { exitLine, isFailure, label, order, STREAMS } from './process.js'

export type NativeCapture = ReturnType<typeof native.startCapture>

/** Settings for the texts of a capture. */
export interface Making {
  readonly policy: Compiled
  readonly separate: boolean
  /** True if the policy or the caller names the output. Otherwise separate streams are named stdout and stderr. */
  readonly isNamed: boolean
}

/** Columns of the numbers that the engine returns for a stream. */
const COLUMNS = 10
const CAME = 0
const BINARY = 3
const TEXT = 4
const BYTES_OUT = 7
const TOKENS = 8
const LONG_LINE = 9

/** The captured output, final or at some moment. */
export class Captured {
  readonly #native: ReturnType<typeof native.endCapture>
  readonly #making: Making
  readonly #exit: ProcessExit | undefined
  readonly #rows: Float64Array
  readonly #sections: readonly number[]

  /** `copy`: the capture continues. */
  constructor(capture: NativeCapture, making: Making, exit: ProcessExit | undefined, copy: boolean) {
    const streams = making.separate ? order(isFailure(exit)) : [0]
    const labels = making.separate ? streams.map(label) : ['']
    this.#native = native.endCapture(capture, copy, handleOf(making.policy), streams, labels, exitLine(exit))
    this.#making = making
    this.#exit = exit
    this.#rows = new Float64Array(2 * COLUMNS)
    native.measureCaptured(this.#native, this.#rows)
    this.#sections = native.capturedSections(this.#native)
  }

  /** Returns the texts within the limits. `whole`: the outcome of saving, for notices. */
  result(whole?: Whole): CaptureResult & { figures: () => Figures } {
    const { separate } = this.#making
    const sections = this.#sections.map((stream, at) =>
      this.#clamp(stream, whole, (policy) => native.clampCapturedSection(this.#native, at, handleOf(policy))),
    )
    const streams = separate ? [0, 1].map((stream) => this.#alone(stream, whole)) : []
    const [stdout, stderr] = streams.map(({ text }) => text)
    const binary = [0, 1].some((stream) => this.#row(stream)[BINARY] === 1)
    return {
      text: native.composeCaptured(
        this.#native,
        sections.map(({ text }) => text),
      ),
      stdout: stdout ?? '',
      stderr: stderr ?? '',
      truncated: [...sections, ...streams].some(({ truncated }) => truncated),
      total: this.#total(CAME),
      ...(this.#exit && { exit: this.#exit }),
      binary,
      figures: () => this.#figures(sections),
    }
  }

  /** Frees the engine's memory. */
  release(): void {
    native.releaseCaptured(this.#native)
  }

  #alone(stream: number, whole: Whole | undefined): Truncation {
    return this.#clamp(stream, whole, (policy) =>
      native.clampCapturedStream(this.#native, stream, handleOf(policy)),
    )
  }

  #clamp(stream: number, whole: Whole | undefined, cut: Cutting): Truncation {
    return truncate(new CapturedText(this.#row(stream), cut), this.#policyOf(stream, whole))
  }

  #policyOf(stream: number, whole: Whole | undefined): Compiled {
    const { policy, separate, isNamed } = this.#making
    const judged = isFailure(this.#exit) ? failed(policy) : policy
    const called = separate && !isNamed ? named(judged, STREAMS[stream] ?? '') : judged
    return whole ? saved(called, ...whole) : called
  }

  #row(stream: number): Float64Array {
    return this.#rows.subarray(stream * COLUMNS, (stream + 1) * COLUMNS)
  }

  #total(from: number): TextSize {
    const sum = (at: number) => (this.#row(0)[from + at] ?? 0) + (this.#row(1)[from + at] ?? 0)
    return { bytes: sum(0), chars: sum(1), lines: sum(2) }
  }

  #figures(sections: readonly Truncation[]): Figures {
    const kept = { bytes: 0, chars: 0, lines: 0 }
    const exceeded = new Set<LimitName>()
    for (const [at, made] of sections.entries()) {
      const part = made.kept()
      kept.bytes += part.bytes
      kept.chars += part.chars
      kept.lines += keptLines(part)
      const stream = this.#sections[at] ?? 0
      const text = new CapturedSize(this.#row(stream))
      for (const limit of exceededBy(text, this.#making.policy)) exceeded.add(limit)
    }
    return { total: this.#total(TEXT), kept, exceeded: [...exceeded] }
  }
}

type Cutting = (policy: Compiled) => CapturedCut

class CapturedSize implements Measured {
  readonly #row: Float64Array

  constructor(row: Float64Array) {
    this.#row = row
  }

  total(): TextSize {
    return { bytes: this.#at(TEXT), chars: this.#at(TEXT + 1), lines: this.#at(TEXT + 2) }
  }

  bytesOut(): number {
    return this.#at(BYTES_OUT)
  }

  tokens(): number {
    return this.#at(TOKENS)
  }

  hasLongLine(): boolean {
    return this.#at(LONG_LINE) === 1
  }

  #at(place: number): number {
    return this.#row[place] ?? 0
  }
}

/** A text of which the engine holds the parts that a cut can keep. */
class CapturedText extends CapturedSize implements Input {
  readonly #cut: Cutting

  constructor(row: Float64Array, cut: Cutting) {
    super(row)
    this.#cut = cut
  }

  truncate(policy: Compiled): Truncation {
    const { truncated, cut } = this.#cut(policy)
    return truncationOf(cut, truncated)
  }
}

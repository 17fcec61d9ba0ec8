import type { CaptureResult, Cut, ProcessExit, TextSize } from 'spillway'
import { type Figures, savedIn } from '../clamp_event.js'
import { type EnginePolicy, failed, handleOf, named, saved, silent } from '../compiled.js'
import { type CapturedCut, type CapturedTexts, native } from '../engine.js'
import type { Whole } from '../spill/call_spill.js'
import { exceededBy, type Measurements } from '../text/limits.js'
import { wordsOf } from '../text/notice_function.js'
import { keptLines, type Truncation, truncationOf } from '../text/truncation.js'
import { exitLine, isFailure, label, order, STREAMS } from './process.js'

export type NativeCapture = ReturnType<typeof native.startCapture>

/** Settings for the texts of a capture. */
export interface CaptureSettings {
  readonly policy: EnginePolicy
  readonly separate: boolean
  /** True if the policy or the caller names the output. Otherwise separate streams are named stdout
   *  and stderr. */
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
export class CaptureSnapshot {
  readonly #native: ReturnType<typeof native.endCapture>['captured']
  readonly #first: CapturedTexts
  readonly #making: CaptureSettings
  readonly #exit: ProcessExit | undefined
  readonly #rows = new Float64Array(2 * COLUMNS)

  /** `copy`: the capture continues. */
  constructor(capture: NativeCapture, making: CaptureSettings, exit: ProcessExit | undefined, copy: boolean) {
    this.#making = making
    this.#exit = exit
    const streams = making.separate ? order(isFailure(exit)) : [0]
    const labels = making.separate ? streams.map(label) : ['']
    const frame = [streams, labels, exitLine(exit)] as const
    const { captured, texts } = native.endCapture(capture, copy, ...frame, ...this.#handles(), this.#rows)
    this.#native = captured
    this.#first = texts
  }

  /** Returns the texts within the limits. `whole`: the outcome of saving, for notices. */
  result(whole?: Whole): CaptureResult & { figures: () => Figures } {
    const { text, sections, streams } = this.#texts(whole)
    const [stdout, stderr] = streams
    return {
      text,
      stdout: stdout?.text ?? '',
      stderr: stderr?.text ?? '',
      truncated: [...sections, ...streams].some(({ truncated }) => truncated),
      total: this.#total(CAME),
      ...(this.#exit && { exit: this.#exit }),
      binary: [0, 1].some((stream) => this.#row(stream)[BINARY] === 1),
      figures: () => ({ ...this.#figures(sections), ...savedIn(this.#policyOf(0, whole)) }),
    }
  }

  /** Frees the engine's memory. */
  release(): void {
    native.releaseCaptured(this.#native)
  }

  #texts(whole: Whole | undefined): Texts {
    const texts = whole ? native.capturedTexts(this.#native, ...this.#handles(whole)) : this.#first
    const { text } = texts
    const [sections, streams] = [texts.sections.map(textOf), texts.streams.map(textOf)]
    const truncated = [...sections, ...streams].some(({ truncated }) => truncated)
    if (!this.#making.policy.words || !truncated) return { text, sections, streams }
    const framed = sections.map(({ stream }, at) => this.#worded(stream, at, whole))
    return {
      text: native.composeCaptured(
        this.#native,
        framed.map(({ text }) => text),
      ),
      sections: framed,
      streams: streams.map(({ stream }) => this.#worded(stream, undefined, whole)),
    }
  }

  /** Returns the policies of both streams. A notice function is called later, for texts that are
   *  truncated. */
  #handles(whole?: Whole) {
    const handle = (stream: number) => {
      const policy = this.#policyOf(stream, whole)
      return handleOf(policy.words ? silent(policy) : policy)
    }
    return [handle(0), handle(1)] as const
  }

  /** Truncates a text with the notice of a function. */
  #worded(stream: number, section: number | undefined, whole: Whole | undefined): StreamText {
    const policy = this.#policyOf(stream, whole)
    const words = wordsOf(policy) ?? (() => null)
    return textOf(native.truncateCaptured(this.#native, stream, section, handleOf(policy), words))
  }

  #policyOf(stream: number, whole: Whole | undefined): EnginePolicy {
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

  #figures(sections: readonly StreamText[]): Figures {
    const kept = { bytes: 0, chars: 0, lines: 0 }
    const exceeded = new Set<Cut['exceeded'][number]>()
    for (const { stream, kept: keptOf } of sections) {
      const part = keptOf()
      kept.bytes += part.bytes
      kept.chars += part.chars
      kept.lines += keptLines(part)
      const text = new CapturedSize(this.#row(stream))
      for (const limit of exceededBy(text, this.#making.policy)) exceeded.add(limit)
    }
    return { total: this.#total(TEXT), kept, exceeded: [...exceeded] }
  }
}

interface StreamText extends Truncation {
  readonly stream: number
}

interface Texts {
  /** The sections in their frame. */
  readonly text: string
  readonly sections: readonly StreamText[]
  /** Each stream under the limits alone, if the streams are separate. */
  readonly streams: readonly StreamText[]
}

function textOf({ stream, truncated, cut }: CapturedCut): StreamText {
  return { stream, ...truncationOf(cut, truncated) }
}

class CapturedSize implements Measurements {
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

import { types } from 'node:util'
import type { TextInput, TextSize } from 'spillway'
import * as native from '../native.js'
import { isNarrow, isSurelyNarrow } from './narrow.js'
import { joined } from './own.js'
import { type Compiled, pack } from './policy.js'

/** One cut of a text, in positions of the engine: chars of a string, bytes of a Uint8Array. */
export interface Made {
  text: string
  /** Something was left out. */
  truncated: boolean
  /** The kind of cut, resolved from 'auto'. */
  keep: 'head' | 'tail' | 'ends'
  notice: string
  /** Size of what is kept of the input, and where it stands in chars. */
  kept: () => Kept
}

export interface Kept {
  bytes: number
  chars: number
  ranges: [number, number][]
  /** Lines of the kept head, the number of the first line of the tail, and of the last line. */
  lines: [number, number, number]
}

/** A text that can be measured and cut, whatever it came as. */
export interface Subject {
  total(): TextSize
  /** Bytes that it takes once it is well-formed; more than it came with where bytes were no UTF-8. */
  bytesOut(): number
  tokens(): number
  hasLongLine(maxBytes: number): boolean
  /** Cuts to the policy, with these words as the notice when they are given and its own otherwise. */
  clamp(policy: Compiled, kind?: number, words?: string): Made
}

/** One array for the numbers of all calls: they are taken out before anything else runs. */
const io = new Float64Array(10)

/** What a clamp wrote to `io`, as a plain array: iterating over a typed one costs as much as a small cut. */
function taken(): [number, number, number, number, number, number, number, number] {
  const at = (index: number) => io[index] ?? 0
  return [at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7)]
}

/** Kinds of cuts, as `kept_as` in src/bindings/policy.rs numbers them. */
export const KEPT = ['head', 'tail', 'ends'] as const

/** Chars that are read at once: the copy stays in the processor's cache. */
const PIECE = 32_768

/** An earlier notice may stand between the ends of a text up to this length (`SEARCHED` in src/text/earlier.rs). */
const READ_WHOLE = 256 * 1024

/** The end of a text that 'auto' and earlier notices (`LONGEST` there) are judged by. */
const GLANCE = 8_192

/** `worded`: code of the caller's will run while the text is in use. */
export function subjectOf(text: TextInput, worded = false): Subject {
  return typeof text === 'string' ? new StringSubject(text) : new BytesSubject(plain(text, worded))
}

/** A plain view of bytes; of a copy where other threads, a resize or the caller could change them under us. */
function plain(bytes: Uint8Array, worded: boolean): Uint8Array {
  const { buffer, byteOffset, byteLength } = bytes
  const moves = types.isSharedArrayBuffer(buffer) || (buffer as { resizable?: boolean }).resizable
  return moves || worded ? new Uint8Array(bytes) : new Uint8Array(buffer, byteOffset, byteLength)
}

export class StringSubject implements Subject {
  readonly #text: string
  #total: TextSize | undefined

  constructor(text: string) {
    this.#text = text
  }

  total(): TextSize {
    this.#total ??= sizeOf(this.#text)
    return this.#total
  }

  bytesOut(): number {
    return this.total().bytes
  }

  tokens(): number {
    const state = io.fill(0)
    let tokens = 0
    for (const piece of pieces(this.#text)) tokens = native.estimate(piece, state)
    return tokens
  }

  hasLongLine(maxBytes: number): boolean {
    return native.hasLongLine(this.#text, maxBytes)
  }

  clamp(policy: Compiled, kind?: number, words = policy.notice): Made {
    const text = this.#text
    if (policy.limits.lineBytes < text.length * 3) {
      const lined = native.clampLongLines(pack(policy, kind), words, policy.said, text, io)
      if (lined) return fromLined(lined)
    }
    const total = policy.countsAll ? this.total() : undefined
    io[0] = text.length
    io[1] = total?.bytes ?? Number.NaN
    io[2] = total ? newlines(text, total) : Number.NaN
    const [head, tail] = windows(text, policy)
    const engine = isNarrow(head) && isNarrow(tail) ? native.clampLatin1 : native.clampText
    const mid = engine(pack(policy, kind), words, policy.said, head, tail, io)
    const [cut, headEnd, tailStart, broken, lead, trail, keep] = taken()
    if (!cut) return new Untouched(broken ? text.toWellFormed() : text, () => this.total())
    const parts = [text.slice(0, headEnd), text.slice(tailStart)] as const
    const [before, after] = broken ? [parts[0].toWellFormed(), parts[1].toWellFormed()] : parts
    return {
      text: joined(before, mid, after),
      truncated: true,
      keep: KEPT[keep] ?? 'head',
      notice: mid.slice(lead, mid.length - trail),
      kept: () => keptOf(sizeOf(parts[0]), sizeOf(parts[1]), tailStart, this.total()),
    }
  }
}

export class BytesSubject implements Subject {
  readonly #bytes: Uint8Array
  #total: TextSize | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  total(): TextSize {
    this.#total ??= this.#size(0, this.#bytes.length)
    return this.#total
  }

  bytesOut(): number {
    const sum = io.fill(0)
    native.measureBytes(this.#bytes, sum)
    return sum[0] ?? 0
  }

  tokens(): number {
    return native.estimateBytes(this.#bytes)
  }

  hasLongLine(maxBytes: number): boolean {
    return native.hasLongLineOfBytes(this.#bytes, maxBytes)
  }

  clamp(policy: Compiled, kind?: number, words = policy.notice): Made {
    const bytes = this.#bytes
    if (policy.limits.lineBytes < bytes.length * 3) {
      const lined = native.clampLongLinesOfBytes(pack(policy, kind), words, policy.said, bytes, io)
      if (lined) return fromLined(lined)
    }
    const text = native.clampBytes(pack(policy, kind), words, policy.said, bytes, io)
    const [cut, headEnd, tailStart, , lead, trail, keep, midLength] = taken()
    if (!cut) return new Untouched(text, () => this.total())
    const head = () => this.#size(0, headEnd)
    const notice = () => {
      const start = head().chars
      return text.slice(start + lead, start + midLength - trail)
    }
    const kept = () => {
      const tail = this.#size(tailStart, bytes.length)
      return keptOf(head(), tail, this.total().chars - tail.chars, this.total())
    }
    return new CutBytes(text, KEPT[keep] ?? 'head', notice, kept)
  }

  #size(start: number, end: number): TextSize {
    const bytes = this.#bytes.subarray(start, end)
    const sum = io.fill(0)
    native.measureBytes(bytes, sum)
    const [, chars = 0, breaks = 0] = sum
    return {
      bytes: end - start,
      chars,
      lines: breaks + Number(end > start && this.#bytes[end - 1] !== NEWLINE),
    }
  }
}

const NEWLINE = 10

/** A class, because a getter in an object literal costs a hidden class a call, which keeps the text until a full collection. */
class CutBytes implements Made {
  readonly truncated = true
  readonly text: string
  readonly keep: Made['keep']
  readonly kept: () => Kept
  readonly #notice: () => string

  constructor(text: string, keep: Made['keep'], notice: () => string, kept: () => Kept) {
    this.text = text
    this.keep = keep
    this.kept = kept
    this.#notice = notice
  }

  get notice() {
    return this.#notice()
  }
}

class Untouched implements Made {
  readonly truncated = false
  readonly keep = 'head'
  readonly notice = ''
  readonly text: string
  readonly #total: () => TextSize

  constructor(text: string, total: () => TextSize) {
    this.text = text
    this.#total = total
  }

  kept(): Kept {
    const { bytes, chars, lines } = this.#total()
    return { bytes, chars, ranges: chars > 0 ? [[0, chars]] : [], lines: [lines, lines + 1, lines] }
  }
}

function fromLined(lined: native.Lined): Made {
  const [
    start = 0,
    length = 0,
    lead = 0,
    trail = 0,
    keep = 0,
    bytes = 0,
    chars = 0,
    head = 0,
    first = 0,
    last = 0,
  ] = io
  const ranges: [number, number][] = []
  for (let at = 0; at < lined.ranges.length; at += 2)
    ranges.push([lined.ranges[at] ?? 0, lined.ranges[at + 1] ?? 0])
  return {
    text: lined.text,
    truncated: true,
    keep: KEPT[keep] ?? 'head',
    notice: lined.text.slice(start + lead, start + length - trail),
    kept: () => ({ bytes, chars, ranges, lines: [head, first, last] }),
  }
}

/** The parts of a string that its cut can depend on: all of it, or both ends. */
export function windows(text: string, policy: Compiled): [head: string, tail: string] {
  const reach = Math.max(policy.reach, GLANCE)
  if (text.length <= Math.max(reach, READ_WHOLE)) return [text, '']
  return [text.slice(0, reach), text.slice(-reach)]
}

/** Size of a string, read in pieces. */
export function sizeOf(text: string): TextSize {
  const sum = io.fill(0)
  let narrow = isNarrow(text.length > PIECE ? text.slice(0, PIECE) : text)
  for (const piece of pieces(text)) {
    // A string is all narrow or all wide in memory, so after one wide piece the rest need not be tested.
    narrow &&= isSurelyNarrow(piece)
    if (narrow) native.measureLatin1(piece, sum)
    else native.measure(piece, sum)
  }
  const [bytes = 0, chars = 0, breaks = 0] = sum
  return { bytes, chars, lines: breaks + Number(isOpen(text)) }
}

/** Tells by its size alone that a well-formed string is within a policy; false also where that takes more than a size. */
export function isWithin(text: string, { limits, bySize }: Compiled): boolean {
  if (text.length > bySize) return false
  const sum = io.fill(0)
  if (isNarrow(text)) native.measureLatin1(text, sum)
  else native.measure(text, sum)
  const [bytes, , breaks, broken] = taken()
  return bytes <= limits.bytes && breaks + Number(isOpen(text)) <= limits.lines && broken === 0
}

/** Newlines of a string of which the size is known. */
export function newlines(text: string, size: TextSize): number {
  return size.lines - Number(isOpen(text))
}

function isOpen(text: string): boolean {
  return text.length > 0 && text.charCodeAt(text.length - 1) !== NEWLINE
}

function* pieces(text: string): Generator<string> {
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + PIECE, text.length)
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end -= 1
    yield start === 0 && end === text.length ? text : text.slice(start, end)
    start = end
  }
}

function keptOf(head: TextSize, tail: TextSize, tailStart: number, total: TextSize): Kept {
  const ranges: [number, number][] = []
  if (head.chars > 0) ranges.push([0, head.chars])
  if (tail.chars > 0) ranges.push([tailStart, total.chars])
  return {
    bytes: head.bytes + tail.bytes,
    chars: head.chars + tail.chars,
    ranges,
    lines: [head.lines, total.lines + 1 - tail.lines, total.lines],
  }
}

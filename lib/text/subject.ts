import { types } from 'node:util'
import type { TextInput, TextSize } from 'spillway'
import { type Compiled, pack, searches } from '../compiled.js'
import { native } from '../engine.js'
import { brokenBy, exceededBy } from './limits.js'
import { clampReport, keptOf, type Made, madeOf, Untouched } from './made.js'
import { isNarrow, isSurelyNarrow } from './narrow.js'
import { joined } from './own.js'
import { pieces, searched, windows } from './pieces.js'
import { io, isOpen, linesOf, NEWLINE, newlines, sizeOf } from './size.js'

/** A text that can be measured and truncated, in any representation. */
export interface Subject {
  total(): TextSize
  /** Bytes of the text once it is well-formed. Invalid UTF-8 can take more bytes than it has. */
  bytesOut(): number
  tokens(): number
  hasLongLine(maxBytes: number): boolean
  /** Truncates to the policy. `words`: the notice, in place of the policy's own. */
  clamp(policy: Compiled, kind?: number, words?: string): Made
}

/** `worded`: a function of the caller runs while the text is in use. `most`: chars of a string that are searched. */
export function subjectOf(text: TextInput, worded = false, most = Number.POSITIVE_INFINITY): Subject {
  return typeof text === 'string' ? new StringSubject(text, most) : new BytesSubject(plain(text, worded))
}

/** Returns a plain view of bytes, or of a copy if other threads, a resize or the caller could change them. */
export function plain(bytes: Uint8Array, worded: boolean): Uint8Array {
  const { buffer, byteOffset, byteLength } = bytes
  const moves = types.isSharedArrayBuffer(buffer) || (buffer as { resizable?: boolean }).resizable
  return moves || worded ? new Uint8Array(bytes) : new Uint8Array(buffer, byteOffset, byteLength)
}

export class StringSubject implements Subject {
  readonly #text: string
  readonly #most: number
  #total: TextSize | undefined

  constructor(text: string, most = Number.POSITIVE_INFINITY) {
    this.#text = text
    this.#most = most
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
    const { said, needles } = policy
    if (policy.limits.lineBytes < text.length * 3) {
      const lined = native.clampLongLines(pack(policy, kind), words, said, needles, text)
      if (lined) return madeOf(lined)
    }
    if (searches(policy) && isOver(this, text.length, policy)) {
      const found = this.#search(policy, kind, words)
      if (found) return madeOf(found)
    }
    const total = policy.countsAll ? this.total() : undefined
    const [head, tail] = windows(text, policy)
    const engine = isNarrow(head) && isNarrow(tail) ? native.clampLatin1 : native.clampText
    // If the text is passed whole, the engine measures it.
    const exceeded = tail !== '' && namesLimits(policy, kind) ? brokenBy([text], policy) : 0
    io[0] = text.length
    io[1] = total?.bytes ?? Number.NaN
    io[2] = total ? newlines(text, total) : Number.NaN
    const mid = engine(pack(policy, kind, exceeded), words, said, head, tail, io)
    const { cut, headStart, headEnd, tailStart, tailEnd, broken, lead, trail, keep, ...sizes } = clampReport()
    if (!cut) return new Untouched(broken ? text.toWellFormed() : text, () => this.total())
    const parts = [text.slice(headStart, headEnd), text.slice(tailStart, tailEnd)] as const
    const [before, after] = broken ? [parts[0].toWellFormed(), parts[1].toWellFormed()] : parts
    return {
      text: joined(before, mid, after),
      truncated: true,
      keep,
      notice: mid.slice(lead, mid.length - trail),
      kept: () => {
        const upTo = tailEnd === text.length ? this.total() : sizeOf(text.slice(0, tailEnd))
        const before = sizeOf(text.slice(0, headStart))
        const [head, tail] = [linesOf(sizes.head, isOpen(parts[0])), linesOf(sizes.tail, isOpen(parts[1]))]
        return keptOf(head, tail, upTo, before)
      },
    }
  }

  #search(policy: Compiled, kind: number | undefined, words: string) {
    const text = this.#text
    const [head, tail] = text.length > this.#most ? searched(text, policy) : [text, '']
    const before = [...pieces(head)]
    const gap = tail === '' ? '' : text.slice(head.length, text.length - tail.length)
    const exceeded = namesLimits(policy, kind) ? brokenBy([text], policy) : 0
    return native.clampFindings(
      pack(policy, kind, exceeded),
      words,
      policy.said,
      policy.needles,
      [...before, ...pieces(tail)],
      // A scan for the first wide char costs little compared with a search.
      isSurelyNarrow(text),
      skip(before.length, gap),
    )
  }
}

export class BytesSubject implements Subject {
  readonly #bytes: Uint8Array
  #total: TextSize | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  total(): TextSize {
    if (!this.#total) {
      const sum = io.fill(0)
      native.measureBytes(this.#bytes, sum)
      const [, chars = 0, newlines = 0] = sum
      const size = { bytes: this.#bytes.length, chars, newlines }
      this.#total = linesOf(size, this.#isOpen(0, size.bytes))
    }
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
    const { said, needles } = policy
    if (policy.limits.lineBytes < bytes.length * 3) {
      const lined = native.clampLongLinesOfBytes(pack(policy, kind), words, said, needles, bytes)
      if (lined) return madeOf(lined)
    }
    if (searches(policy) && isOver(this, bytes.length / 3, policy)) {
      const found = native.clampFindingsOfBytes(pack(policy, kind), words, said, needles, bytes)
      if (found) return madeOf(found)
    }
    const text = native.clampBytes(pack(policy, kind), words, said, bytes, io)
    const { cut, headStart, headEnd, tailStart, tailEnd, lead, trail, keep, midLength, ...sizes } =
      clampReport()
    if (!cut) return new Untouched(text, () => this.total())
    const start = sizes.head.chars
    const kept = () => {
      // Invalid UTF-8 counts by its input bytes, not by those of its replacement.
      const head = { ...sizes.head, bytes: headEnd - headStart }
      const tail = { ...sizes.tail, bytes: tailEnd - tailStart }
      const upTo = tailEnd === bytes.length ? this : new BytesSubject(bytes.subarray(0, tailEnd))
      return keptOf(
        linesOf(head, this.#isOpen(headStart, headEnd)),
        linesOf(tail, this.#isOpen(tailStart, tailEnd)),
        upTo.total(),
        new BytesSubject(bytes.subarray(0, headStart)).total(),
      )
    }
    return { text, truncated: true, keep, notice: text.slice(start + lead, start + midLength - trail), kept }
  }

  #isOpen(start: number, end: number): boolean {
    return end > start && this.#bytes[end - 1] !== NEWLINE
  }
}

/** Returns true if the notice is the policy's own and names limits. */
function namesLimits(policy: Compiled, kind: number | undefined): boolean {
  return policy.namesLimits && kind === undefined
}

/** Returns true if a text is over its limits. In most cases its length decides. */
function isOver(subject: Subject, chars: number, policy: Compiled): boolean {
  return chars > policy.limits.bytes || chars > policy.limits.chars || exceededBy(subject, policy).length > 0
}

/** Describes a skipped text to the engine, and the number of pieces before it. */
function skip(pieces: number, text: string): Float64Array {
  if (text === '') return new Float64Array([Number.NaN])
  const size = sizeOf(text)
  return new Float64Array([pieces, size.chars, size.bytes, newlines(text, size)])
}

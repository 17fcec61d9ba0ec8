import { types } from 'node:util'
import type { TextSize } from 'spillway'
import { PENDING } from '../ahead.js'
import { type EnginePolicy, handleOf } from '../compiled.js'
import { native } from '../engine.js'
import { joined } from './flatten.js'
import { isNarrow, isStoredWide } from './latin1.js'
import { type Ask, askedOf } from './limits.js'
import { wordsOf } from './notice_function.js'
import { pieceAt, windows } from './pieces.js'
import { searchOf } from './search.js'
import { io, isOpen, linesOf, NEWLINE, sizeOf, tokensOf } from './size.js'
import { keptBy, type Truncation, truncationOf, untouched } from './truncation.js'

/** A text that can be measured and truncated, in any representation. */
export interface Input {
  total(): TextSize
  /** Bytes of the text once it is well-formed. Invalid UTF-8 can take more bytes than it has. */
  bytesOut(): number
  tokens(): number
  hasLongLine(maxBytes: number): boolean
  /** Truncates to a policy. `figures`: the kept parts will be read. */
  truncate(policy: EnginePolicy, figures?: boolean): Truncation
}

/** `worded`: a function of the caller runs while the text is in use. `most`: chars of a string that
 *  are searched. */
export function inputOf(text: string | Uint8Array, worded = false, most?: number, ask?: Ask): Input {
  return typeof text === 'string' ? new StringInput(text, most, ask) : new BytesInput(plain(text, worded))
}

/** Returns a plain view of bytes, or of a copy if other threads, a resize or the caller could
 *  change them. */
export function plain(bytes: Uint8Array, worded: boolean): Uint8Array {
  const { buffer, byteOffset, byteLength } = bytes
  const moves = types.isSharedArrayBuffer(buffer) || (buffer as { resizable?: boolean }).resizable
  return moves || worded ? new Uint8Array(bytes) : new Uint8Array(buffer, byteOffset, byteLength)
}

/** Decodes bytes as UTF-8. */
export function fromUtf8({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString()
}

export class StringInput implements Input {
  readonly #text: string
  readonly #most: number
  readonly #ask: Ask | undefined
  #total: TextSize | undefined

  constructor(text: string, most = Number.POSITIVE_INFINITY, ask?: Ask) {
    this.#text = text
    this.#most = most
    this.#ask = ask
  }

  total(): TextSize {
    this.#total ??= sizeOf(this.#text)
    return this.#total
  }

  bytesOut(): number {
    return this.total().bytes
  }

  tokens(): number {
    return tokensOf(this.#text)
  }

  hasLongLine(maxBytes: number): boolean {
    return native.hasLongLine(this.#text, maxBytes)
  }

  truncate(policy: EnginePolicy, figures = false): Truncation {
    const text = this.#text
    const [head, tail] = windows(text, policy)
    const allNarrow = !isStoredWide(text) && isNarrow(tail) && isNarrow(head)
    const query = askedOf(this, text.length, policy, this.#ask)
    const found = searchOf(text, policy, this.#most, query)
    if (found === PENDING) return untouched(text, () => this.total())
    const read = (start: number, narrow: boolean) => {
      const piece = pieceAt(text, start)
      return narrow && !isNarrow(piece) ? null : piece
    }
    const total = figures ? this.total() : undefined
    io[0] = total?.bytes ?? Number.NaN
    io[1] = total ? total.lines - Number(isOpen(text)) : Number.NaN
    const cut = native.truncateText(
      handleOf(policy),
      allNarrow,
      head,
      tail,
      text.length,
      read,
      this.#most,
      figures,
      query,
      found,
      io,
      wordsOf(policy),
    )
    if (cut === null) return untouched(text.toWellFormed(), () => this.total())
    const middle = typeof cut === 'string' ? cut : cut.text
    const at = (index: number) => io[index] as number
    const left = [text.slice(at(0), at(1)), text.slice(at(2), at(3))] as const
    const [before, after] = at(6) > 0 ? [left[0].toWellFormed(), left[1].toWellFormed()] : left
    const whole = joined(before, middle, after)
    return {
      text: whole,
      truncated: true,
      notice: whole.slice(at(4), at(5)),
      kept: typeof cut === 'string' ? () => this.truncate(policy, true).kept() : () => keptBy(cut),
    }
  }
}

export class BytesInput implements Input {
  readonly #bytes: Uint8Array
  /** The size of the text once it is well-formed. */
  #size: { readonly bytes: number; readonly chars: number; readonly newlines: number } | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  total(): TextSize {
    const bytes = this.#bytes
    const isOpen = bytes.length > 0 && bytes[bytes.length - 1] !== NEWLINE
    return linesOf({ ...this.#measured(), bytes: bytes.length }, isOpen)
  }

  bytesOut(): number {
    return this.#measured().bytes
  }

  #measured() {
    if (!this.#size) {
      const sum = io.fill(0)
      native.measure(this.#bytes, false, sum)
      const [bytes = 0, chars = 0, newlines = 0] = sum
      this.#size = { bytes, chars, newlines }
    }
    return this.#size
  }

  tokens(): number {
    return tokensOf(this.#bytes)
  }

  hasLongLine(maxBytes: number): boolean {
    return native.hasLongLine(this.#bytes, maxBytes)
  }

  truncate(policy: EnginePolicy, figures = false): Truncation {
    const size = figures ? this.#measured() : undefined
    // An ill-formed text has other sizes before and after.
    const isKnown = size?.bytes === this.#bytes.length
    io[0] = isKnown ? size.chars : Number.NaN
    io[1] = isKnown ? size.newlines : Number.NaN
    const cut = native.truncateBytes(handleOf(policy), this.#bytes, figures, io, wordsOf(policy))
    if (cut === null) return untouched(fromUtf8(this.#bytes), () => this.total())
    if (typeof cut !== 'string') return truncationOf(cut)
    const kept = () => this.truncate(policy, true).kept()
    return { text: cut, truncated: true, notice: cut.slice(io[0], io[1]), kept }
  }
}

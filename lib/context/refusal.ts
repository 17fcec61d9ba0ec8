import type { ProviderError } from 'spillway'

/** Kinds of refusals after which a smaller prompt may succeed. */
const KINDS: readonly string[] = ['context_overflow', 'payload_too_large', 'request_exceeds_rate_limit']

export function isRefusal({ kind }: ProviderError): boolean {
  return KINDS.includes(kind)
}

/** Share of the provider's limit that the next prompt may reach, since removed and kept text may be
 *  estimated differently. */
const SLACK = 0.95
/** Share of that limit for truncations, since estimates are at most 15 % low. */
const CUT_SLACK = 0.85
/** Share of the refused prompt if the provider gave no numbers. */
const HALF = 0.5

/** The size of a prompt: its estimate, without a margin, and the bytes of the body of its
 *  request. */
export interface Size {
  tokens: number
  bytes: number
}

/** A refusal of a prompt that was too large, and the size that the next one may have. Sizes are in
 *  its unit: tokens, or bytes if the request was too large. */
export class Refusal {
  /** The size of the refused prompt. */
  readonly size: number
  readonly inBytes: boolean

  constructor(
    readonly error: ProviderError,
    /** The error that was thrown, or the message that reports it. */
    readonly cause: unknown,
    readonly prompt: Readonly<Size>,
    readonly contextTokens: number,
  ) {
    this.inBytes = error.kind === 'payload_too_large'
    this.size = this.sizeOf(prompt)
  }

  sizeOf({ tokens, bytes }: Readonly<Size>): number {
    return this.inBytes ? bytes : tokens
  }

  /** The largest size that the next prompt may have. */
  get ceiling(): number {
    return Math.max(1, (this.#scaledLimit() ?? this.size) * SLACK)
  }

  /** Returns the largest size to leave when truncating a prompt. */
  cutTo(prompt: Readonly<Size>): number {
    const { limit } = this.#numbers()
    const scaled = this.#scaledLimit()
    const unknown = this.inBytes ? Number.POSITIVE_INFINITY : this.contextTokens
    // An estimate that was too high for the whole prompt may be right for the rest.
    const most = Number.isNaN(limit) ? unknown : limit
    const half =
      scaled === undefined ? Math.min(this.sizeOf(prompt), this.size) * HALF : Number.POSITIVE_INFINITY
    return Math.max(1, Math.min(half, Math.min(scaled ?? most, most) * CUT_SLACK))
  }

  /** Tokens over the limit by the provider's numbers, 0 if it gave none. Bytes and characters count
   *  in proportion. */
  get overflow(): number {
    if (this.inBytes || this.#inCharacters)
      return Math.ceil(this.prompt.tokens * Math.max(0, 1 - this.ceiling / this.size))
    const { actual, limit } = this.#numbers()
    return limit < actual ? actual - limit : 0
  }

  /** The provider's count. */
  get actualTokens(): number | undefined {
    return this.inBytes || this.#inCharacters ? undefined : this.error.actual
  }

  /** Returns the provider's limit on the scale of our measure, or undefined if it gave no
   *  numbers. */
  #scaledLimit(): number | undefined {
    const { size } = this
    if (this.#inCharacters) {
      const { actual = 0, limit = 0 } = this.error
      return limit > 0 && limit < actual ? (size * limit) / actual : undefined
    }
    const { actual, limit } = this.#numbers()
    // Bytes need no scale. A server may stop to count them at its limit.
    if (limit < size && (this.inBytes || !(limit < actual))) return limit
    if (!(limit < actual)) return undefined
    // The provider's count may include room for the answer, which does not shrink with the prompt.
    const over = actual - limit
    return Math.min((size * limit) / actual, over < size ? size - over : size)
  }

  /** True if the numbers are characters, which give a share but no tokens. */
  get #inCharacters(): boolean {
    return this.error.unit === 'characters'
  }

  #numbers(): { actual: number; limit: number } {
    if (this.#inCharacters) return { actual: Number.NaN, limit: Number.NaN }
    const { kind, actual = Number.NaN, limit } = this.error
    const known = kind === 'context_overflow' && !Number.isNaN(actual) ? this.contextTokens : Number.NaN
    return { actual, limit: limit ?? known }
  }

  toString(): string {
    return told(this.error)
  }
}

/** Returns the kind and the numbers of an error in words. */
export function told({ kind, actual, limit, status }: ProviderError): string {
  const parts = [
    status !== undefined && `status ${status}`,
    actual !== undefined && `${actual} asked for`,
    limit !== undefined && `${limit} allowed`,
  ].filter((part) => part !== false)
  return parts.length > 0 ? `${kind} (${parts.join(', ')})` : kind
}

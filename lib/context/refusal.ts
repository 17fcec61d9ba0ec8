import type { ProviderError } from 'spillway'

/** Kinds of refusals after which a smaller prompt may succeed. */
const KINDS: readonly string[] = ['context_overflow', 'payload_too_large', 'request_exceeds_rate_limit']

export function isRefusal({ kind }: ProviderError): boolean {
  return KINDS.includes(kind)
}

/** Share of the provider's limit that the next estimate may reach, since removed and kept text may be estimated
 *  differently. */
const SLACK = 0.95
/** Share of that limit for truncations, since estimates are at most 15 % low. */
const CUT_SLACK = 0.85
/** Share of the last estimate if the provider gave no numbers. */
const HALF = 0.5

/** A refusal of a prompt that was too large, and the size that the next one may have. */
export class Refusal {
  constructor(
    readonly error: ProviderError,
    /** The error that was thrown, or the message that reports it. */
    readonly cause: unknown,
    /** Estimate of the refused prompt, without a margin. */
    readonly tokens: number,
    readonly contextTokens: number,
  ) {}

  /** The highest estimate that the next prompt may have. */
  get ceiling(): number {
    return Math.max(1, (this.#scaledLimit() ?? this.tokens) * SLACK)
  }

  /** Returns the highest estimate to leave when truncating a prompt that is estimated at `tokens`. */
  cutTo(tokens: number): number {
    const { limit } = this.#numbers()
    const scaled = this.#scaledLimit()
    // An estimate that was too high for the whole prompt may be right for the rest.
    const most = this.#inBytes ? Number.POSITIVE_INFINITY : Number.isNaN(limit) ? this.contextTokens : limit
    const half = scaled === undefined ? Math.min(tokens, this.tokens) * HALF : Number.POSITIVE_INFINITY
    return Math.max(1, Math.min(half, Math.min(scaled ?? most, most) * CUT_SLACK))
  }

  /** Tokens over the limit by the provider's numbers, 0 if it gave none. */
  get overflow(): number {
    const { actual, limit } = this.#numbers()
    return this.#inBytes || !(limit < actual) ? 0 : actual - limit
  }

  /** The provider's count. */
  get actualTokens(): number | undefined {
    return this.#inBytes ? undefined : this.error.actual
  }

  /** Returns the provider's limit on the scale of our estimates, or undefined if it gave no numbers. */
  #scaledLimit(): number | undefined {
    const { actual, limit } = this.#numbers()
    const { tokens } = this
    if (!(limit < actual)) return !this.#inBytes && limit < tokens ? limit : undefined
    // The provider's count may include room for the answer, which does not shrink with the prompt.
    const rest = this.overflow < tokens ? tokens - this.overflow : tokens
    return Math.min((tokens * limit) / actual, rest)
  }

  #numbers(): { actual: number; limit: number } {
    const { kind, actual = Number.NaN, limit } = this.error
    const known = kind === 'context_overflow' && !Number.isNaN(actual) ? this.contextTokens : Number.NaN
    return { actual, limit: limit ?? known }
  }

  get #inBytes(): boolean {
    return this.error.kind === 'payload_too_large'
  }

  toString(): string {
    const { kind, actual, limit, status } = this.error
    const parts = [
      status !== undefined && `status ${status}`,
      actual !== undefined && `${actual} asked for`,
      limit !== undefined && `${limit} allowed`,
    ].filter((part) => part !== false)
    return parts.length > 0 ? `${kind} (${parts.join(', ')})` : kind
  }
}

import type { ProviderError } from 'spillway'

/** Refusals that a smaller prompt answers. */
const KINDS: readonly string[] = ['context_overflow', 'payload_too_large', 'request_exceeds_rate_limit']

export function isRefusal({ kind }: ProviderError): boolean {
  return KINDS.includes(kind)
}

/** Parts of what a provider says that it takes that a prompt may be estimated at: what goes of it and what stays may not
 *  be estimated alike. The second of what we cut ourselves: estimates are no more than 15 % low. The third where the
 *  provider told no numbers. */
const SLACK = 0.95
const CUT_SLACK = 0.85
const HALF = 0.5

/** A prompt that was too large for the provider, and how small one has to be. */
export class Refusal {
  constructor(
    readonly error: ProviderError,
    /** What the provider's library threw, or the message that told of it. */
    readonly cause: unknown,
    /** Estimate of the prompt, without a margin. */
    readonly tokens: number,
    readonly contextTokens: number,
  ) {}

  /** The most that the next prompt may be estimated at. */
  get ceiling(): number {
    return Math.max(1, (this.#taken() ?? this.tokens) * SLACK)
  }

  /** The most to leave by cutting a prompt that is estimated at so many tokens. */
  cutTo(tokens: number): number {
    const { limit } = this.#numbers()
    const taken = this.#taken()
    // An estimate that was high on the whole may be right on what is left.
    const most = this.#inBytes ? Number.POSITIVE_INFINITY : Number.isNaN(limit) ? this.contextTokens : limit
    const half = taken === undefined ? Math.min(tokens, this.tokens) * HALF : Number.POSITIVE_INFINITY
    return Math.max(1, Math.min(half, Math.min(taken ?? most, most) * CUT_SLACK))
  }

  /** Tokens over the limit, as far as the provider told. */
  get overflow(): number {
    const { actual, limit } = this.#numbers()
    return this.#inBytes || !(limit < actual) ? 0 : actual - limit
  }

  /** What the provider counted. */
  get actualTokens(): number | undefined {
    return this.#inBytes ? undefined : this.error.actual
  }

  /** The estimate of what the provider takes; nothing where it did not tell. */
  #taken(): number | undefined {
    const { actual, limit } = this.#numbers()
    const { tokens } = this
    if (!(limit < actual)) return !this.#inBytes && limit < tokens ? limit : undefined
    // What was asked for may have room for the answer in it, which does not become smaller with the prompt.
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
    const said = [
      status !== undefined && `status ${status}`,
      actual !== undefined && `${actual} asked for`,
      limit !== undefined && `${limit} allowed`,
    ].filter((part) => part !== false)
    return said.length > 0 ? `${kind} (${said.join(', ')})` : kind
  }
}

import type { Relayed } from '../compiled.js'

/** The structured content of an answer on its way through a clamp, as JSON that keeps its
 *  spelling. */
export class Structured implements Relayed {
  /** The JSON of content after a cut. */
  left: string | undefined
  /** Words about the omission, and true if the result has them in a block. */
  words = ''
  isSaid = false
  readonly #content: unknown
  readonly #source: () => string

  /** `source`: returns the JSON of `content` as its server spelled it. */
  constructor(content: unknown, source: () => string) {
    this.#content = content
    this.#source = source
  }

  spelled(content: unknown): string | undefined {
    return content !== undefined && content === this.#content ? this.#source() : undefined
  }

  take(left: string | undefined, words: string, isSaid: boolean): void {
    this.left = left
    this.words = words
    this.isSaid = isSaid
  }
}

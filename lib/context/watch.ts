import { get, isPlain, quietly } from '../reading.js'

/** Reads above which a value is not worth watching. */
const MOST = 30_000

/** Depth above which JSON is not watched. Bounds the stack, and cycles. */
const DEPTH = 200

/** In place of a name: the number of members of an object. */
const COUNT = Symbol('count')
/** In place of a value: any number. */
const NUMBER = Symbol('number')

/** Records the reads of a caller's value, to detect later changes. */
export class Watch {
  /** Object, name and value of each read. */
  readonly #reads: unknown[] = []
  #lost = false

  /** Gives up, after a read that cannot be recorded. */
  lose(): void {
    this.#lost = true
  }

  /** Records the number of members of an object. */
  members(object: object): void {
    this.note(object, COUNT, countOf(object))
  }

  /** Records that a member is a number. */
  number(object: object, name: PropertyKey): void {
    this.note(object, name, NUMBER)
  }

  note(object: object, name: PropertyKey, value: unknown): void {
    if (this.#reads.length < MOST * 3) this.#reads.push(object, name, value)
    else this.#lost = true
  }

  /** Records everything that determines the JSON of a value. */
  json(value: unknown): void {
    if (quietly(() => this.#json(value, 0)) !== true) this.lose()
  }

  /** Returns true if everything could be recorded. */
  #json(value: unknown, depth: number): boolean {
    if (typeof value !== 'object' || value === null) return true
    const isData = Array.isArray(value) || isPlain(value)
    if (this.#lost || depth > DEPTH || !isData || get(value, 'toJSON') !== undefined) return false
    this.members(value)
    return Object.keys(value).every((name) => {
      const member = get(value, name)
      this.note(value, name, member)
      return this.#json(member, depth + 1)
    })
  }

  /** Returns true if nothing has changed. Returns false if not everything could be recorded. */
  holds(): boolean {
    return !this.#lost && (quietly(() => this.#same()) ?? false)
  }

  #same(): boolean {
    const reads = this.#reads
    for (let at = 0; at < reads.length; at += 3) {
      const object = reads[at] as Record<PropertyKey, unknown>
      const name = reads[at + 1] as PropertyKey
      const now = name === COUNT ? countOf(object) : object[name]
      const was = reads[at + 2]
      if (now !== was && !(was === NUMBER && typeof now === 'number')) return false
    }
    return true
  }
}

function countOf(object: object): number {
  if (Array.isArray(object)) return object.length
  let count = 0
  // Includes inherited names, which is consistent between calls and faster than a list of own names.
  for (const _ in object) count += 1
  return count
}

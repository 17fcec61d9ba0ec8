import { get, isPlain, quietly } from '../reading.js'

/** More reads than these are not worth remembering. */
const MOST = 30_000

/** In the place of a name: how many members an object has. */
const COUNT = Symbol('count')

/** What was read of a caller's value, so that it can be told later whether reading it again would come to the same. */
export class Watch {
  /** Objects, names and values by turns. */
  readonly #reads: unknown[] = []
  #lost = false

  /** Notes which members an object has. */
  members(object: object): void {
    this.note(object, COUNT, countOf(object))
  }

  note(object: object, name: PropertyKey, value: unknown): void {
    if (this.#reads.length < MOST * 3) this.#reads.push(object, name, value)
    else this.#lost = true
  }

  /** Notes all that goes into the JSON of a value. */
  json(value: unknown): void {
    if (typeof value !== 'object' || value === null || this.#lost) return
    if ((!Array.isArray(value) && !isPlain(value)) || get(value, 'toJSON') !== undefined) {
      this.#lost = true
      return
    }
    this.members(value)
    for (const name of Object.keys(value)) {
      const member = get(value, name)
      this.note(value, name, member)
      this.json(member)
    }
  }

  /** Whether everything is as it was. False also where there was too much to note. */
  holds(): boolean {
    return !this.#lost && (quietly(() => this.#same()) ?? false)
  }

  #same(): boolean {
    const reads = this.#reads
    for (let at = 0; at < reads.length; at += 3) {
      const object = reads[at] as Record<PropertyKey, unknown>
      const name = reads[at + 1] as PropertyKey
      const now = name === COUNT ? countOf(object) : object[name]
      if (now !== reads[at + 2]) return false
    }
    return true
  }
}

function countOf(object: object): number {
  if (Array.isArray(object)) return object.length
  let count = 0
  // Names that are inherited count both times; making a list of the own ones takes longer.
  for (const _ in object) count += 1
  return count
}

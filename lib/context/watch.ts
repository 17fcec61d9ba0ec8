import { get, isPlain, quietly } from '../reading.js'

/** More reads than these are not worth remembering. */
const MOST = 30_000

/** Nested deeper than this, the JSON of a value is not looked through: a stack has its end, and a cycle none. */
const DEPTH = 200

/** In the place of a name: how many members an object has. */
const COUNT = Symbol('count')
/** In the place of a value: any number. */
const NUMBER = Symbol('number')

/** What was read of a caller's value, so that it can be told later whether reading it again would come to the same. */
export class Watch {
  /** Objects, names and values by turns. */
  readonly #reads: unknown[] = []
  #lost = false

  /** Gives up: something was read that cannot be noted. */
  lose(): void {
    this.#lost = true
  }

  /** Notes which members an object has. */
  members(object: object): void {
    this.note(object, COUNT, countOf(object))
  }

  /** Notes that a member is a number, whichever. */
  number(object: object, name: PropertyKey): void {
    this.note(object, name, NUMBER)
  }

  note(object: object, name: PropertyKey, value: unknown): void {
    if (this.#reads.length < MOST * 3) this.#reads.push(object, name, value)
    else this.#lost = true
  }

  /** Notes all that goes into the JSON of a value. */
  json(value: unknown): void {
    if (quietly(() => this.#json(value, 0)) !== true) this.lose()
  }

  /** Whether all of it could be noted. */
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
      const was = reads[at + 2]
      if (now !== was && !(was === NUMBER && typeof now === 'number')) return false
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

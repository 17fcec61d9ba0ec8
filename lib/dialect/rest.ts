import { jsonOf, roomAfter } from '../json.js'
import { elementAt, get, isObject } from '../reading.js'
import type { Slot } from './dialect.js'
import type { Paths, Place } from './path.js'

/**
 * What no path reads of a result, though a framework may send it: members beside those that are known, and blocks of
 * another type. Little of it stays as it is. More counts against the limits as JSON, and comes back smaller in its place.
 */

/** Bytes of JSON that the rest of a result may have besides its limits, as in src/dialect/rest.rs. */
const LITTLE = 1_024
/** What is longer is no tag. */
const WORD = 256

/** How a path ends that leads to no text. */
export const ASIDE = 'aside'
export const WORDS = 'word'
export const PAYLOAD = 'payload'
const TEXT = ''

/** What a slot is called that is the rest of an object, or a block of a list. */
export const REST = 'rest'

/** Tells whether a slot is of members of an object, which stand in no place of their own. */
export function isMembers({ holder, json }: Slot): boolean {
  return json?.as === REST && !Array.isArray(holder.value)
}

/** What is left of the members of an object, but for those that are the same. */
export function changedIn(members: object, left: object): [name: string, value: unknown][] {
  const isSame = (name: string) => jsonOf(get(members, name)) === jsonOf(get(left, name))
  return Object.entries(left).filter(([name]) => !Object.hasOwn(members, name) || !isSame(name))
}

type Members = ReadonlyMap<string, Known>

/** All that is known of a value: the paths that lead there, as one. */
export class Known {
  /** A path that leads to no text ends here, and the rest of what is below reaches no model. */
  readonly isAside: boolean
  readonly isLeaf: boolean
  readonly #paths: readonly Paths[]
  readonly #tags: Set<string>
  readonly #members: Members
  readonly #each: readonly Paths[]
  readonly #element: Known | undefined
  /** The same where a tag leads on, made at first sight. */
  readonly #tagged = new Map<Paths, Members>()
  readonly #elements = new Map<Paths, Known>()

  constructor(paths: readonly Paths[], tags: readonly string[] = []) {
    this.#paths = paths
    const own = paths.flatMap(({ filters }) => filters.map(({ tag }) => tag))
    this.#tags = new Set(['role', 'type', ...tags, ...own])
    this.#members = membersOf(paths)
    this.#each = paths.flatMap(({ each }) => each ?? [])
    this.#element = this.#each.length > 0 ? new Known(this.#each, own) : undefined
    this.isAside = paths.some(({ end }) => end === ASIDE)
    this.isLeaf = this.#members.size === 0 && own.length === 0 && !this.#element
  }

  isTag(name: string): boolean {
    return this.#tags.has(name)
  }

  membersOf(place: Place): Members {
    const tagged = this.#match(place)
    if (!tagged) return this.#members
    const known = this.#tagged.get(tagged) ?? membersOf([...this.#paths, tagged])
    this.#tagged.set(tagged, known)
    return known
  }

  elementOf(place: Place): Known | undefined {
    const tagged = this.#match(place)
    if (!tagged) return this.#element
    const known =
      this.#elements.get(tagged) ??
      new Known(
        [...this.#each, tagged],
        this.#paths.flatMap(({ filters }) => filters.map(({ tag }) => tag)),
      )
    this.#elements.set(tagged, known)
    return known
  }

  /** Where the tags of a value lead; rather to members than to the value itself. */
  #match(place: Place): Paths | undefined {
    let found: Paths | undefined
    for (const { filters } of this.#paths) {
      for (const filter of filters) {
        const next = filter.of(place.read(filter.tag))
        if (next && !(found && found.names.length > 0)) found = next
      }
    }
    return found
  }

  /** Tells whether all of a value is a text that was read, or known to be none. */
  reads(value: unknown, read: readonly Slot[]): boolean {
    for (const { end } of this.#paths) {
      if (end === undefined) continue
      if (end === ASIDE) {
        if (this.isLeaf) return true
      } else if (end === WORDS) {
        if (!isObject(value)) return true
      } else if (end === PAYLOAD) {
        if (typeof value === 'string' || ArrayBuffer.isView(value)) return true
      } else if (typeof value === 'string') return true
      else if (end !== TEXT && isObject(value) && read.some(({ json }) => json?.value === value)) return true
    }
    return false
  }

  /** Tells whether paths go on inside of a value. */
  leadsInto(value: object): boolean {
    if (this.isLeaf) return false
    return this.#paths.some(
      ({ names, filters, each }) => filters.length > 0 || (Array.isArray(value) ? each : names.length > 0),
    )
  }
}

function membersOf(paths: readonly Paths[]): Members {
  const next = new Map<string, Paths[]>()
  for (const { names, next: nexts } of paths)
    for (const [at, name] of names.entries()) next.set(name, [...(next.get(name) ?? []), nexts[at] as Paths])
  return new Map([...next].map(([name, paths]) => [name, new Known(paths)]))
}

/** Finds the rest of the result at a place, with the slots that were read of it. */
export function restOf(known: Known, place: Place, slots: readonly Slot[]): Slot[] {
  const rest = new Rest(slots)
  try {
    rest.visit(known, place)
  } catch {
    // A trap of a proxy threw; what was found until then is known.
  }
  return rest.slots()
}

type Member = readonly [key: string | number, value: unknown]

class Rest {
  /** Members of an object that are unknown, or elements of a list. */
  readonly #parts: { readonly holder: Place; readonly members: Member[] }[] = []
  #room = LITTLE

  constructor(readonly read: readonly Slot[]) {}

  slots(): Slot[] {
    if (this.#room >= 0) return []
    const slots = this.#parts.flatMap(({ holder, members }) =>
      Array.isArray(holder.value)
        ? members.flatMap(([key, element]) => slotOf(holder, key, element))
        : slotOf(holder, '', Object.fromEntries(members)),
    )
    return slots.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) > LITTLE ? slots : []
  }

  visit(known: Known, place: Place): void {
    if (Array.isArray(place.value)) this.#visitList(known, place, place.value)
    else this.#visitObject(known, place)
  }

  #visitList(known: Known, place: Place, value: readonly unknown[]): void {
    let unknown: Member[] | undefined
    for (let at = 0; at < value.length; at++) {
      const element = elementAt(value, at)
      const child = isObject(element) ? place.child(element, at) : undefined
      const next = child && !this.#isWritten(child.value) && known.elementOf(child)
      if (child && next) this.visit(next, child)
      else {
        unknown = this.#keep(unknown, place)
        unknown.push([at, element])
        this.#weigh(element)
      }
    }
  }

  #visitObject(known: Known, place: Place): void {
    const { value } = place
    const members = known.membersOf(place)
    let unknown: Member[] | undefined
    for (const name of Object.keys(value)) {
      const next = members.get(name)
      if (next ? next.isAside && next.isLeaf : known.isAside) continue
      const member = place.last(name)
      if (member === undefined || typeof member === 'function') continue
      if (next ? next.reads(member, this.read) : known.isTag(name) && isWord(member)) continue
      if (next && isObject(member) && !this.#isWritten(member) && next.leadsInto(member)) {
        this.visit(next, place.child(member, name))
        continue
      }
      unknown = this.#keep(unknown, place)
      unknown.push([name, member])
      this.#weigh(name)
      this.#weigh(member)
    }
  }

  /** Whether JSON of a value is what it says itself, not its members: bytes, and a `toJSON` beside no text that was read. */
  #isWritten(value: object): boolean {
    if (ArrayBuffer.isView(value)) return true
    return typeof get(value, 'toJSON') === 'function' && !this.read.some((slot) => isWithin(slot, value))
  }

  #keep(members: Member[] | undefined, holder: Place): Member[] {
    if (members) return members
    const made: Member[] = []
    this.#parts.push({ holder, members: made })
    return made
  }

  #weigh(value: unknown): void {
    if (this.#room >= 0) this.#room = roomAfter(value, this.#room)
  }
}

function slotOf(holder: Place, key: string | number, value: unknown): Slot[] {
  const text = jsonOf(value)
  return text === undefined ? [] : [{ text, holder, key, json: { value, as: REST } }]
}

function isWithin({ holder }: Slot, value: object): boolean {
  for (let at: Place | undefined = holder; at; at = at.parent) if (at.value === value) return true
  return false
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= WORD : !isObject(value)
}

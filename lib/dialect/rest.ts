import { jsonOf, roomAfter } from '../json.js'
import { elementAt, get, isObject } from '../reading.js'
import type { Slot } from './dialect.js'
import type { Paths, Place } from './path.js'

/**
 * The rest of a result: members and blocks that no path reads, though a framework may send them. A small rest is kept.
 * A larger one counts against the limits as JSON, and is shrunk in place.
 */

/** Bytes of JSON that the rest of a result may have beyond its limits, as in src/dialect/rest.rs. */
export const LITTLE = 1_024
/** Most chars of a tag. */
const WORD = 256

/** Markers of paths that do not lead to text. */
export const ASIDE = 'aside'
export const WORDS = 'word'
export const PAYLOAD = 'payload'
const TEXT = ''

/** Marks a slot as the rest of an object, or as an unknown block of a list. */
export const REST = 'rest'

/** Returns true if a slot stands for members of an object, which have no common place. */
export function isMembers({ holder, json }: Slot): boolean {
  return json?.as === REST && !Array.isArray(holder.value)
}

/** Returns the entries of `left` that are not in `members` with equal JSON. */
export function changedIn(members: object, left: object): [name: string, value: unknown][] {
  const isSame = (name: string) => jsonOf(get(members, name)) === jsonOf(get(left, name))
  return Object.entries(left).filter(([name]) => !Object.hasOwn(members, name) || !isSame(name))
}

type Members = ReadonlyMap<string, Known>

/** All known paths that lead to a value, merged. */
export class Known {
  /** True if a path that does not lead to text ends here. The rest below it reaches no model. */
  readonly isAside: boolean
  readonly isLeaf: boolean
  /** True if a string, or another primitive, is a text that was read or known not to be one. */
  readonly takesString: boolean
  readonly takesWord: boolean
  private readonly ends: readonly string[]
  private readonly filters: Paths['filters']
  private readonly tags: Set<string>
  private readonly members: Members
  private readonly each: readonly Paths[]
  private readonly element: Known | undefined
  /** Members and elements for the paths of a matching tag, made on first use. */
  private readonly tagged = new Map<Paths, Members>()
  private readonly elements = new Map<Paths, Known>()

  constructor(
    private readonly paths: readonly Paths[],
    tags: readonly string[] = [],
  ) {
    this.filters = paths.flatMap(({ filters }) => filters)
    const own = this.filters.map(({ tag }) => tag)
    this.tags = new Set(['role', 'type', ...tags, ...own])
    this.members = membersOf(paths)
    this.each = paths.flatMap(({ each }) => each ?? [])
    this.element = this.each.length > 0 ? new Known(this.each, own) : undefined
    this.ends = paths.flatMap(({ end }) => end ?? [])
    this.isAside = this.ends.includes(ASIDE)
    this.isLeaf = this.members.size === 0 && own.length === 0 && !this.element
    const isKnown = this.isAside && this.isLeaf
    this.takesWord = isKnown || this.ends.includes(WORDS)
    this.takesString = isKnown || this.ends.some((end) => end !== ASIDE)
  }

  isTag(name: string): boolean {
    return this.tags.has(name)
  }

  membersOf(place: Place): Members {
    const tagged = this.match(place)
    if (!tagged) return this.members
    const known = this.tagged.get(tagged) ?? membersOf([...this.paths, tagged])
    this.tagged.set(tagged, known)
    return known
  }

  elementOf(place: Place): Known | undefined {
    const tagged = this.match(place)
    if (!tagged) return this.element
    const known =
      this.elements.get(tagged) ??
      new Known(
        [...this.each, tagged],
        this.filters.map(({ tag }) => tag),
      )
    this.elements.set(tagged, known)
    return known
  }

  /** Returns the paths of a matching tag, preferably paths that lead to members. */
  private match(place: Place): Paths | undefined {
    let found: Paths | undefined
    for (let at = 0; at < this.filters.length; at++) {
      const filter = this.filters[at] as Paths['filters'][number]
      const next = filter.of(place.read(filter.tag))
      if (next && !(found && found.names.length > 0)) found = next
    }
    return found
  }

  /** Returns true if a value is a text that was read, or known not to hold text. */
  reads(value: unknown, read: readonly Slot[]): boolean {
    if (typeof value === 'string') return this.takesString
    if (!isObject(value)) return this.takesWord
    return this.ends.some((end) =>
      end === ASIDE
        ? this.isLeaf
        : end === PAYLOAD
          ? ArrayBuffer.isView(value)
          : end !== WORDS && end !== TEXT && read.some(({ json }) => json?.value === value),
    )
  }

  /** Returns true if paths continue inside a value. */
  leadsInto(value: object): boolean {
    if (this.isLeaf) return false
    return this.paths.some(
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

/** Returns slots for the rest of the result at a place. `slots`: the slots that paths have read. */
export function restOf(known: Known, place: Place, slots: readonly Slot[]): readonly Slot[] {
  const rest: Rest = { read: slots, parts: undefined, room: LITTLE }
  try {
    visit(rest, known, place)
  } catch {
    // A proxy trap threw. The parts found before are used.
  }
  return rest.room < 0 && rest.parts ? slotsOf(rest.parts) : NONE
}

const NONE: readonly Slot[] = []

type Entry = readonly [name: string, value: unknown]

/** An unknown element of a list, or the unknown members of an object, at the position of the first. */
interface Part {
  readonly holder: Place
  readonly key: number | ''
  readonly value: unknown
}

interface Rest {
  readonly read: readonly Slot[]
  parts: Part[] | undefined
  room: number
}

function slotsOf(parts: readonly Part[]): readonly Slot[] {
  const slots = parts.flatMap(({ holder, key, value }) =>
    slotOf(holder, key, key === '' ? Object.fromEntries(value as Entry[]) : value),
  )
  return slots.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) > LITTLE ? slots : NONE
}

function visit(rest: Rest, known: Known, place: Place): void {
  if (Array.isArray(place.value)) visitList(rest, known, place, place.value)
  else visitObject(rest, known, place)
}

function visitList(rest: Rest, known: Known, place: Place, value: readonly unknown[]): void {
  for (let at = 0; at < value.length; at++) {
    const element = elementAt(value, at)
    const child = isObject(element) ? place.child(element, at) : undefined
    const next = child && !isWritten(child.value, rest.read) && known.elementOf(child)
    if (child && next) visit(rest, next, child)
    else {
      add(rest, place, at, element)
      weigh(rest, element)
    }
  }
}

function visitObject(rest: Rest, known: Known, place: Place): void {
  const members = known.membersOf(place)
  let unknown: Entry[] | undefined
  for (const name of Object.keys(place.value)) {
    const next = members.get(name)
    if (next ? next.isAside && next.isLeaf : known.isAside) continue
    const member = place.last(name)
    if (member === undefined || typeof member === 'function') continue
    if (next ? next.reads(member, rest.read) : known.isTag(name) && isWord(member)) continue
    if (next && isObject(member) && !isWritten(member, rest.read) && next.leadsInto(member))
      visit(rest, next, place.child(member, name))
    else {
      if (!unknown) {
        unknown = []
        add(rest, place, '', unknown)
      }
      unknown.push([name, member])
      weigh(rest, name)
      weigh(rest, member)
    }
  }
}

/** Returns true if the JSON of a value is not that of its members: bytes, or a `toJSON` and no text that was read. */
function isWritten(value: object, read: readonly Slot[]): boolean {
  if (ArrayBuffer.isView(value)) return true
  return typeof get(value, 'toJSON') === 'function' && !read.some((slot) => isWithin(slot, value))
}

function add(rest: Rest, holder: Place, key: Part['key'], value: unknown): void {
  rest.parts ??= []
  rest.parts.push({ holder, key, value })
}

function weigh(rest: Rest, value: unknown): void {
  if (rest.room >= 0) rest.room = roomAfter(value, rest.room)
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

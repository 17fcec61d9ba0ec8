import { types } from 'node:util'
import { escaped, jsonOf, roomAfter } from '../json.js'
import { elementAt, get, indexesOf, isList, isObject, unboxed } from '../untrusted.js'
import { type End, endsAt, type Mark, type PathNode, type Paths } from './paths.js'

/** A place with text that a model sees. */
export interface Slot {
  readonly text: string
  readonly holder: PathNode
  readonly key: string | number
  /** The value, if the text is its JSON, and how a text replaces it. */
  readonly json: { readonly value: unknown; readonly as: string } | undefined
}

/**
 * Marks a slot as the rest of a result: members and blocks that no path reads, though a framework
 * may send them. A small rest is kept. A larger one counts against the limits as JSON, and is
 * shrunk in place.
 */
export const REST = 'rest'
/** A string that is JSON, and must stay JSON. */
const ENCODED = 'encoded'

/** Bytes of JSON that the rest of a result may have beyond its limits, as in
 *  src/dialect/unread.rs. */
export const LITTLE = 1_024
/** Fields of paths whose ends are not listed. */
const PARTS: ReadonlySet<string> = new Set(['text', 'json', 'aside', 'words'])
/** Most chars of a tag or another word. */
const WORD = 256
/** Blocks of a list that have no size of their own. Of the others, those without a text are the
 *  rest. As in src/dialect/unread.rs. */
const BLOCKS = 2_000

/** Returns true if a slot stands for members of an object, which have no common place. */
export function isMembers({ holder, json }: Slot): boolean {
  return json?.as === REST && !isList(holder.value)
}

/** Returns the entries of `left` that are not in `members` with equal JSON. */
export function changedIn(members: object, left: object): [name: string, value: unknown][] {
  const isSame = (name: string) => jsonOf(get(members, name)) === jsonOf(get(left, name))
  return Object.entries(left).filter(([name]) => !Object.hasOwn(members, name) || !isSame(name))
}

type Entry = readonly [name: string, value: unknown]

/** Unknown members of an object, or an unknown element of a list. */
interface Remainder {
  readonly holder: PathNode
  readonly key: number | ''
  readonly value: unknown
}

/** Reads a result in one walk along all paths of its row. */
export class Walk {
  /** Ends of paths that do not lead to text. */
  readonly ends: End[] = []
  private readonly texts: Slot[] = []
  private readonly parts: Remainder[] = []
  /** Blocks without a text that are too many. */
  private readonly beyond: Remainder[] = []
  /** Bytes up to which the rest is small. */
  private room = LITTLE

  constructor(paths: Paths, place: PathNode) {
    const here = isList(place.value) ? paths : paths.at(place)
    this.end(here, place.value, place.parent ?? place, place.key)
    this.enter(here, place)
  }

  /** Returns the texts in the order of their paths, unless the rest is small after it, and before
   *  blocks that are too many. */
  get slots(): readonly Slot[] {
    if (this.room >= 0) return this.texts
    const [rest, beyond] = [restOf(this.parts), restOf(this.beyond)]
    const bytes = [...rest, ...beyond].reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    return bytes > LITTLE ? [...rest, ...this.texts, ...beyond] : this.texts
  }

  /** Takes in a value. Returns false if it belongs to the rest. */
  private take(paths: Paths, given: unknown, holder: PathNode, key: string | number): boolean {
    const value = unboxed(given)
    if (!isObject(value)) return this.end(paths, value, holder, key)
    const place = holder.child(value, key)
    const here = isList(value) ? paths : paths.at(place)
    if (this.end(here, value, holder, key)) return true
    const isBlock = typeof key === 'number'
    if (ArrayBuffer.isView(value) || !(isBlock || here.leadsInto(value))) return false
    const { texts, parts, beyond } = this
    const [textsBefore, partsBefore, beyondBefore] = [texts.length, parts.length, beyond.length]
    this.enter(here, place)
    // The JSON of an object with a `toJSON` is not that of its members.
    if (texts.length > textsBefore || !writesItself(value)) return true
    parts.length = partsBefore
    beyond.length = beyondBefore
    return false
  }

  /** Records a value to which paths lead. Returns true if nothing of it is left to read. */
  private end(paths: Paths, value: unknown, holder: PathNode, key: string | number): boolean {
    let isRead = false
    for (const end of paths.ends) {
      const { field, as } = end
      if (field === 'aside') isRead ||= paths.isLeaf
      else if (field === 'words') isRead ||= isWord(value)
      else if (field === 'text' || field === 'json') {
        const slot = slotOf(end, paths, value, holder, key)
        if (!slot) continue
        this.texts.push(slot)
        isRead = true
        if (isObject(value))
          for (const inner of endsAt(paths, holder.child(value, key)))
            if (!PARTS.has(inner.field)) this.ends.push(inner)
      } else {
        this.ends.push({ field, as, value, holder, key })
        isRead ||= !isObject(value) || field === 'side' || ArrayBuffer.isView(value)
      }
    }
    return isRead
  }

  private enter(paths: Paths, place: PathNode): void {
    if (isList(place.value)) this.enterList(paths, place, place.value)
    else this.enterObject(paths, place)
  }

  private enterList(paths: Paths, place: PathNode, list: readonly unknown[]): void {
    for (const at of indexesOf(list)) {
      const element = unboxed(elementAt(list, at))
      const child = isObject(element) ? place.child(element, at) : undefined
      const next = child && paths.atElement(child)
      const { texts, parts } = this
      const [textsBefore, partsBefore] = [texts.length, parts.length]
      const isRead = next !== undefined && this.take(next, element, place, at)
      const isFree = at < BLOCKS || texts.slice(textsBefore).some(({ text }) => text !== '')
      if (isRead && isFree) continue
      texts.length = textsBefore
      parts.length = partsBefore
      const part: Remainder = { holder: place, key: at, value: element }
      if (isRead) this.beyond.push(part)
      else parts.push(part)
      this.weigh(element)
    }
  }

  private enterObject(paths: Paths, place: PathNode): void {
    const { names, next, tags } = paths
    const own = keysOf(place.value)
    const isBare = isSimple(place.value)
    /** Values at the ends of paths that are not what the paths lead to. */
    let missed: Map<string, unknown> | undefined
    /** The rest within members, which is listed in the order of the object. */
    let below: Map<string, Remainder[]> | undefined
    for (let at = 0; at < names.length; at++) {
      const [name, further] = [names[at] as string, next[at] as Paths]
      // Most paths of a row lead nowhere in a result. Only a class inherits members.
      if (further.isAside || (isBare && !own.includes(name))) continue
      const member = place.read(name, further.isLeaf)
      const before = this.parts.length
      if (isSent(member) && !this.take(further, member, place, name)) {
        missed ??= new Map()
        missed.set(name, member)
      }
      if (this.parts.length === before) continue
      below ??= new Map()
      below.set(name, this.parts.splice(before))
    }
    let unknown: Entry[] | undefined
    const isAside = paths.endsIn('aside')
    for (const name of own) {
      // One by one: more arguments than the stack holds would throw.
      for (const part of below?.get(name) ?? []) this.parts.push(part)
      const isMissed = missed?.has(name) ?? false
      if (names.includes(name) ? !isMissed : isAside) continue
      const member = isMissed ? missed?.get(name) : place.read(name, true)
      if (!isSent(member) || (tags.includes(name) && isWord(member))) continue
      if (!unknown) {
        unknown = []
        this.parts.push({ holder: place, key: '', value: unknown })
      }
      unknown.push([name, member])
      this.weigh(name)
      this.weigh(member)
    }
  }

  private weigh(value: unknown): void {
    if (this.room >= 0) this.room = roomAfter(value, this.room)
  }
}

/** Returns slots for what no path reads. */
function restOf(parts: readonly Remainder[]): Slot[] {
  return parts.flatMap(({ holder, key, value }): Slot[] => {
    const data: unknown = key === '' ? Object.fromEntries(value as Entry[]) : value
    const text = jsonOf(data)
    return text === undefined ? [] : [{ text, holder, key, json: { value: data, as: REST } }]
  })
}

function slotOf(
  { as }: Mark,
  paths: Paths,
  value: unknown,
  holder: PathNode,
  key: string | number,
): Slot | undefined {
  if (typeof value === 'string') {
    const json = as === ENCODED ? { value, as } : undefined
    return { text: value, holder, key, json }
  }
  if (as === '' || !isObject(value) || isRead(paths, holder.child(value, key))) return undefined
  const text = jsonOf(value)
  return text === undefined ? undefined : { text: escaped(text), holder, key, json: { value, as } }
}

/** Returns true if paths read all members of an object, or if it is a result with a known block. */
function isRead(paths: Paths, place: PathNode): boolean {
  const { value } = place
  if (paths.names.length === 0 || isList(value)) return false
  const content = paths.names.includes('content') ? place.read('content') : undefined
  // An object with its own `toJSON` may write other data than its members.
  if (
    writesItself(value) ||
    (isList(content) && Array.from(indexesOf(content)).some((at) => writesItself(elementAt(content, at))))
  )
    return false
  if (paths.countContent(place) > 0) return true
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every((key) => paths.names.includes(key))
}

/** Returns true if an object has no members but its own, and no proxy trap. */
function isSimple(value: object): boolean {
  return !types.isProxy(value) && Object.getPrototypeOf(value) === Object.prototype
}

/** Returns the names of an object's members, none if a proxy trap throws. */
function keysOf(value: object): readonly string[] {
  try {
    return Object.keys(value)
  } catch {
    return []
  }
}

function writesItself(value: unknown): boolean {
  return isObject(value) && typeof get(value, 'toJSON') === 'function'
}

function isSent(value: unknown): boolean {
  return value !== undefined && typeof value !== 'function'
}

function isWord(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= WORD : !isObject(value)
}

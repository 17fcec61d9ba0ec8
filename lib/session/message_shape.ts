import type { Draft } from '../dialect/edit.js'
import type { End, PathNode } from '../dialect/paths.js'
import type { Result } from '../dialect/results.js'
import { REST } from '../dialect/walk.js'
import { jsonBytes } from '../json.js'
import { get, isList } from '../untrusted.js'

/** A part of a message that may be shortened or removed. */
export interface MessagePart {
  readonly value: unknown
  /** Replaces the part; undefined removes it. */
  readonly put: (kept: unknown, draft: Draft) => void
}

/** Returns the objects of a message on the paths to its results and to their known contents.
 *  `results`: at least one, all of the same message. */
export function shapeOf(results: readonly Result[]): ShapeNode {
  let root = (results[0] as Result).place
  while (root.parent) root = root.parent
  const shape = new ShapeNode(root)
  for (const result of results) shape.add(result)
  return shape
}

/** Members that hold the blocks of a result, even if none of the blocks is known. */
const LISTS: readonly string[] = ['content', 'output', 'parts']
/** Members that hold a kind or a status. */
const TAGS: readonly string[] = ['role', 'type', 'isError', 'is_error', 'status', 'state']

/** An object on the path to a known part. Everything else in it is unknown. */
class ShapeNode {
  readonly #children = new Map<string, ShapeNode>()
  /** Keys of texts, side data and payloads. */
  readonly #ends = new Set<string>()
  readonly #words = new Set(TAGS)
  #isResult = false

  constructor(
    readonly place: PathNode,
    readonly parent?: ShapeNode,
  ) {}

  add(result: Result): void {
    const { place, slots, media, side } = result
    const top = this.#at(place)
    top.#isResult = true
    if (place.twin !== undefined) top.#ends.add(place.twin)
    const texts = slots.filter(({ json }) => json?.as !== REST)
    for (const { holder, key } of [...texts, ...side, ...media.filter(isPayload)])
      this.#at(holder).#ends.add(String(key))
    for (const { holder, key, value } of [...result.ends('id'), ...result.ends('tool')])
      if (typeof value === 'string') this.#at(holder).#words.add(String(key))
    for (const name of LISTS) {
      const list = place.read(name)
      if (isList(list)) this.#at(place.child(list, name))
    }
  }

  /** Returns the unknown parts inside the results, or outside them, of each object with more than
   *  `bytes` of them as JSON. */
  unknown(where: 'inside' | 'outside', bytes: number): MessagePart[] {
    const own = this.isInside === (where === 'inside') ? this.#unknown(bytes) : []
    return [...own, ...this.#below((node) => node.unknown(where, bytes))]
  }

  /** Returns ids, names and tags. */
  words(): MessagePart[] {
    const { place } = this
    const own = [...this.#words].flatMap((name) => {
      const value = this.#ends.has(name) ? undefined : get(place.value, name)
      return typeof value === 'string' ? { value, put: putInto(place, name) } : []
    })
    return [...own, ...this.#below((node) => node.words())]
  }

  /** Returns the outermost lists of blocks within the results. */
  lists(): PathNode[] {
    const isBlocks = this.isInside && isList(this.place.value)
    return isBlocks ? [this.place] : this.#below((node) => node.lists())
  }

  /** True for a result, and for everything in it. */
  get isInside(): boolean {
    return this.#isResult || (this.parent?.isInside ?? false)
  }

  #at(place: PathNode): ShapeNode {
    if (!place.parent) return this
    const parent = this.#at(place.parent)
    const key = String(place.key)
    const node = parent.#children.get(key) ?? new ShapeNode(place, parent)
    parent.#children.set(key, node)
    return node
  }

  #below<T>(read: (node: ShapeNode) => T[]): T[] {
    return [...this.#children.values()].flatMap(read)
  }

  /** Returns the unknown blocks of a list one by one, the unknown members of any other object
   *  together. */
  #unknown(bytes: number): MessagePart[] {
    const { place } = this
    const isBlock = isList(place.value)
    const names = Object.keys(place.value).filter((name) => !this.#knows(name, isBlock))
    const members = names
      .map((name) => [name, get(place.value, name)] as const)
      .filter(([, value]) => value !== undefined && typeof value !== 'function')
    const all = Object.fromEntries(members)
    if (members.length === 0 || jsonBytes(all) <= bytes) return []
    if (isBlock) return members.map(([name, value]) => ({ value, put: putInto(place, Number(name)) }))
    const put = (kept: unknown, draft: Draft) => {
      const left = new Map(Object.entries(kept ?? {}))
      for (const [name] of members) if (!left.has(name)) draft.remove(place, name)
      for (const [name, value] of left) draft.set(place, name, value)
    }
    return [{ value: all, put }]
  }

  #knows(name: string, isBlock: boolean): boolean {
    if (this.#children.has(name) || this.#ends.has(name)) return true
    return !isBlock && this.#words.has(name) && typeof get(this.place.value, name) !== 'object'
  }
}

/** Makes a function that replaces or removes one member. */
export function putInto(place: PathNode, key: string | number): MessagePart['put'] {
  return (kept, draft) => {
    if (kept === undefined) draft.remove(place, key)
    else draft.set(place, key, kept)
  }
}

/** Returns true if the value in the place of a payload is one. */
export function isPayload({ value }: End): boolean {
  return typeof value === 'string' || ArrayBuffer.isView(value)
}

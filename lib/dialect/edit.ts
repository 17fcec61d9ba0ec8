import { elementAt, get, indexesOf, isList, isObject } from '../untrusted.js'
import { PathNode } from './paths.js'
import { isFailure, type Result } from './results.js'
import { copy, GONE } from './shallow_copy.js'
import { changedIn, isMembers, type Slot } from './walk.js'

/** The change of a slot: another text, null to remove its block, or a JSON value with well-formed
 *  strings. `text`: its JSON, if more than that changed. */
export type Edit = string | null | { readonly value: unknown; readonly text?: string | undefined }

type Changes = Map<string | number, unknown>

/** Copies the objects above each change and shares all others. Prototypes and other properties are
 *  kept. */
export class Draft {
  /** Changes by the place of their holder. A `PathNode` as a new value stands for its copy. */
  readonly #changes = new Map<PathNode, Changes>()

  set(holder: PathNode, key: string | number, to: unknown): void {
    this.#changesOf(holder).set(key, to)
  }

  #changesOf(place: PathNode): Changes {
    const known = this.#changes.get(place)
    if (known) return known
    const changes: Changes = new Map()
    this.#changes.set(place, changes)
    if (place.parent) {
      const above = this.#changesOf(place.parent)
      if (!above.has(place.key)) above.set(place.key, place)
    }
    return changes
  }

  remove(holder: PathNode, key: string | number): void {
    this.set(holder, key, GONE)
  }

  /** Applies the edits of a result's slots. */
  edit(result: Result, edits: ReadonlyMap<Slot, Edit>): void {
    const gone = new Set<Slot>()
    for (const [slot, edit] of edits) {
      if (edit === null) gone.add(slot)
      else if (typeof edit === 'string') this.#replace(slot, edit)
      else if (isMembers(slot)) this.#keep(slot, edit.value)
      else this.set(slot.holder, slot.key, edit.value)
    }
    if (gone.size > 0) this.#drop(result, gone)
  }

  /** Returns the root value with all changes. */
  done<T extends object>(value: T): T {
    for (const place of this.#changes.keys()) if (!place.parent) return this.#copy(place) as T
    return value
  }

  #copy(place: PathNode): object {
    const { value, twin } = place
    const changes = new Map(
      [...this.#changesOf(place)].map(([key, to]) => [key, to instanceof PathNode ? this.#copy(to) : to]),
    )
    const second = twin === undefined ? undefined : get(value, twin)
    if (twin !== undefined && isObject(second)) {
      // A member that is new is new in both.
      const isIn = (key: string | number) => Object.hasOwn(second, key) || get(value, key) === undefined
      const same = [...changes].filter(([key]) => isIn(key))
      if (same.length > 0) changes.set(twin, copy(second, new Map(same)))
    }
    return copy(value, changes)
  }

  /** Replaces a text, or JSON as the row specifies, by a text. */
  #replace(slot: Slot, text: string): void {
    const { holder, key, json } = slot
    if (json?.as === 'text') {
      this.remove(holder, key)
      this.set(holder, 'text', text)
    } else if (json?.as === 'wrap') {
      const member = (name: string) => (isObject(json.value) ? get(json.value, name) : undefined)
      const failed = isFailure(member('error')) && member('output') === undefined
      this.set(holder, key, failed ? { error: text } : { output: text })
    } else {
      if (json?.as === 'retag')
        this.set(holder, 'type', TEXT_TAGS[get(holder.value, 'type') as string] ?? 'text')
      this.set(holder, key, text)
    }
  }

  /** Writes the remaining members of the rest of an object. */
  #keep({ holder, json }: Slot, kept: unknown): void {
    const value = json?.value as object
    const left = isObject(kept) ? kept : {}
    for (const name of Object.keys(value)) if (!Object.hasOwn(left, name)) this.remove(holder, name)
    for (const [name, to] of changedIn(value, left)) this.set(holder, name, to)
  }

  /**
   * Removes blocks without remaining text. A text that is not in a block, or shares one with
   * remaining text, becomes "".
   */
  #drop(result: Result, gone: ReadonlySet<Slot>): void {
    const blocks = new Blocks(result.place)
    for (const slot of result.slots) if (!isMembers(slot)) blocks.add(slot, gone.has(slot))
    for (const slot of gone) {
      if (isMembers(slot)) this.#keep(slot, undefined)
      else if (!blocks.takes(slot)) this.set(slot.holder, slot.key, '')
    }
    for (const [list, keys] of blocks.gone()) {
      for (const key of keys) this.remove(list, key)
      this.#bequeath(list, keys)
    }
  }

  /** Moves the cache marks of removed blocks to the block before each, or else after it. They end a
   *  cached prefix. */
  #bequeath(list: PathNode, gone: ReadonlySet<number>): void {
    const blocks = list.value as readonly unknown[]
    const heirs = heirsIn(blocks, gone)
    for (const key of gone) {
      const heir = heirs[key]
      if (heir === undefined) continue
      const to = blocks[heir] as object
      for (const mark of CACHE_MARKS) {
        const value = get(blocks[key] as object, mark)
        if (value !== undefined && get(to, mark) === undefined) this.set(list.child(to, heir), mark, value)
      }
    }
  }
}

/** Returns for each block the index of the last one before it that stays or, without one, of the
 *  first that stays. */
function heirsIn(blocks: readonly unknown[], gone: ReadonlySet<number>): (number | undefined)[] {
  const heirs: (number | undefined)[] = []
  let heir: number | undefined
  for (const at of indexesOf(blocks)) {
    if (!gone.has(at) && isObject(elementAt(blocks, at))) {
      if (heir === undefined) heirs.fill(at)
      heir = at
    }
    heirs[at] = heir
  }
  return heirs
}

/** Tags of text, by the tag of the JSON that it replaces. */
const TEXT_TAGS: Readonly<Record<string, string>> = { json: 'text', 'error-json': 'error-text' }

/** Members that end a cached prefix. */
export const CACHE_MARKS = ['cache_control', 'providerOptions']

/** The blocks in the lists of one result, with the number of texts left in each. */
class Blocks {
  readonly #left = new Map<PathNode, Map<number, number>>()

  constructor(readonly top: PathNode) {}

  add({ holder, key }: Slot, isGone: boolean): void {
    const block = this.#blockOf(holder, key)
    if (!block) return
    const counts = this.#left.get(block.list) ?? new Map<number, number>()
    this.#left.set(block.list, counts)
    counts.set(block.key, (counts.get(block.key) ?? 0) + Number(!isGone))
  }

  /** Returns true if the block of a slot is removed with it. */
  takes({ holder, key }: Slot): boolean {
    const block = this.#blockOf(holder, key)
    return block !== undefined && this.#left.get(block.list)?.get(block.key) === 0
  }

  /**
   * Returns the elements to remove, by list. A list that would become empty is removed with the
   * block that holds it.
   */
  gone(): Map<PathNode, Set<number>> {
    const lists = new Map<PathNode, Set<number>>()
    const add = (list: PathNode, key: number): void => {
      const keys = (lists.get(list) ?? new Set<number>()).add(key)
      lists.set(list, keys)
      if (keys.size < (list.value as unknown[]).length || list === this.top) return
      const above = this.#blockOf(list.parent, list.key)
      if (!above) return
      lists.delete(list)
      add(above.list, above.key)
    }
    for (const [list, counts] of this.#left) for (const [key, left] of counts) if (left === 0) add(list, key)
    return lists
  }

  /** Returns the element of a list of the result that contains a place. */
  #blockOf(holder: PathNode | undefined, key: string | number): { list: PathNode; key: number } | undefined {
    let [list, at] = [holder, key]
    while (list && !isList(list.value)) {
      if (list === this.top) return undefined
      at = list.key
      list = list.parent
    }
    return list && { list, key: Number(at) }
  }
}

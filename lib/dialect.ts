import type { DialectName } from 'spillway'
import table from '../src/dialects.json'
import { get } from './reading.js'

/**
 * Where frameworks keep the text of a tool result: src/dialects.json, a row for each.
 *
 * A path is made of names: `content[type=text].text` goes to `content`, from there to each of its elements whose `type`
 * is `text` (`a|b`: one of them), and there to `text`. Rows match by tags alone: a name must be a given string, be there
 * (`true`) or be absent (`false`).
 */

/** A place that holds text a model sees. */
export interface Slot {
  readonly text: string
  readonly holder: Holder
  readonly key: string | number
}

/** An object on the way to a slot, and how to get to it. */
export interface Holder {
  readonly value: object
  readonly above: Above | undefined
  readonly depth: number
}

interface Above {
  readonly holder: Holder
  readonly key: string | number
}

/** What lies at and below a place: a text, named members, elements by their tag and its value. */
interface Node {
  slot: boolean
  readonly members: Map<string, Node>
  readonly elements: Map<string, Map<string, Node>>
}

type Members = Record<string, unknown>

/** One step of a path: a name, or a filter of elements. */
const STEP = /^\.?([^.[\]]+)|^\[(\w+)=([^\]]+)\]/

const rows = table.map((row) => {
  const root = emptyNode()
  for (const path of row.slots) grow(root, path).slot = true
  const tests = row.match.map((tags) => Object.entries(tags).map(([path, wanted]) => test(path, wanted)))
  return {
    name: row.name as DialectName,
    root,
    error: row.error,
    matches: (members: Members, tags: Tags) =>
      tests.some((all) => all.every((holds) => holds(members, tags))),
  }
})

export const dialectNames: readonly DialectName[] = ['text', ...rows.map(({ name }) => name)]

/** All names that any row looks at in a result itself: each is read once. */
const rootNames = [
  ...new Set([
    ...rows.flatMap(({ root, error }) => [...root.members.keys(), error]),
    ...table.flatMap(({ match }) =>
      match.flatMap((tags) => Object.keys(tags).map((path) => path.replace(/[.[].*/, ''))),
    ),
  ]),
]

/** Tags that were read of the elements of one result, by name: matching and walking must see the same. */
type Tags = Map<string, Map<object, unknown>>

function tagOf(element: object, tag: string, tags: Tags): unknown {
  const read = entry(tags, tag, newMap)
  const known = read.get(element)
  if (known !== undefined || read.has(element)) return known
  const value = get(element, tag)
  read.set(element, value)
  return value
}

function newMap(): Map<object, unknown> {
  return new Map()
}

/** Finds the text slots of a tool result, in the order of its text; nothing when the value is none. */
export function readResult(value: object, named: DialectName | undefined): Found | undefined {
  const members: Members = {}
  for (const name of rootNames) members[name] = get(value, name)
  const tags: Tags = new Map()
  const row = rows.find((row) => (named ? row.name === named : row.matches(members, tags)))
  if (!row) return undefined
  const slots: Slot[] = []
  const holder = { value, above: undefined, depth: 0 }
  for (const [key, node] of row.root.members) walk(node, members[key], { holder, key }, slots, tags)
  return { slots, isError: members[row.error] === true }
}

export interface Found {
  readonly slots: readonly Slot[]
  readonly isError: boolean
}

function emptyNode(): Node {
  return { slot: false, members: new Map(), elements: new Map() }
}

/** Adds a path to a tree of nodes and returns its last. */
function grow(root: Node, path: string): Node {
  let node = root
  for (let rest = path; rest; ) {
    const [step = '', name, tag = '', values = ''] = STEP.exec(rest) ?? []
    if (!step) throw new Error(`dialects.json: cannot read the path ${path}`)
    rest = rest.slice(step.length)
    if (name !== undefined) {
      node = entry(node.members, name, emptyNode)
    } else {
      const byValue = entry(node.elements, tag, () => new Map<string, Node>())
      const [first = '', ...others] = values.split('|')
      node = entry(byValue, first, emptyNode)
      for (const other of others) byValue.set(other, node)
    }
  }
  return node
}

function entry<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

function test(path: string, wanted: string | boolean): (members: Members, tags: Tags) => boolean {
  const root = emptyNode()
  grow(root, path)
  const [[name, node] = ['', root]] = root.members
  if (node.elements.size === 0) {
    const is = (member: unknown) =>
      typeof wanted === 'string' ? member === wanted : (member !== undefined) === wanted
    return (members) => is(members[name])
  }
  return (members, tags) => {
    const list = members[name]
    return Array.isArray(list) && list.some((element) => nodesFor(node, element, tags).length > 0) === wanted
  }
}

/** The nodes that an element passes on to. */
function nodesFor(node: Node, element: unknown, tags: Tags): readonly Node[] {
  if (typeof element !== 'object' || element === null) return NONE
  let nodes = NONE
  for (const [tag, byValue] of node.elements) {
    const value = tagOf(element, tag, tags)
    const next = typeof value === 'string' ? byValue.get(value) : undefined
    if (next) nodes = [...nodes, next]
  }
  return nodes
}

const NONE: readonly Node[] = []

function walk(node: Node, value: unknown, above: Above, slots: Slot[], tags: Tags): void {
  if (typeof value === 'string') {
    if (node.slot) slots.push({ text: value, ...above })
    return
  }
  if (typeof value !== 'object' || value === null) return
  const holder: Holder = { value, above, depth: above.holder.depth + 1 }
  if (Array.isArray(value)) {
    for (let key = 0; key < value.length; key++) {
      const element: unknown = value[key]
      for (const next of nodesFor(node, element, tags)) walk(next, element, { holder, key }, slots, tags)
    }
    return
  }
  for (const [key, next] of node.members) walk(next, get(value, key), { holder, key }, slots, tags)
}

/** What becomes of a slot: another text, or its block goes. */
export type Edit = string | null

/** Copies what lies above edited slots and shares the rest. The prototype and every other property stay. */
export function write<T extends object>(value: T, edits: ReadonlyMap<Slot, Edit>): T {
  /** Holders to copy, by depth, each with what changes in it. */
  const levels: Map<Holder, Map<string | number, unknown>>[] = []
  const change = ({ holder, key }: Above, to: unknown): void => {
    levels[holder.depth] ??= new Map()
    const level = levels[holder.depth]
    const changes = level?.get(holder)
    if (changes) changes.set(key, to)
    else level?.set(holder, new Map([[key, to]]))
  }
  for (const [slot, edit] of edits) change(edit === null ? blockOf(slot) : slot, edit === null ? GONE : edit)
  // The deepest first, so that a copy holds the copies below it.
  for (let depth = levels.length - 1; depth >= 0; depth--) {
    for (const [holder, changes] of levels[depth] ?? []) {
      const made = copy(holder.value, changes)
      if (!holder.above) return made as T
      change(holder.above, made)
    }
  }
  return value
}

const GONE = Symbol('gone')

/** The element of a list that a slot belongs to. */
function blockOf(slot: Slot): Above {
  let place: Above = slot
  while (!Array.isArray(place.holder.value) && place.holder.above) place = place.holder.above
  return place
}

function copy(value: object, changes: ReadonlyMap<string | number, unknown>): object {
  const members = Object.getOwnPropertyDescriptors(value) as Record<string | number, PropertyDescriptor>
  for (const [key, to] of changes) {
    members[key] = {
      value: to,
      writable: true,
      enumerable: members[key]?.enumerable ?? true,
      configurable: true,
    }
  }
  const prototype = Object.getPrototypeOf(value) as object | null
  if (!Array.isArray(value)) return Object.create(prototype, members) as object
  const list = Object.setPrototypeOf([], prototype) as unknown[]
  const { length: _, ...rest } = members
  let gone = 0
  for (const [key, member] of Object.entries(rest)) {
    const at = isIndex(key) ? String(Number(key) - gone) : key
    if (member.value === GONE) gone += 1
    else Object.defineProperty(list, at, member)
  }
  list.length = value.length - gone
  return list
}

function isIndex(key: string): boolean {
  return String(Number(key) >>> 0) === key
}

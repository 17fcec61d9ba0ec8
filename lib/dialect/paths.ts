import { elementAt, get, indexesOf, isList, isObject } from '../untrusted.js'

/**
 * Paths into a caller's value. `content[type=text].text` goes to `content`, then to each element
 * whose `type` is `text`, then to its `text`. In a filter, `a|b` matches either value, `tool-*` a
 * prefix, and `!=0` any other number. `[]` matches each element. If there is an object in place of
 * a list, a filter applies to the object.
 */

/** An object on a path, with its parent. Several paths lead through it, and each property is read
 *  once. */
export class PathNode {
  /** Name of the second copy that a class keeps of its properties. */
  twin: string | undefined
  private known: Read | undefined
  private below: PathNode[] | undefined

  constructor(
    readonly value: object,
    readonly parent?: PathNode,
    readonly key: string | number = '',
  ) {}

  /** `isLast`: the property will not be read again. */
  read(name: string, isLast = false): unknown {
    for (let at = this.known; at; at = at.before) if (at.name === name) return at.value
    const value = get(this.value, name)
    if (!isLast) this.known = { name, value, before: this.known }
    return value
  }

  /** Returns the place of a child value. Each key has one place. */
  child(value: object, key: string | number): PathNode {
    this.below ??= []
    const below = this.below
    // If elements are visited in order, the place of a key has that index.
    const last = typeof key === 'number' ? below[key] : undefined
    if (last?.key === key) return last
    for (let at = typeof key === 'number' ? below.length : 0; at < below.length; at++)
      if (below[at]?.key === key) return below[at] as PathNode
    const made = new PathNode(value, this, key)
    if (typeof key === 'number') below[key] = made
    else below.push(made)
    return made
  }
}

/** A property that was read, and the one before. There are few, so a scan is faster than a map. */
interface Read {
  readonly name: string
  readonly value: unknown
  readonly before: Read | undefined
}

/** The field of src/dialects.json that lists a path, and for JSON and payloads how a text replaces
 *  it. */
export interface Mark {
  readonly field: string
  readonly as: string
}

/** A tree of paths, by their common beginnings. */
export class Paths {
  /** Marks of the paths that end here. */
  readonly ends: Mark[] = []
  readonly names: string[] = []
  readonly next: Paths[] = []
  /** Names of members that are tags. */
  readonly tags: string[] = ['role', 'type']
  /** Paths from each element of a list. */
  each: Paths | undefined
  private readonly filters: Filter[] = []
  /** Unions with the paths of a tag, made on first use. */
  private readonly unions = new Map<Paths, Paths>()

  static of(paths: readonly string[] = []): Paths {
    const root = new Paths()
    for (const path of paths) root.grow(path, { field: '', as: '' })
    return root
  }

  /** Adds a path. Without `end` the path is known, but leads to nothing. */
  grow(path: string, end?: Mark): void {
    let at: Paths[] = [this]
    for (let rest = path; rest !== ''; ) {
      const [step = '', name, list, tag = '', not = '', values = ''] = STEP.exec(rest) ?? []
      if (step === '') throw new Error(`cannot read the path ${path} at ${rest}`)
      rest = rest.slice(step.length)
      if (name !== undefined) at = at.map((paths) => paths.member(name))
      else if (list !== undefined) at = at.map((paths) => paths.element())
      else at = at.flatMap((paths) => values.split('|').map((value) => paths.tagged(tag, not + value)))
    }
    if (end) for (const { ends } of at) ends.push(end)
  }

  private member(name: string): Paths {
    const known = this.next[this.names.indexOf(name)]
    if (known) return known
    this.names.push(name)
    const made = new Paths()
    this.next.push(made)
    return made
  }

  private element(): Paths {
    this.each ??= new Paths()
    return this.each
  }

  private tagged(tag: string, value: string): Paths {
    const filter = this.filters.find((filter) => filter.tag === tag) ?? new Filter(tag)
    if (!this.filters.includes(filter)) this.filters.push(filter)
    const next = filter.grow(value)
    for (const { tags } of [this, next]) if (!tags.includes(tag)) tags.push(tag)
    return next
  }

  /** True if no path continues. */
  get isLeaf(): boolean {
    return this.names.length === 0 && !this.leadsToElements
  }

  /** True if only paths that reach no model end here. */
  get isAside(): boolean {
    return this.ends.length === 1 && this.ends[0]?.field === 'aside' && this.isLeaf
  }

  /** The name of the one member that paths lead to, undefined if they lead elsewhere. Most are one
   *  name. */
  get onlyName(): string | undefined {
    const { names, next } = this
    return !this.leadsToElements && names.length === 1 && next[0]?.isLeaf ? names[0] : undefined
  }

  /** Returns true if a path of a field ends here. */
  endsIn(field: string): boolean {
    return this.ends.some((end) => end.field === field)
  }

  get leadsToElements(): boolean {
    return this.each !== undefined || this.filters.length > 0
  }

  /** Returns true if a path may continue inside a value. */
  leadsInto(value: object): boolean {
    return isList(value) ? this.leadsToElements : this.names.length + this.filters.length > 0
  }

  /** Returns these paths with those for the tags of an object, given by its place or as it is. */
  at(place: PathNode | object): Paths {
    return this.filters.length === 0 ? this : (this.matching(place, this) as Paths)
  }

  /** Returns the paths for an element of a list, undefined if there are none. */
  atElement(place: PathNode | object): Paths | undefined {
    return this.matching(place, this.each)
  }

  /** Returns the number of elements of a list to which paths lead by their tags. */
  countTagged(list: PathNode): number {
    const { value } = list
    let count = 0
    for (const at of isList(value) ? indexesOf(value) : []) {
      const element = elementAt(value as unknown[], at)
      if (isObject(element) && this.atElement(list.child(element, at)) !== this.each) count += 1
    }
    return count
  }

  /** Returns the number of blocks in the content of a result to which paths lead by their tags. */
  countContent(place: PathNode): number {
    const content = place.read('content')
    const paths = this.next[this.names.indexOf('content')]
    return isObject(content) && paths ? paths.countTagged(place.child(content, 'content')) : 0
  }

  private matching(place: PathNode | object, base: Paths | undefined): Paths | undefined {
    let found = base
    for (const filter of this.filters) {
      const next = filter.of(place instanceof PathNode ? place.read(filter.tag) : get(place, filter.tag))
      // A second filter may follow on the same object.
      if (next) found = found ? found.with(next.at(place)) : next.at(place)
    }
    return found
  }

  private with(other: Paths): Paths {
    const known = this.unions.get(other)
    if (known) return known
    const made = new Paths()
    // The paths of a tag come first, as in `follow`.
    made.add(other)
    made.add(this)
    this.unions.set(other, made)
    return made
  }

  private add(other: Paths): void {
    this.ends.push(...other.ends)
    this.tags.push(...other.tags)
    for (const [at, name] of other.names.entries()) this.member(name).add(other.next[at] as Paths)
    if (other.each) this.element().add(other.each)
    for (const { tag, all } of other.filters)
      for (const [value, next] of all) this.tagged(tag, value).add(next)
  }
}

/** A name, a list, or a tag with its values. */
const STEP = /^\.?([^.[\]]+)|^(\[\])|^\[(\w+)(!?)=([^\]]+)\]/

/** The next steps of a path, by the value of a tag. */
class Filter {
  readonly all = new Map<string, Paths>()
  private readonly exact = new Map<unknown, Paths>()
  private readonly patterns: [matches: (value: unknown) => boolean, next: Paths][] = []

  constructor(readonly tag: string) {}

  grow(value: string): Paths {
    const known = this.all.get(value)
    if (known) return known
    const made = new Paths()
    this.all.set(value, made)
    if (value.startsWith('!')) {
      const number = Number(value.slice(1))
      this.patterns.push([(given) => typeof given === 'number' && given !== number, made])
    } else if (value.endsWith('*')) {
      const prefix = value.slice(0, -1)
      this.patterns.push([(given) => typeof given === 'string' && given.startsWith(prefix), made])
    } else this.exact.set(value === 'true' || value, made)
    return made
  }

  of(value: unknown): Paths | undefined {
    if (value === undefined) return undefined
    return this.exact.get(value) ?? this.patterns.find(([matches]) => matches(value))?.[1]
  }
}

/** A value at the end of a path, its place, and the field of the path. */
export interface End {
  readonly field: string
  readonly as: string
  readonly value: unknown
  readonly holder: PathNode
  readonly key: string | number
}

/** Returns true if a path leads to a value. */
export function leads(paths: Paths, place: PathNode): boolean {
  const name = paths.onlyName
  return name === undefined ? endsAt(paths, place).length > 0 : place.read(name) !== undefined
}

/** Calls back with each value that paths lead to, in order, and the field of its path. Makes no
 *  places, so what is read is read again by whoever looks again. */
export function visit(paths: Paths, value: unknown, found: (value: unknown, field: string) => void): void {
  const list = isList(value) ? value : undefined
  const here = isObject(value) && !list ? paths.at(value) : paths
  const { ends } = here
  for (let at = 0; at < ends.length; at++) found(value, (ends[at] as Mark).field)
  if (!isObject(value)) return
  if (!list) {
    const { names, next } = here
    for (let at = 0; at < names.length; at++) {
      const member = get(value, names[at] as string)
      if (member !== undefined) visit(next[at] as Paths, member, found)
    }
    return
  }
  for (const at of here.leadsToElements ? indexesOf(list) : []) {
    const element = elementAt(list, at)
    const next = isObject(element) ? here.atElement(element) : undefined
    if (next) visit(next, element, found)
  }
}

/** Returns the first value that paths lead to and a test takes. */
export function firstAt<T = unknown>(
  paths: Paths,
  value: object,
  takes: (value: unknown) => value is T,
): T | undefined {
  const name = paths.onlyName
  if (name !== undefined) {
    const member = get(value, name)
    return takes(member) ? member : undefined
  }
  let first: T | undefined
  visit(paths, value, (found) => {
    if (first === undefined && takes(found)) first = found
  })
  return first
}

export function isGiven(value: unknown): value is NonNullable<unknown> | null {
  return value !== undefined
}

/** Returns the values that paths lead to, in order. */
export function endsAt(paths: Paths, place: PathNode): End[] {
  const ends: End[] = []
  follow(paths, place.value, place.parent ?? place, place.key, place, ends)
  return ends
}

function follow(
  paths: Paths,
  value: unknown,
  holder: PathNode,
  key: string | number,
  place: PathNode | undefined,
  found: End[],
): void {
  const here = place && !isList(value) ? paths.at(place) : paths
  for (const { field, as } of here.ends) found.push({ field, as, value, holder, key })
  if (!place || here.isLeaf) return
  if (isList(value)) {
    for (const at of indexesOf(value)) {
      const element = elementAt(value, at)
      const child = isObject(element) ? place.child(element, at) : undefined
      const next = child && here.atElement(child)
      if (next) follow(next, element, place, at, child, found)
    }
    return
  }
  for (let at = 0; at < here.names.length; at++) {
    const name = here.names[at] as string
    const member = place.read(name)
    const child = isObject(member) ? place.child(member, name) : undefined
    if (member !== undefined) follow(here.next[at] as Paths, member, place, name, child, found)
  }
}

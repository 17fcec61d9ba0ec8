import { elementAt, get } from '../reading.js'

/**
 * Paths into a caller's value. `content[type=text].text` goes to `content`, then to each element whose `type` is
 * `text`, then to its `text`. In a filter, `a|b` matches either value, `tool-*` a prefix, and `!=0` any other number.
 * `[]` matches each element. If there is an object in place of a list, a filter applies to the object.
 */

/** An object on a path, with its parent. Several paths lead through it, and each property is read once. */
export class Place {
  private known: Read | undefined
  private below: Place[] | undefined

  constructor(
    readonly value: object,
    readonly parent?: Place,
    readonly key: string | number = '',
  ) {}

  read(name: string): unknown {
    for (let at = this.known; at; at = at.before) if (at.name === name) return at.value
    const value = get(this.value, name)
    this.known = { name, value, before: this.known }
    return value
  }

  /** Like `read`, for a property that will not be read again. */
  last(name: string): unknown {
    for (let at = this.known; at; at = at.before) if (at.name === name) return at.value
    return get(this.value, name)
  }

  /** Returns the place of a child value. Each key has one place. */
  child(value: object, key: string | number): Place {
    this.below ??= []
    const below = this.below
    // If elements are visited in order, the place of a key has that index.
    const last = typeof key === 'number' ? below[key] : undefined
    if (last?.key === key) return last
    for (let at = typeof key === 'number' ? below.length : 0; at < below.length; at++)
      if (below[at]?.key === key) return below[at] as Place
    const made = new Place(value, this, key)
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

/** A tree of paths, by their common beginnings. */
export class Paths {
  /** Marker of a path that ends here. */
  end: string | undefined
  readonly names: string[] = []
  readonly next: Paths[] = []
  readonly filters: Filter[] = []
  each: Paths | undefined

  static of(paths: readonly string[] = []): Paths {
    const root = new Paths()
    for (const path of paths) root.grow(path, '')
    return root
  }

  /** Adds a path. Without `end` the path is known, but its values are not reported. */
  grow(path: string, end?: string): void {
    let at: Paths[] = [this]
    for (let rest = path; rest !== ''; ) {
      const [step = '', name, list, tag = '', sign, values = ''] = STEP.exec(rest) ?? []
      if (step === '') throw new Error(`cannot read the path ${path} at ${rest}`)
      rest = rest.slice(step.length)
      if (name !== undefined) at = at.map((paths) => paths.#member(name))
      else if (list !== undefined) at = at.map((paths) => paths.#element())
      else
        at = at.flatMap((paths) => values.split('|').map((value) => paths.#tagged(tag, sign === '!', value)))
    }
    for (const paths of at) paths.end = end ?? paths.end
  }

  #member(name: string): Paths {
    const at = this.names.indexOf(name)
    const known = this.next[at]
    if (known) return known
    const made = new Paths()
    this.names.push(name)
    this.next.push(made)
    return made
  }

  #element(): Paths {
    this.each ??= new Paths()
    return this.each
  }

  #tagged(tag: string, not: boolean, value: string): Paths {
    const filter = this.filters.find((filter) => filter.tag === tag) ?? new Filter(tag)
    if (!this.filters.includes(filter)) this.filters.push(filter)
    return filter.grow(not, value)
  }
}

/** A name, a list, or a tag with its values. */
const STEP = /^\.?([^.[\]]+)|^(\[\])|^\[(\w+)(!?)=([^\]]+)\]/

/** The next steps of a path, by the value of a tag. */
class Filter {
  // There are few values, so a scan is faster than a hash.
  private readonly values: (string | boolean)[] = []
  private readonly next: Paths[] = []
  private readonly prefixes: [prefix: string, paths: Paths][] = []
  private readonly others: [number: number, paths: Paths][] = []

  constructor(readonly tag: string) {}

  grow(not: boolean, value: string): Paths {
    const made = new Paths()
    if (not) this.others.push([Number(value), made])
    else if (value.endsWith('*')) this.prefixes.push([value.slice(0, -1), made])
    else {
      const known = this.of(value === 'true' || value)
      if (known) return known
      this.values.push(value === 'true' || value)
      this.next.push(made)
    }
    return made
  }

  of(value: unknown): Paths | undefined {
    for (let at = 0; at < this.values.length; at++) if (this.values[at] === value) return this.next[at]
    if (typeof value === 'string')
      for (const [prefix, paths] of this.prefixes) if (value.startsWith(prefix)) return paths
    if (typeof value === 'number')
      for (const [number, paths] of this.others) if (value !== number) return paths
    return undefined
  }
}

/** Called for each value at the end of a path. Returns true if the values below it are not needed. */
export type Reach<Out> = (
  paths: Paths,
  value: unknown,
  holder: Place,
  key: string | number,
  out: Out,
) => boolean

/** Follows paths from an object. Returns the number of list elements that a filter matched. */
export function follow<Out>(paths: Paths, place: Place, out: Out, reach: Reach<Out>): number {
  if (Array.isArray(place.value)) return followList(paths, place, place.value, out, reach)
  let known = 0
  const { filters, names } = paths
  for (let at = 0; at < filters.length; at++) {
    const filter = filters[at] as Filter
    const next = filter.of(place.read(filter.tag))
    if (!next) continue
    if (next.end !== undefined) reach(next, place.value, place.parent ?? place, place.key, out)
    known += follow(next, place, out, reach)
  }
  for (let at = 0; at < names.length; at++) {
    const name = names[at] as string
    known += arrive(paths.next[at] as Paths, place.read(name), place, name, out, reach)
  }
  return known
}

function followList<Out>(
  { filters, each }: Paths,
  place: Place,
  list: readonly unknown[],
  out: Out,
  reach: Reach<Out>,
): number {
  if (filters.length === 0 && !each) return 0
  let known = 0
  for (let at = 0; at < list.length; at++) {
    const element = elementAt(list, at)
    if (typeof element !== 'object' || element === null) continue
    const child = place.child(element, at)
    for (let index = 0; index < filters.length; index++) {
      const filter = filters[index] as Filter
      const next = filter.of(child.read(filter.tag))
      if (!next) continue
      known += 1
      arrive(next, element, place, at, out, reach)
    }
    if (each) arrive(each, element, place, at, out, reach)
  }
  return known
}

function arrive<Out>(
  paths: Paths,
  value: unknown,
  holder: Place,
  key: string | number,
  out: Out,
  reach: Reach<Out>,
): number {
  if (value === undefined) return 0
  if (paths.end !== undefined && reach(paths, value, holder, key, out)) return 0
  if (typeof value !== 'object' || value === null) return 0
  return follow(paths, holder.child(value, key), out, reach)
}

/** Returns true if a path leads to a value. */
export function leads(paths: Paths, place: Place): boolean {
  const { filters, names, next } = paths
  // Most paths are one name.
  if (filters.length === 0 && names.length === 1 && next[0]?.end !== undefined)
    return place.read(names[0] as string) !== undefined
  return endsAt(paths, place).length > 0
}

/** A value at the end of a path, and its place. */
export interface End {
  readonly value: unknown
  readonly holder: Place
  readonly key: string | number
}

/** Returns the values that paths lead to, in order. */
export function endsAt(paths: Paths, place: Place): End[] {
  const ends: End[] = []
  follow(paths, place, ends, addEnd)
  return ends
}

const addEnd: Reach<End[]> = ({ names }, value, holder, key, ends) => {
  ends.push({ value, holder, key })
  return names.length === 0
}

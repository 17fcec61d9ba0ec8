import { elementAt, get } from '../reading.js'

/**
 * Paths into a caller's value: `content[type=text].text` goes to `content`, from there to each of its elements whose
 * `type` is `text`, and there to `text`. `a|b` is one of them, `tool-*` what starts so, `!=0` a number but that one, `[]`
 * each element. A filter holds for an object itself where there is no list.
 */

/** An object on the way to a text, and how to get to it. Several paths lead through it, and each property is read once. */
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

  /** The same where nobody will ask for it again. */
  last(name: string): unknown {
    for (let at = this.known; at; at = at.before) if (at.name === name) return at.value
    return get(this.value, name)
  }

  /** The place of a value that stands in this one. */
  child(value: object, key: string | number): Place {
    this.below ??= []
    const below = this.below
    // Elements come in order.
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

/** What was read of a place, the latest first: few enough that looking through them is faster than a map. */
interface Read {
  readonly name: string
  readonly value: unknown
  readonly before: Read | undefined
}

/** Paths that begin alike, as a tree. */
export class Paths {
  /** What a path says that ends here. */
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

  /** Adds a path; one without an end is only known. */
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

/** Where the value of a tag leads. */
class Filter {
  // A handful of values: looking through them is faster than a hash.
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

/** Told of each value that a path ends at; true where nothing below it is of interest. */
export type Reach<Out> = (
  paths: Paths,
  value: unknown,
  holder: Place,
  key: string | number,
  out: Out,
) => boolean

/** Follows paths from an object on. Counts the elements of lists that a tag led into. */
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

/** Whether a path leads to anything. */
export function leads(paths: Paths, place: Place): boolean {
  const { filters, names, next } = paths
  // Most are one name.
  if (filters.length === 0 && names.length === 1 && next[0]?.end !== undefined)
    return place.read(names[0] as string) !== undefined
  return endsAt(paths, place).length > 0
}

/** A value that a path leads to, and where it stands. */
export interface End {
  readonly value: unknown
  readonly holder: Place
  readonly key: string | number
}

/** The values that paths lead to, in order. */
export function endsAt(paths: Paths, place: Place): End[] {
  const ends: End[] = []
  follow(paths, place, ends, addEnd)
  return ends
}

const addEnd: Reach<End[]> = ({ names }, value, holder, key, ends) => {
  ends.push({ value, holder, key })
  return names.length === 0
}

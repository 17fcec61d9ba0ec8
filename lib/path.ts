import { get } from './reading.js'

/**
 * Paths into a caller's value: `content[type=text].text` goes to `content`, from there to each of its elements whose
 * `type` is `text`, and there to `text`. `a|b` is one of them, `tool-*` what starts so, `!=0` a number but that one, `[]`
 * each element. A filter holds for an object itself where there is no list.
 */

/** An object on the way to a text, and how to get to it. */
export class Place {
  readonly depth: number

  constructor(
    readonly value: object,
    readonly parent?: Place,
    readonly key: string | number = '',
  ) {
    this.depth = parent ? parent.depth + 1 : 0
  }

  read(name: string): unknown {
    return get(this.value, name)
  }
}

/** The value that all paths start from. Several paths begin alike, and each property is read once. */
export class Root extends Place {
  readonly #names: string[] = []
  readonly #values: unknown[] = []

  override read(name: string): unknown {
    const at = this.#names.indexOf(name)
    if (at >= 0) return this.#values[at]
    const value = get(this.value, name)
    this.#names.push(name)
    this.#values.push(value)
    return value
  }
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
  readonly #exact = new Map<unknown, Paths>()
  readonly #prefixes: [prefix: string, paths: Paths][] = []
  readonly #others: [number: number, paths: Paths][] = []

  constructor(readonly tag: string) {}

  grow(not: boolean, value: string): Paths {
    const made = new Paths()
    if (not) this.#others.push([Number(value), made])
    else if (value.endsWith('*')) this.#prefixes.push([value.slice(0, -1), made])
    else {
      const key = value === 'true' ? true : value
      const known = this.#exact.get(key)
      if (known) return known
      this.#exact.set(key, made)
    }
    return made
  }

  get(value: unknown): Paths | undefined {
    const exact = this.#exact.get(value)
    if (exact) return exact
    if (typeof value === 'string') return this.#prefixes.find(([prefix]) => value.startsWith(prefix))?.[1]
    return typeof value === 'number' ? this.#others.find(([number]) => value !== number)?.[1] : undefined
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
  const { value } = place
  let known = 0
  if (Array.isArray(value)) {
    const { filters, each } = paths
    if (filters.length === 0 && !each) return 0
    for (let at = 0; at < value.length; at++) {
      const element = get(value, at)
      if (typeof element !== 'object' || element === null) continue
      for (const filter of filters) {
        const next = filter.get(get(element, filter.tag))
        if (!next) continue
        known += 1
        arrive(next, element, place, at, out, reach)
      }
      if (each) arrive(each, element, place, at, out, reach)
    }
    return known
  }
  for (const filter of paths.filters) {
    const next = filter.get(place.read(filter.tag))
    if (next?.end !== undefined) reach(next, value, place.parent ?? place, place.key, out)
    if (next) known += follow(next, place, out, reach)
  }
  for (let at = 0; at < paths.names.length; at++) {
    const name = paths.names[at] as string
    known += arrive(paths.next[at] as Paths, place.read(name), place, name, out, reach)
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
  return follow(paths, new Place(value, holder, key), out, reach)
}

/** Whether a path leads to anything. */
export function leads(paths: Paths, place: Place): boolean {
  const out = { found: false }
  follow(paths, place, out, (_paths, _value, _holder, _key, out) => {
    out.found = true
    return true
  })
  return out.found
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
  follow(paths, place, ends, (_paths, value, holder, key, ends) => {
    ends.push({ value, holder, key })
    return true
  })
  return ends
}

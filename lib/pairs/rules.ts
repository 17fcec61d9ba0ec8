import type { DialectName } from 'spillway'
import { endsAt, firstAt, isGiven, leads, type PathNode, Paths, visit } from '../dialect/paths.js'
import { type DialectRow, resultPlaces, rows } from '../dialect/results.js'
import type { CallData, PairsData } from '../dialects.js'
import { elementAt, get, isList, isObject, tryRead } from '../untrusted.js'

/** A kind of tool calls of a dialect, with the template of a result that is missing. */
export class Kind {
  readonly id: Paths
  readonly tool: Paths
  readonly result: object | undefined
  /** True if an id pairs a call with its result. */
  readonly hasIds: boolean
  private readonly given: Paths
  private readonly open: Paths | undefined

  /** `rank`: its index among the kinds of its dialect. */
  constructor(
    readonly data: CallData,
    readonly rank: number,
  ) {
    const { id, tool, args, result, open } = data
    this.id = Paths.of([id])
    this.tool = Paths.of([tool])
    this.given = Paths.of([tool, ...args])
    this.result = result
    this.open = open && Paths.of(open)
    this.hasIds = result === undefined || open !== undefined || JSON.stringify(result).includes('"$id"')
  }

  /** Returns true if an object has the members that identify such a call. */
  isCall(place: PathNode): boolean {
    return this.result === undefined || leads(this.given, place)
  }

  /** Like `isCall` and `isOpen`, of an object without its place. */
  takes(call: object): boolean {
    return this.result === undefined || firstAt(this.given, call, isGiven) !== undefined
  }

  lacksResult(call: object): boolean {
    return this.open !== undefined && firstAt(this.open, call, isGiven) !== undefined
  }

  /** Returns true if a call of a kind that contains its result lacks it. */
  isOpen(place: PathNode): boolean {
    return this.open !== undefined && leads(this.open, place)
  }
}

/** The layout of the calls and results of a dialect in a history: `pairs` in src/dialects.json. */
export class PairRules {
  readonly name: DialectName
  readonly pairs: PairsData
  readonly kinds: readonly Kind[]
  /** Paths to calls. Their field is the rank of the kind. */
  private readonly calls = new Paths()
  /** True if a call and its result are one object. */
  readonly areOne: boolean
  /** Role of the messages that carry results as blocks, and the member that lists these. */
  readonly role: unknown
  readonly list: string
  readonly before: Paths
  readonly void: Paths
  readonly waiting: Paths
  readonly ids: RegExp | undefined
  readonly copy: string | undefined
  /** Types of the results of its calls. */
  private readonly types: ReadonlySet<unknown>

  constructor({ name, data }: DialectRow) {
    const { pairs = {}, calls = [], copy } = data
    const { home = {}, ids } = pairs
    this.name = name
    this.pairs = pairs
    this.copy = copy
    this.kinds = calls.map((data, rank) => new Kind(data, rank))
    this.types = new Set(calls.map(({ result = {} }) => get(result, 'type')).filter(isGiven))
    for (const [rank, { at }] of calls.entries()) this.calls.grow(at, { field: `${rank}`, as: '' })
    this.areOne = calls.some(({ open }) => open !== undefined)
    this.role = get(home, 'role')
    this.list = Object.entries(home).find(([, value]) => value === BLOCKS)?.[0] ?? ''
    this.before = Paths.of(pairs.before)
    this.void = Paths.of(pairs.void)
    this.waiting = Paths.of(pairs.waiting)
    this.ids = ids === undefined ? undefined : new RegExp(ids)
  }

  /** Returns true if a message has a role or the type of a result. A block of words has neither. */
  isMessage(root: PathNode): boolean {
    return root.read('role') !== undefined || this.types.has(root.read('type'))
  }

  /** Calls back with each call in a message and its kind, in order. Reports a call twice if two
   *  paths lead to it. */
  eachCall(message: object, found: (call: object, kind: Kind) => void): void {
    visit(this.calls, message, (call, rank) => {
      const kind = this.kinds[Number(rank)] as Kind
      if (isObject(call) && kind.takes(call)) found(call, kind)
    })
  }

  /** Returns the calls in a message, in order. A call is of the first kind that matches. */
  callsIn(root: PathNode): { kind: Kind; place: PathNode }[] {
    const calls = new Map<PathNode, { rank: number; kind: Kind; place: PathNode }>()
    for (const { field, value, holder, key } of endsAt(this.calls, root)) {
      if (!isObject(value)) continue
      const place = value === root.value ? root : holder.child(value, key)
      const [rank, kind] = [Number(field), this.kinds[Number(field)] as Kind]
      if (rank < (calls.get(place)?.rank ?? Number.POSITIVE_INFINITY) && kind.isCall(place))
        calls.set(place, { rank, kind, place })
    }
    return [...calls.values()]
  }
}

const BLOCKS = '$blocks'

let made: readonly PairRules[] | undefined

/** Returns the rules of all dialects that have pairs. Made on first use. */
export function allRules(): readonly PairRules[] {
  made ??= rows.filter(({ data }) => data.pairs !== undefined).map((row) => new PairRules(row))
  return made
}

/** Returns the rules of the first call with an id, if only an empty one, or else of the first
 *  call. */
export function rulesOfCalls(messages: readonly unknown[]): PairRules | undefined {
  let unsure: PairRules | undefined
  for (let at = 0; at < messages.length; at++) {
    const message = elementAt(messages, at)
    for (const rules of isObject(message) ? allRules() : []) {
      let isSure = false
      tryRead(() =>
        rules.eachCall(message as object, (call, kind) => {
          unsure ??= rules
          isSure ||= !kind.hasIds || firstAt(kind.id, call, isGiven) !== undefined
        }),
      )
      if (isSure) return rules
    }
  }
  return unsure
}

/** Returns the rules of the first result. */
export function rulesOfResults(roots: readonly (PathNode | undefined)[]): PairRules | undefined {
  for (const root of roots) {
    const row = root && tryRead(() => resultPlaces(root)?.row)
    if (row?.data.pairs) return allRules().find(({ name }) => name === row.name)
  }
  return undefined
}

/** Fills a template. Omits members whose value is undefined. */
export function filled(template: unknown, given: (name: string) => unknown): unknown {
  if (typeof template === 'string') return template.startsWith('$') ? given(template.slice(1)) : template
  if (isList(template)) return template.map((element) => filled(element, given))
  if (!isObject(template)) return template
  const members = Object.entries(template).map(([name, value]) => [name, filled(value, given)] as const)
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}

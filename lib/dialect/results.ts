import type { DialectName } from 'spillway'
import { type FormData, type RowData, table } from '../dialects.js'
import { plain } from '../json.js'
import { get, isList, isObject } from '../untrusted.js'
import { type End, endsAt, firstAt, isGiven, leads, PathNode, Paths, visit } from './paths.js'
import { REST, type Slot, Walk } from './walk.js'

/** A tool result that a value is or carries. */
export class Result {
  constructor(
    readonly dialect: DialectName,
    readonly place: PathNode,
    readonly slots: readonly Slot[],
    private readonly all: readonly End[],
  ) {}

  /** Returns the values of a field of its row. */
  ends(field: 'id' | 'tool' | 'error' | 'side' | 'media'): End[] {
    return this.all.filter((end) => end.field === field)
  }

  /** True if an error flag is set. `error: null` is not a failure. */
  get isError(): boolean {
    return this.ends('error').some(({ value }) => isFailure(value))
  }

  get id(): string | undefined {
    return this.word('id')
  }

  get tool(): string | undefined {
    return this.word('tool')
  }

  private word(field: 'id' | 'tool'): string | undefined {
    return this.ends(field)
      .map(({ value }) => value)
      .find((value) => typeof value === 'string')
  }

  /** Copies beside the text that no model reads. */
  get side(): End[] {
    return this.ends('side')
  }

  /** Images, audio and files, or references to them. */
  get media(): End[] {
    return this.ends('media')
  }

  /** True if it has parts of a tool result. Tags alone may also occur in a caller's own data. */
  get isSure(): boolean {
    return (
      this.slots.some(({ json }) => json?.as !== REST) ||
      this.side.length > 0 ||
      this.media.length > 0 ||
      isEmptyList(this.place.read('content'))
    )
  }
}

/** Returns true if an `error` member reports a failure. */
export function isFailure(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== ''
}

function isEmptyList(value: unknown): boolean {
  return isList(value) && value.length === 0
}

/** Fields with paths into a result, in the order in which they are read. */
const FIELDS = ['text', 'json', 'other', 'media', 'id', 'tool', 'error', 'side', 'aside', 'words'] as const

/** Returns the paths of a field, each with how a text replaces what it leads to. */
function pathsOf(data: RowData, field: (typeof FIELDS)[number]): readonly (readonly [string, string])[] {
  const paths = data[field] ?? []
  return isList(paths) ? paths.map((path) => [path as string, '']) : Object.entries(paths)
}

export class DialectRow {
  readonly name: DialectName
  readonly forms: readonly Form[]
  private readonly copy: string | undefined
  private made: Paths | undefined
  private words: { readonly id: Paths; readonly tool: Paths } | undefined

  constructor(readonly data: RowData) {
    this.name = data.name as DialectName
    this.copy = data.copy
    this.forms = data.forms.map((form) => new Form(form, this))
  }

  /** Paths into a result. Made on first use, since most programs meet few dialects. */
  private get paths(): Paths {
    if (this.made) return this.made
    const data = this.data
    const paths = new Paths()
    this.made = paths
    const grow = (path: string, field: string, as = '') =>
      paths.grow(path, field === 'other' ? undefined : { field, as })
    const json = Object.entries(data.json ?? {})
    for (const field of FIELDS) {
      for (const [path, as] of pathsOf(data, field)) grow(path, field, as === RESULT ? 'string' : as)
      for (const [path, how] of field === 'text' || field === 'other' || field === 'media'
        ? pathsOf(mcp, field)
        : [])
        for (const [above, as] of json) if (as === RESULT) grow(`${above}.${path}`, field, how)
    }
    if (data.copy !== undefined) grow(data.copy, 'aside')
    return paths
  }

  read(place: PathNode): Result {
    const { slots, ends } = new Walk(this.paths, place)
    place.twin = this.copy
    return new Result(this.name, place, slots, ends)
  }

  /** Paths to the id and to the tool of a result. */
  get names() {
    this.words ??= { id: Paths.of(this.data.id), tool: Paths.of(this.data.tool) }
    return this.words
  }

  /** Returns the id and the tool of a result without reading its texts. */
  namesOf(place: PathNode): { readonly id: string | undefined; readonly tool: string | undefined } {
    const { id, tool } = this.names
    return { id: wordAt(id, place), tool: wordAt(tool, place) }
  }

  /** Returns true if a block of the content is known, in an array every element. */
  hasBlocks(place: PathNode): boolean {
    const { value } = place
    return isList(value)
      ? value.length > 0 && this.paths.countTagged(place) === value.length
      : this.paths.countContent(place) > 0
  }
}

/** Marks JSON that may hold a result of MCP. */
const RESULT = 'result'
const mcp = table().find(({ name }) => name === 'mcp') as RowData

class Form {
  readonly role: readonly string[]
  readonly type: readonly string[]
  readonly isList: boolean
  private readonly blocks: boolean
  private readonly isEmpty: boolean
  private made: { readonly has: readonly Paths[]; readonly results: Paths | undefined } | undefined

  constructor(
    private readonly data: FormData,
    readonly row: DialectRow,
  ) {
    this.role = data.role?.split('|') ?? []
    this.type = data.type?.split('|') ?? []
    this.isList = data.list ?? false
    this.blocks = data.blocks ?? false
    this.isEmpty = data.empty ?? false
  }

  /** Made on first use, as those of a row. */
  private get paths() {
    const { has = [], results } = this.data
    this.made ??= { has: has.map((path) => Paths.of([path])), results: results && Paths.of(results) }
    return this.made
  }

  /** Returns the results that a value is or carries, undefined if it has another form, null if only
   *  places tell. */
  values(value: object): object[] | undefined | null {
    if (this.isEmpty || this.blocks) return null
    const { has, results } = this.paths
    if (!has.every((paths) => firstAt(paths, value, isGiven) !== undefined)) return undefined
    if (!results) return [value]
    const found: object[] = []
    visit(results, value, (result) => {
      if (isObject(result) && !ArrayBuffer.isView(result)) found.push(result)
    })
    return found.length > 0 ? found : undefined
  }

  /** Returns the places of the results that a value is or carries, undefined if it has another
   *  form. */
  places(root: PathNode): PathNode[] | undefined {
    const { has, results: paths } = this.paths
    if (!has.every((paths) => leads(paths, root))) return undefined
    if (this.isEmpty && !isEmptyList(root.read('content'))) return undefined
    if (this.blocks && !this.row.hasBlocks(root)) return undefined
    if (!paths) return [root]
    const places = endsAt(paths, root).flatMap(({ value, holder, key }) =>
      // Bytes beside results are not results.
      isObject(value) && !ArrayBuffer.isView(value) ? holder.child(value, key) : [],
    )
    return places.length > 0 ? places : undefined
  }
}

export const rows: readonly DialectRow[] = table().map((data) => new DialectRow(data))
const forms = rows.flatMap((row) => row.forms)

const fromModel = Paths.of(table().flatMap(({ model = [] }) => model))
const failed = Paths.of(table().flatMap(({ failed = [] }) => failed))

const calls = table().flatMap(({ calls = [] }) =>
  calls.map(({ at, id, tool, args }) => ({
    at,
    id: Paths.of([id]),
    tool: Paths.of([tool]),
    args: Paths.of(args),
  })),
)
/** The paths to the calls of all rows, marked by their indexes in `calls`. */
const toCalls = new Paths()
for (const [at, call] of calls.entries()) toCalls.grow(call.at, { field: String(at), as: '' })

const fromUser = Paths.of(table().flatMap(({ user = [] }) => user))

/** The paths to payloads of the user, by dialect. Made on first use, since few policies bound
 *  these. */
let toPasted: { readonly name: DialectName; readonly paths: Paths }[] | undefined

/** Returns the payloads in a message of the user as a result without texts, under the paths of the
 *  first dialect that has any. `named`: the caller's dialect, if given. */
export function pastedIn(root: PathNode, named: DialectName | undefined): Result | undefined {
  toPasted ??= table().flatMap(({ name, pasted }) => {
    const paths = new Paths()
    for (const [path, as] of Object.entries(pasted ?? {})) paths.grow(path, { field: 'media', as })
    return pasted ? { name: name as DialectName, paths } : []
  })
  for (const { name, paths } of toPasted) {
    if (named && named !== name) continue
    const ends = endsAt(paths, root).filter(({ value }) => typeof value === 'string' || isObject(value))
    if (ends.length > 0) return new Result(name, root, [], ends)
  }
  return undefined
}

/** A tool call of the model. */
export interface Call {
  readonly name: string
  readonly args: readonly unknown[]
}

/** Returns the name by which a result and its call know each other: the id or, without one, the
 *  tool. */
export function callName({ id, tool }: { id: string | undefined; tool: string | undefined }) {
  return id ?? tool
}

/** A tool call in a message, with the places of its arguments. */
export interface CallPlace {
  readonly id: string | undefined
  readonly tool: string | undefined
  readonly args: readonly End[]
}

/** Returns the tool calls in a message, in the order of the rows, and within a row in that of the
 *  message. Rows may lead to one object: the first that finds most of it reads it. */
export function callPlaces(message: object, root = new PathNode(message)): CallPlace[] {
  const found = endsAt(toCalls, root).map((end) => ({ row: Number(end.field), end }))
  const read = new Map<object, CallPlace>()
  for (const { row, end } of found.sort((a, b) => a.row - b.row)) {
    const { value, holder, key } = end
    if (!isObject(value)) continue
    const { id, tool, args } = calls[row] as (typeof calls)[number]
    // A message that is a call has no holder but itself.
    const call = value === root.value ? root : holder.child(value, key)
    const place = { id: wordAt(id, call), tool: wordAt(tool, call), args: endsAt(args, call) }
    const known = read.get(value)
    if (!known || foundIn(place) > foundIn(known)) read.set(value, place)
  }
  return [...read.values()]
}

/** Returns how many of the parts of a call were found. */
function foundIn({ id, tool, args }: CallPlace): number {
  return [id !== undefined, tool !== undefined, args.length > 0].filter(Boolean).length
}

/** Returns the tool calls in a message that have a name and arguments. */
export function callsIn(message: object): Call[] {
  return callPlaces(message).flatMap((call) => {
    const name = callName(call)
    const args = call.args.map(({ value }) => value)
    return name !== undefined && args.length > 0 ? { name, args } : []
  })
}

/** Returns the words of the user in a message. */
export function wordsIn(message: object): string[] {
  return valuesAt(fromUser, new PathNode(message)).filter((value) => typeof value === 'string')
}

/** Returns the first string that paths lead to. */
export function wordAt(paths: Paths, place: PathNode): string | undefined {
  const name = paths.onlyName
  const value = name === undefined ? undefined : place.read(name)
  if (name !== undefined) return typeof value === 'string' ? value : undefined
  return valuesAt(paths, place).find((value) => typeof value === 'string')
}

function valuesAt(paths: Paths, place: PathNode): unknown[] {
  return endsAt(paths, place).map(({ value }) => value)
}

/** Returns true if a message is an answer of the model. A failed turn is not one: results before it
 *  stay the latest. */
export function isAnswer(message: object, root = new PathNode(message)): boolean {
  return leads(fromModel, root) && !leads(failed, root)
}

/** Returns true if a message is a turn of the model that ended in an error. */
export function isFailedTurn(message: object): boolean {
  return leads(failed, new PathNode(message))
}

/** Roles of messages that are not tool results, as providers name them. */
const ROLES: ReadonlySet<unknown> = new Set(['system', 'developer', 'user', 'assistant', 'model'])

/** Returns true if a value is a message of the user or the model, or instructions to the model. */
export function isTurn(value: object): boolean {
  const root = new PathNode(value)
  return ROLES.has(root.read('role')) || leads(fromModel, root) || leads(fromUser, root)
}

const NONE: readonly never[] = []

/** Forms by the tag that is read first, each in the order of the rows. */
const byRole = formsBy(({ role }) => role)
const byType = formsBy(({ type }) => type)
const lists = forms.filter(({ isList }) => isList)
const bare = forms.filter(({ isList, role, type }) => !isList && role.length + type.length === 0)

function formsBy(tagsOf: (form: Form) => readonly string[]): (tag: string) => readonly Form[] {
  const prefixed = forms.filter((form) => tagsOf(form).some((tag) => tag.endsWith('*')))
  const takes = (form: Form, tag: string) =>
    tagsOf(form).some((own) => own === tag || (own.endsWith('*') && tag.startsWith(own.slice(0, -1))))
  const tags = new Set(forms.flatMap(tagsOf))
  // Made on first use: those of all tags take 4 ms.
  const known = new Map<string, readonly Form[]>()
  return (tag) => {
    if (!tags.has(tag)) return prefixed.filter((form) => takes(form, tag))
    const made = known.get(tag) ?? forms.filter((form) => takes(form, tag))
    known.set(tag, made)
    return made
  }
}

/** Returns the tool results that a value is or carries, in order. `named`: the caller's dialect, if
 *  given. */
export function readResults(
  value: object,
  named: DialectName | undefined,
  root?: PathNode,
): readonly Result[] {
  try {
    return resultsOf(value, named, root ?? new PathNode(value))
  } catch {
    // Code of the caller threw, such as the trap of a proxy. What can be read of the value is read
    // from a copy.
    const data = plain(value)
    return isObject(data) ? resultsOf(data, named, new PathNode(data)) : NONE
  }
}

function resultsOf(value: object, named: DialectName | undefined, root: PathNode): readonly Result[] {
  for (const form of formsFor(root)) {
    if (named && form.row.name !== named) continue
    const places = form.places(root)
    if (places) return places.map((place) => form.row.read(place))
  }
  const role = isList(value) ? undefined : root.read('role')
  if (typeof role === 'string' && (byRole(role).length === 0 || role === 'user' || role === 'assistant'))
    return NONE
  const row = named && rows.find(({ name }) => name === named)
  const result = row?.read(root)
  return result && (result.slots.length > 0 || result.isSure) ? [result] : NONE
}

/** Returns the places of the tool results that a message is or carries, with the row that reads
 *  them. */
export function resultPlaces(
  root: PathNode,
): { readonly row: DialectRow; readonly places: readonly PathNode[] } | undefined {
  for (const form of formsFor(root)) {
    const places = form.places(root)
    if (places) return { row: form.row, places }
  }
  return undefined
}

/** Like `resultPlaces`, without places. Null if only these tell. */
export function resultValues(
  message: object,
): { readonly row: DialectRow; readonly values: readonly object[] } | undefined | null {
  for (const form of formsFor(message)) {
    const values = form.values(message)
    if (values !== undefined) return values && { row: form.row, values }
  }
  return undefined
}

function formsFor(root: PathNode | object): readonly Form[] {
  const read = (name: string) => (root instanceof PathNode ? root.read(name) : get(root, name))
  if (isList(root instanceof PathNode ? root.value : root)) return lists
  const role = read('role')
  if (typeof role === 'string') return byRole(role)
  if (role !== undefined) return NONE
  const type = read('type')
  if (typeof type === 'string') return byType(type)
  return type === undefined ? bare : NONE
}

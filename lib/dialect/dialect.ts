import type { DialectName } from 'spillway'
import table from '../../src/dialects.json'
import { escaped, jsonOf } from '../json.js'
import { get, isObject } from '../reading.js'
import { type End, endsAt, follow, leads, Paths, Place, type Reach } from './path.js'
import { ASIDE, Known, PAYLOAD, REST, restOf, WORDS } from './rest.js'

/**
 * Paths to the text of tool results, by framework: src/dialects.json, a row for each.
 *
 * The `forms` of a row describe its results, which are recognised by tags alone. A form lists the `role` or the `type`
 * of a value; without either, the value has neither. `has` lists other members, and `results` the paths to the results
 * that the value carries. `list`: it is an array. `blocks`: at least one block is known, in an array every element.
 * `empty`: its content has no blocks.
 *
 * All other paths start at a result. `text` and `json` lead to text that a model sees, `side` to data that it does not
 * see, `media` to bytes of images and the like, and `other` to known blocks without text. `aside` leads to members that
 * have no size or reach no model. `copy` names a second copy that a class keeps of its properties. Everything else is
 * the rest (rest.ts). JSON marked as `result` may instead be an MCP result, which the paths of that row read.
 */
interface RowData {
  readonly name: string
  readonly forms: readonly FormData[]
  readonly id?: readonly string[]
  readonly tool?: readonly string[]
  readonly error?: readonly string[]
  readonly text?: readonly string[]
  readonly json?: Readonly<Record<string, string>>
  readonly other?: readonly string[]
  readonly side?: readonly string[]
  readonly aside?: readonly string[]
  readonly copy?: string
  readonly media?: readonly string[]
  /**
   * Paths to the model's tool calls, and the members with the id and the tool of a call. Read by
   * src/session/inspect.rs.
   */
  readonly calls?: readonly { readonly at: string; readonly id: string; readonly tool: string }[]
  /** Paths that only messages of the model have. */
  readonly model?: readonly string[]
  /** Paths that only turns that ended in an error have. */
  readonly failed?: readonly string[]
}

interface FormData {
  readonly role?: string
  readonly type?: string
  readonly list?: boolean
  readonly has?: readonly string[]
  readonly blocks?: boolean
  readonly empty?: boolean
  readonly results?: readonly string[]
}

/** A place with text that a model sees. */
export interface Slot {
  readonly text: string
  readonly holder: Place
  readonly key: string | number
  /** The value, if the text is its JSON, and how a text replaces it. */
  readonly json: { readonly value: unknown; readonly as: string } | undefined
}

/** A tool result that a value is or carries. */
export class Result {
  constructor(
    readonly place: Place,
    readonly slots: readonly Slot[],
    readonly row: Row,
  ) {}

  /** True if an error flag is set. `error: null` is not a failure. */
  get isError(): boolean {
    return endsAt(this.row.error, this.place).some(({ value }) => isFailure(value))
  }

  get id(): string | undefined {
    return firstString(this.row.id, this.place)
  }

  get tool(): string | undefined {
    return firstString(this.row.tool, this.place)
  }

  /** Copies beside the text that no model reads. */
  get side(): End[] {
    return endsAt(this.row.side, this.place)
  }

  /** True if it has parts of a tool result. Tags alone may also occur in a caller's own data. */
  get isSure(): boolean {
    return (
      this.slots.some(({ json }) => json?.as !== REST) ||
      this.side.length > 0 ||
      this.media.length > 0 ||
      this.isEmpty
    )
  }

  /** True if the content is a list without blocks. */
  get isEmpty(): boolean {
    return isEmptyList(this.place.read('content'))
  }

  /** Images, audio and files, or references to them. */
  get media(): End[] {
    return endsAt(this.row.media, this.place)
  }
}

/** Returns true if an `error` member reports a failure. */
export function isFailure(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== ''
}

function firstString(paths: Paths, place: Place): string | undefined {
  return endsAt(paths, place)
    .map(({ value }) => value)
    .find((value) => typeof value === 'string')
}

export class Row {
  readonly name: DialectName
  readonly error: Paths
  readonly side: Paths
  readonly media: Paths
  readonly id: Paths
  readonly tool: Paths
  readonly copy: string | undefined
  private readonly slots = new Paths()
  /** All known paths of a result. */
  private readonly known: Known
  readonly forms: readonly Form[]

  constructor(data: RowData) {
    this.name = data.name as DialectName
    this.error = Paths.of(data.error)
    this.side = Paths.of(data.side)
    const json = Object.entries(data.json ?? {})
    const nested = (field: 'text' | 'other' | 'media') =>
      json.flatMap(([path, as]) => (as === RESULT ? (mcp[field] ?? []).map((end) => `${path}.${end}`) : []))
    const media = [...(data.media ?? []), ...nested('media')]
    this.media = Paths.of(media)
    this.id = Paths.of(data.id)
    this.tool = Paths.of(data.tool)
    this.copy = data.copy
    const known = new Paths()
    for (const path of [...(data.id ?? []), ...(data.tool ?? []), ...(data.error ?? [])])
      known.grow(path, WORDS)
    for (const path of media) known.grow(path, PAYLOAD)
    for (const tree of [this.slots, known]) {
      for (const path of [...(data.text ?? []), ...nested('text')]) tree.grow(path, TEXT)
      for (const [path, as] of json) tree.grow(path, as === RESULT ? STRING : as)
      for (const path of [...(data.other ?? []), ...nested('other')]) tree.grow(path)
    }
    const copy = data.copy === undefined ? [] : [data.copy]
    for (const path of [...(data.side ?? []), ...(data.aside ?? []), ...copy]) known.grow(path, ASIDE)
    this.known = new Known([known])
    this.forms = data.forms.map((form) => new Form(form, this))
  }

  /**
   * Returns the result at a place. With `blocks`, returns undefined unless a block is known, in an array every element.
   */
  read(place: Place, blocks = false): Result | undefined {
    const slots: Slot[] = []
    const known = follow(this.slots, place, slots, addSlot)
    if (blocks && (known === 0 || (Array.isArray(place.value) && known < place.value.length)))
      return undefined
    const rest = restOf(this.known, place, slots)
    return new Result(place, rest.length > 0 ? [...rest, ...slots] : slots, this)
  }
}

const TEXT = ''
const STRING = 'string'
const RESULT = 'result'
/** The MCP row, whose results other rows may hold as JSON. */
const mcp = (table as readonly RowData[]).find(({ name }) => name === 'mcp') as RowData
/** A string that is JSON, and must stay JSON. */
const ENCODED = 'encoded'

const addSlot: Reach<Slot[]> = (paths, value, holder, key, slots) => {
  if (typeof value === 'string') {
    const json = paths.end === ENCODED ? { value, as: ENCODED } : undefined
    slots.push({ text: value, holder, key, json })
  } else if (paths.end !== TEXT && paths.end !== undefined && typeof value === 'object' && value !== null) {
    if (isRead(value, paths)) return false
    const text = jsonOf(value)
    if (text !== undefined) slots.push({ text: escaped(text), holder, key, json: { value, as: paths.end } })
  } else return false
  return true
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** Returns true if paths read all members of an object, or if it is a result with a known block. */
function isRead(value: object, paths: Paths): boolean {
  if (paths.names.length === 0 || Array.isArray(value)) return false
  const blocks = paths.next[paths.names.indexOf('content')]
  const content = blocks && get(value, 'content')
  const list: readonly unknown[] = Array.isArray(content) ? content : []
  // An object with its own `toJSON` may write other data than its members.
  if (writesItself(value) || list.some(writesItself)) return false
  if (blocks && list.length > 0 && follow(blocks, new Place(list), undefined, passOver) > 0) return true
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every((key) => paths.names.includes(key))
}

function writesItself(value: unknown): boolean {
  return isObject(value) && typeof get(value, 'toJSON') === 'function'
}

const passOver: Reach<undefined> = () => true

class Form {
  readonly role: readonly string[]
  readonly type: readonly string[]
  readonly isList: boolean
  private readonly has: readonly Paths[]
  private readonly blocks: boolean
  private readonly isEmpty: boolean
  private readonly results: Paths | undefined

  constructor(
    data: FormData,
    readonly row: Row,
  ) {
    this.role = data.role?.split('|') ?? []
    this.type = data.type?.split('|') ?? []
    this.isList = data.list ?? false
    this.has = (data.has ?? []).map((path) => Paths.of([path]))
    this.blocks = data.blocks ?? false
    this.isEmpty = data.empty ?? false
    this.results = data.results && Paths.of(data.results)
  }

  read(root: Place): Result[] | undefined {
    for (const paths of this.has) if (!leads(paths, root)) return undefined
    if (this.isEmpty && !isEmptyList(root.read('content'))) return undefined
    if (!this.results) {
      const result = this.row.read(root, this.blocks)
      return result && [result]
    }
    const results = endsAt(this.results, root).flatMap(({ value, holder, key }) =>
      // Bytes beside results are not results.
      isObject(value) && !ArrayBuffer.isView(value) ? (this.row.read(holder.child(value, key)) ?? []) : [],
    )
    return results.length > 0 ? results : undefined
  }
}

const rows = (table as readonly RowData[]).map((data) => new Row(data))
const forms = rows.flatMap((row) => row.forms)

export const dialectNames: readonly DialectName[] = ['text', ...new Set(rows.map(({ name }) => name))]

const fromModel = Paths.of((table as readonly RowData[]).flatMap(({ model = [] }) => model))
const failed = Paths.of((table as readonly RowData[]).flatMap(({ failed = [] }) => failed))

/** Returns true if a message is an answer of the model. A failed turn is not one: results before it stay the latest. */
export function isAnswer(message: object): boolean {
  const root = new Place(message)
  return leads(fromModel, root) && !leads(failed, root)
}

/** Returns true if a message is a turn of the model that ended in an error. */
export function isFailedTurn(message: object): boolean {
  return leads(failed, new Place(message))
}

const NONE: readonly never[] = []

/** Forms by the tag that is read first. */
const byRole = group(({ role }) => role)
const byType = group(({ type }) => type)
const lists = forms.filter(({ isList }) => isList)
const bare = forms.filter(({ isList, role, type }) => !isList && role.length + type.length === 0)
const prefixes = [...byType].filter(([type]) => type.endsWith('*'))
// A type that starts with a prefix may match either form.
for (const [type, forms] of byType) if (!type.endsWith('*')) byType.set(type, [...forms, ...starting(type)])

function group(tagsOf: (form: Form) => readonly string[]): Map<string, Form[]> {
  const groups = new Map<string, Form[]>()
  for (const form of forms)
    for (const tag of tagsOf(form)) groups.set(tag, [...(groups.get(tag) ?? []), form])
  return groups
}

/** Returns the tool results that a value is or carries, in order. `named`: the caller's dialect, if given. */
export function readResults(value: object, named: DialectName | undefined): readonly Result[] {
  const root = new Place(value)
  for (const form of formsFor(root)) {
    if (named && form.row.name !== named) continue
    const results = form.read(root)
    if (results) return results
  }
  const role = Array.isArray(value) ? undefined : root.read('role')
  if (typeof role === 'string' && !byRole.has(role)) return NONE
  if (role === 'user' || role === 'assistant') return NONE
  const row = named && rows.find(({ name }) => name === named)
  const result = row?.read(root)
  return result && (result.slots.length > 0 || row?.read(root, true)) ? [result] : NONE
}

function formsFor(root: Place): readonly Form[] {
  if (Array.isArray(root.value)) return lists
  const role = root.read('role')
  if (typeof role === 'string') return byRole.get(role) ?? NONE
  if (role !== undefined) return NONE
  const type = root.read('type')
  if (typeof type === 'string') return byType.get(type) ?? starting(type)
  return type === undefined ? bare : NONE
}

function starting(type: string): readonly Form[] {
  return prefixes.find(([prefix]) => type.startsWith(prefix.slice(0, -1)))?.[1] ?? NONE
}

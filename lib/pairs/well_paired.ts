import { firstAt, isGiven } from '../dialect/paths.js'
import { resultValues } from '../dialect/results.js'
import { elementAt, get, isList, isObject } from '../untrusted.js'
import type { Kind, PairRules } from './rules.js'

/**
 * Returns true if a history certainly needs no repair: every call has an id that the provider
 * accepts, or no id where names pair, and the results of a turn's calls follow at once. It makes
 * one pass and allocates nothing. It leaves unusual input, such as calls that the provider runs, to
 * `Pairing`.
 */
export function isWellPaired(messages: readonly unknown[], rules: PairRules): boolean {
  const look = new Look(rules)
  for (let at = 0; at < messages.length; at++) {
    const message = elementAt(messages, at)
    if (!isObject(message) || !look.takes(message)) return false
  }
  return look.isAtRest
}

class Look {
  /** Ids of all calls or, where they are used again, of those of the turn. */
  readonly used = new Set<string>()
  /** Numbers of the calls whose results are to come, by what pairs them. */
  readonly due = new Map<string, number>()
  /** True if calls have ids. If only some have ids, only `Pairing` can pair them. */
  hasIds: boolean | undefined
  isSound = true
  hasCalls = false
  last: 'model' | 'answer' | 'other' = 'other'

  constructor(readonly rules: PairRules) {}

  get isAtRest(): boolean {
    return this.due.size === 0
  }

  /** Takes the next message. Returns false if it may need a repair. */
  takes(message: object): boolean {
    const { rules, due } = this
    this.hasCalls = false
    const isVoid = firstAt(rules.void, message, isGiven) !== undefined
    if (!isVoid) rules.eachCall(message, (call, kind) => this.call(call, kind))
    if (rules.areOne || !this.isSound) return this.isSound
    const read = resultValues(message)
    if (read === null) return false
    const role = get(message, 'role')
    const isModel = role === 'assistant' || role === 'model'
    const { turns, anywhere } = rules.pairs
    const isAnswer = read !== undefined && read.row.data.pairs !== undefined
    if (isAnswer && (isModel || this.hasCalls || !this.answers(message, read))) return false
    const isUser = rules.list !== '' && role === rules.role
    const side = this.hasCalls || (isModel && turns) ? 'model' : isAnswer || isUser ? 'answer' : 'other'
    if (turns === 'alternate' && side === this.last && side !== 'other') return false
    this.last = side
    // Due results come before everything else, except more calls where items follow each other.
    return isAnswer || due.size === 0 || this.hasCalls || anywhere === true
  }

  /** Takes a call. */
  call(call: object, kind: Kind): void {
    const { rules, used, due } = this
    if (rules.areOne) {
      if (kind.lacksResult(call)) this.isSound = false
      return
    }
    // The calls of a turn wait together; the calls of the turn before have their results.
    if (!this.hasCalls && !rules.pairs.anywhere && due.size > 0) this.isSound = false
    const { named, unique } = rules.pairs
    if (!this.hasCalls && !unique) used.clear()
    this.hasCalls = true
    const id = firstAt(kind.id, call, isText)
    const key = this.keyOf(id, named ? firstAt(kind.tool, call, isText) : undefined)
    const isFree = id === undefined || (!used.has(id) && (!rules.ids || rules.ids.test(id)))
    this.hasIds ??= id !== undefined
    const isAlike = this.hasIds === (id !== undefined)
    if (key === undefined || !isFree || !isAlike || kind.result === undefined) this.isSound = false
    else {
      due.set(key, (due.get(key) ?? 0) + 1)
      if (id !== undefined) used.add(id)
    }
  }

  /** Returns the mark that a call shares with its result, undefined without ids or names. */
  keyOf(id: string | undefined, tool: string | undefined): string | undefined {
    if (id === '') return undefined
    if (!this.rules.pairs.named) return id
    return tool === undefined ? undefined : `${id ?? ''}\n${tool}`
  }

  /** Takes the results at the start of a message. */
  answers(message: object, { row, values }: NonNullable<ReturnType<typeof resultValues>>): boolean {
    const { rules, due } = this
    if (row.name !== rules.name) return false
    for (const value of values) {
      const { id, tool } = row.names
      const { named, names } = rules.pairs
      const name = named || names ? firstAt(tool, value, isText) : undefined
      if (names && !name?.trim()) return false
      const key = this.keyOf(firstAt(id, value, isText), named ? name : undefined) ?? ''
      const count = due.get(key) ?? 0
      if (count === 0) return false
      if (count === 1) due.delete(key)
      else due.set(key, count - 1)
    }
    const list = rules.pairs.turns ? get(message, rules.list) : undefined
    if (!isList(list)) return true
    // All blocks are results, or these are the last that were due, and lead.
    return list.length === values.length || (due.size === 0 && leadsWith(list, values))
  }
}

function leadsWith(list: readonly unknown[], values: readonly object[]): boolean {
  return values.every((value, at) => {
    const block = elementAt(list, at)
    return block === value || (isObject(block) && Object.values(block).includes(value))
  })
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

import data from '../../src/stand_in.json'
import { endsAt, leads, PathNode } from '../dialect/paths.js'
import { type DialectRow, resultPlaces, wordAt } from '../dialect/results.js'
import type { native } from '../engine.js'
import { elementAt, isList, isObject, tryRead } from '../untrusted.js'
import type { Kind, PairRules } from './rules.js'

/** A tool call of a history. */
export interface HistoryCall {
  /** Index of its message. */
  readonly at: number
  readonly place: PathNode
  readonly kind: Kind
  readonly id: string | undefined
  readonly tool: string | undefined
}

/** A tool result of a history. */
export interface Answer {
  readonly at: number
  readonly place: PathNode
  readonly row: DialectRow
  readonly id: string | undefined
  readonly tool: string | undefined
}

type Fields = Parameters<typeof native.pairChanges>[1]

/** The number of a text that is missing, and the index of a block that is the message. */
const NONE = -1
/** Blocks of a message whose list is a text. */
const TEXT = -2
/** Flags of a message, a call and a result, as in bindings/src/pairs.rs. */
const [IS_MODEL, LEADS] = [1, 2]
const [WAITS, IS_OPEN] = [1, 2]
const IS_ERROR = 1

/** Numbers of a record. Those of a result begin with its block, its id and its tool. */
const COLUMNS = 5
const [SAID, FLAGS] = [3, 4]

/** Blocks of a message up to which it is read. Beyond, most are holes. */
const MOST_BLOCKS = 10_000_000

/** The calls and the results of a history, as the engine pairs them. */
export class Records {
  readonly calls: HistoryCall[] = []
  readonly answers: Answer[] = []
  readonly #messages: number[] = []
  readonly #callRows: number[] = []
  readonly #answerRows: number[] = []
  readonly #texts = new Map<string, number>()
  /** The first result of each id. */
  readonly #firsts = new Map<string, number>()

  constructor(
    readonly roots: readonly (PathNode | undefined)[],
    readonly rules: PairRules,
    private readonly missing: string,
  ) {
    for (const [at, root] of roots.entries()) {
      const [calls, answers] = [this.calls.length, this.answers.length]
      if (root) tryRead(() => this.#read(root, at))
      this.#messages.push(this.calls.length - calls, this.answers.length - answers)
      this.#messages.push(...((root && tryRead(() => this.#message(root))) ?? [NONE, NONE, 0]))
    }
  }

  /** Returns the records in the form of the engine. */
  fields(): Fields {
    return {
      messages: Int32Array.from(this.#messages),
      calls: Int32Array.from(this.#callRows),
      answers: Int32Array.from(this.#answerRows),
      texts: [...this.#texts.keys()],
    }
  }

  #read(root: PathNode, at: number): void {
    const { rules } = this
    const calls = leads(rules.void, root) ? [] : rules.callsIn(root)
    const { row, places = [] } = (!rules.areOne && resultPlaces(root)) || {}
    // Calls of some hosted tools carry their results.
    const whole = new Set(places.map(({ value }) => value))
    const waiting = new Set(calls.length > 0 ? endsAt(rules.waiting, root).map(({ value }) => value) : [])
    for (const { kind, place } of calls) {
      if (whole.has(place.value)) continue
      const call = { at, place, kind, id: wordAt(kind.id, place), tool: wordAt(kind.tool, place) }
      this.calls.push(call)
      const waits = call.id !== undefined && waiting.has(call.id) ? WAITS : 0
      const flags = waits | (kind.isOpen(place) ? IS_OPEN : 0)
      this.#callRows.push(kind.rank, indexOf(place), this.#textOf(call.id), this.#textOf(call.tool), flags)
    }
    if (!row?.data.pairs || (row.name !== rules.name && (rules.list || row.data.pairs.home))) return
    const isHosted = isModel(root)
    const called = new Set(calls.map(({ place }) => place.value))
    for (const place of places) {
      if (called.has(place.value)) continue
      const { id, tool } = row.namesOf(place)
      // A text block that is not a message looks like a result of OpenAI Agents.
      const isNamed = id !== undefined || tool !== undefined
      if (isNamed || (!isHosted && rules.isMessage(root))) this.#answer({ at, place, row, id, tool })
    }
  }

  #answer(answer: Answer): void {
    const { place, id, tool } = answer
    const nth = this.answers.push(answer) - 1
    this.#answerRows.push(indexOf(place), this.#textOf(id), this.#textOf(tool), NONE, 0)
    // Only of two results of one call does it matter what they say.
    const twin = id ? this.#firsts.get(id) : undefined
    if (id && twin === undefined) this.#firsts.set(id, nth)
    else for (const one of twin === undefined ? [nth] : [twin, nth]) this.#say(one)
  }

  /** Notes the text of a result, and if it is an error. */
  #say(nth: number): void {
    const { row, place } = this.answers[nth] as Answer
    const { slots, isError } = row.read(place)
    const text = slots.map((slot) => slot.text).join('\n')
    const isShort = text.length <= data.longest || text === this.missing
    this.#answerRows[COLUMNS * nth + SAID] = this.#textOf(isShort ? text : undefined)
    this.#answerRows[COLUMNS * nth + FLAGS] = isError ? IS_ERROR : 0
  }

  /** Returns the number of blocks of a message, its role and its flags. */
  #message(root: PathNode): [blocks: number, role: number, flags: number] {
    const { rules } = this
    const list = rules.list ? root.read(rules.list) : undefined
    if (isList(list) && list.length > MOST_BLOCKS) throw new RangeError('too many blocks')
    const blocks = isList(list) ? list.length : typeof list === 'string' && list !== '' ? TEXT : NONE
    const role = root.read('role')
    const flags = (isModel(root) ? IS_MODEL : 0) | (leads(rules.before, root) ? LEADS : 0)
    return [blocks, this.#textOf(typeof role === 'string' ? role : undefined), flags]
  }

  #textOf(text: string | undefined): number {
    if (text === undefined) return NONE
    const texts = this.#texts
    const number = texts.get(text) ?? texts.size
    texts.set(text, number)
    return number
  }
}

export function rootsOf(messages: readonly unknown[]): (PathNode | undefined)[] {
  return Array.from(messages.keys(), (at) => {
    const message = elementAt(messages, at)
    return isObject(message) ? new PathNode(message) : undefined
  })
}

/** Returns the block that holds a place: an element of a list, or the root if it is in no list. */
export function blockOf(place: PathNode): PathNode {
  let at = place
  while (at.parent && !isList(at.parent.value)) at = at.parent
  return at
}

/** Returns the index of the block that holds a place, -1 if it is in no list. */
function indexOf(place: PathNode): number {
  const { parent, key } = blockOf(place)
  return parent ? Number(key) : NONE
}

function isModel(root: PathNode): boolean {
  const role = root.read('role')
  return role === 'assistant' || role === 'model'
}

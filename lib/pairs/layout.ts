import { leads } from '../dialect/paths.js'
import { copy } from '../dialect/shallow_copy.js'
import { get, isList, isObject } from '../untrusted.js'
import { Instances } from './instances.js'
import type { Pairing } from './pairing.js'
import type { Answer, HistoryCall, Side, Turn } from './parts.js'
import { filled } from './rules.js'

export interface Wishes {
  readonly orphans: 'drop' | 'text'
  readonly missing: string
}

/** A message of the repaired history. */
interface LayoutMessage {
  readonly side: Side
  message: unknown
  /** Index of the original message, -1 for a new message. */
  readonly from: number
  /** Number of results at its start. */
  leading: number
}

/** Lays out a history again, with each result where the provider expects it. */
export class Layout {
  /** Number of results and calls that were inserted, moved or removed, plus turns that were
   *  joined. */
  count = 0
  private readonly pieces: LayoutMessage[] = []
  /** Results that the last calls still need. */
  private due: unknown[] = []
  private answersAt: ReadonlyMap<number, readonly Answer[]> = new Map()
  private callsAt: ReadonlyMap<number, readonly HistoryCall[]> = new Map()
  private readonly lastOfModel: number
  private readonly instances: Instances

  constructor(
    private readonly pairing: Pairing,
    /** The messages with their final ids. */
    private readonly messages: readonly unknown[],
    private readonly idOf: (call: HistoryCall) => string | undefined,
    private readonly wishes: Wishes,
  ) {
    this.instances = new Instances(messages)
    this.lastOfModel = pairing.turns.findLastIndex(({ side }) => side === 'model')
  }

  /** True if every message can stay as it is. */
  get isSound(): boolean {
    const { pairing } = this
    const { calls, answers, rules, turns } = pairing
    return (
      answers.every((answer) => pairing.isInPlace(answer)) &&
      calls.every((call) => !this.isDropped(call) && !this.lacks(call)) &&
      (rules.pairs.turns !== 'alternate' ||
        turns.every(({ side, from, to }) => side === 'other' || to === from + 1))
    )
  }

  /** Returns the messages of the new history. */
  made(): unknown[] {
    const { answers, calls, turns, rules } = this.pairing
    this.answersAt = byMessage(answers)
    this.callsAt = byMessage(calls)
    for (const turn of turns) this.add(turn)
    this.settle()
    return (rules.pairs.turns === 'alternate' ? this.joined() : this.pieces).map(({ message }) => message)
  }

  private add({ side, from, to }: Turn): void {
    if (side !== 'answer') this.settle()
    const start = this.pieces.length
    const words: unknown[] = []
    /** Index of the last message whose orphans become words. */
    let said = -1
    for (let at = from; at < to; at++) {
      const before = words.length
      this.keep(at, side, words)
      if (words.length > before) said = at
      for (const call of this.callsAt.get(at) ?? []) this.ask(call)
    }
    if (side === 'answer' && this.pairing.rules.pairs.turns) this.complete(start, words, { from, to, said })
    else if (side === 'answer') {
      this.settle()
      for (const message of words) this.pieces.push({ side: 'other', message, from: -1, leading: 0 })
    }
  }

  /** Adds a message without its misplaced results. Collects the text of orphaned results in
   *  `words`. */
  private keep(at: number, side: Side, words: unknown[]): void {
    const gone = new Set<number | undefined>()
    let leading = 0
    for (const answer of this.answersAt.get(at) ?? []) {
      if (this.pairing.isInPlace(answer)) leading += 1
      else {
        gone.add(answer.index)
        if (answer.call) continue
        this.count += 1
        if (this.wishes.orphans === 'text' && !answer.isDuplicate) words.push(...this.wordsOf(answer))
      }
    }
    for (const call of this.callsAt.get(at) ?? []) {
      if (!this.isDropped(call)) continue
      gone.add(call.index)
      this.count += 1
    }
    if (gone.has(undefined)) {
      if (side === 'model') this.unlead()
      return
    }
    const message = this.messages[at]
    const list = gone.size === 0 ? undefined : this.listOf(message).filter((_, index) => !gone.has(index))
    if (list?.length !== 0)
      this.pieces.push({ side, message: list ? this.withList(message, list) : message, from: at, leading })
  }

  /** Removes trailing messages that are invalid without the call that followed them. */
  private unlead(): void {
    const { roots, rules } = this.pairing
    for (let last = this.pieces.at(-1); last; last = this.pieces.at(-1)) {
      const root = roots[last.from]
      if (!root || !leads(rules.before, root)) return
      this.pieces.pop()
    }
  }

  /** True if a call lacks a result that can be inserted. */
  private lacks(call: HistoryCall): boolean {
    const { answer, kind } = call
    return answer
      ? !this.pairing.isInPlace(answer)
      : kind.result !== undefined && !this.pairing.isWaiting(call)
  }

  /** Records the missing result of a call. */
  private ask(call: HistoryCall): void {
    const { answer, kind, tool, at } = call
    if (!this.lacks(call)) return
    this.count += 1
    const given = { id: this.idOf(call), tool, text: this.wishes.missing }
    this.due.push(answer ? this.moved(answer) : this.filled(kind.result, at, given))
  }

  /** Fills a template from the given values and members of a message. */
  private filled(template: unknown, at: number, given: Readonly<Record<string, unknown>>): unknown {
    const of = (name: string) =>
      Object.hasOwn(given, name) ? given[name] : this.pairing.roots[at]?.read(name)
    const made = filled(template, of)
    // The member that repeats the fields of an instance.
    return this.pairing.rules.copy && isObject(made) ? this.instances.of(made, at) : made
  }

  private moved({ at, index }: Answer): unknown {
    const message = this.messages[at]
    return index === undefined ? message : this.listOf(message)[index]
  }

  /** True for a call that no text can answer and that has no result. A call of the last turn may
   *  still be running. */
  private isDropped({ answer, kind, at }: HistoryCall): boolean {
    if (answer || kind.result) return false
    const { rules, turnOf } = this.pairing
    return rules.pairs.anywhere === true || (turnOf[at] as number) < this.lastOfModel
  }

  /** Adds the results that are due as messages of their own. */
  private settle(): void {
    const { due } = this
    if (due.length === 0) return
    const { home } = this.pairing.rules.pairs
    if (home) this.pieces.push(this.homeOf(due))
    else for (const message of due) this.pieces.push({ side: 'answer', message, from: -1, leading: 1 })
    this.due = []
  }

  private homeOf(blocks: readonly unknown[]): LayoutMessage {
    const message = filled(this.pairing.rules.pairs.home, () => blocks)
    return { side: 'answer', message, from: -1, leading: blocks.length }
  }

  /** Adds the due results to the user's turn, after its leading results, and words at its end. */
  private complete(
    start: number,
    words: unknown[],
    { from, to, said }: { from: number; to: number; said: number },
  ): void {
    const { pieces } = this
    if (pieces.length === start) {
      this.settle()
      // A conversation begins with the user. If that turn has nothing else left, orphans stay as
      // text.
      if (words.length === 0 && !pieces.some(({ side }) => side !== 'other'))
        for (let at = from; at < to; at++)
          for (const answer of this.answersAt.get(at) ?? []) words.push(...this.wordsOf(answer))
    } else if (this.due.length > 0) {
      const own = pieces.slice(start)
      const piece = own.findLast(({ leading }) => leading > 0) ?? (own[0] as LayoutMessage)
      this.insert(piece, piece.leading, this.due)
      piece.leading += this.due.length
      this.due = []
    }
    if (words.length === 0) return
    const last = pieces[pieces.length - 1]
    // A message before the orphans stays as it is, unless all of the turn must be one.
    const isBefore = this.pairing.rules.pairs.turns !== 'alternate' && last !== undefined && last.from < said
    if (!last || pieces.length === start || isBefore) pieces.push(this.homeOf(words))
    else this.insert(last, this.listOf(last.message).length, words)
  }

  private insert(piece: LayoutMessage, index: number, blocks: readonly unknown[]): void {
    const list = this.listOf(piece.message)
    piece.message = this.withList(piece.message, [...list.slice(0, index), ...blocks, ...list.slice(index)])
  }

  /** Joins adjacent messages of one role. */
  private joined(): LayoutMessage[] {
    const groups: LayoutMessage[][] = []
    for (const piece of this.pieces) {
      const group = groups.at(-1)
      const last = group?.at(-1)
      const isAlike = last?.side === piece.side && roleOf(last.message) === roleOf(piece.message)
      if (isAlike && piece.side !== 'other') {
        group?.push(piece)
        this.count += 1
      } else groups.push([piece])
    }
    return groups.map((group) => {
      const [first] = group as [LayoutMessage]
      if (group.length === 1) return first
      const list = group.flatMap(({ message }) => this.listOf(message))
      return { ...first, message: this.withList(first.message, list) }
    })
  }

  /** Returns the user's text that replaces a result without a call. */
  private wordsOf({ at, place, tool, text }: Answer): unknown[] {
    const { words = [] } = this.pairing.rules.pairs
    const template =
      words.find((template) => typeof place.key === 'string' && place.key in template) ?? words[0]
    const whose = `[Result of ${tool ?? 'a tool'}, whose call is no longer in the history]`
    return [this.filled(template, at, { text: `${whose}\n${text}` })]
  }

  private listOf(message: unknown): readonly unknown[] {
    const { list, pairs } = this.pairing.rules
    const content = isObject(message) ? get(message, list) : undefined
    if (typeof content === 'string' && content !== '') return [filled(pairs.words?.[0], () => content)]
    return isList(content) ? content : []
  }

  private withList(message: unknown, list: readonly unknown[]): unknown {
    return copy(message as object, new Map([[this.pairing.rules.list, list]]))
  }
}

function roleOf(message: unknown): unknown {
  return isObject(message) ? get(message, 'role') : undefined
}

function byMessage<T extends { readonly at: number }>(all: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>()
  for (const one of all) {
    const group = groups.get(one.at)
    if (group) group.push(one)
    else groups.set(one.at, [one])
  }
  return groups
}

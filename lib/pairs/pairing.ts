import type { DialectName } from 'spillway'
import { endsAt, firstAt, isGiven, leads, PathNode } from '../dialect/paths.js'
import { resultPlaces, wordAt } from '../dialect/results.js'
import { elementAt, isList, isObject, tryRead } from '../untrusted.js'
import { CallIndex, type Marks } from './known.js'
import { Answer, HistoryCall, type Side, type Turn } from './parts.js'
import { allRules, type PairRules } from './rules.js'
import { isSurelySound } from './sound.js'
import { standsIn } from './stand_in.js'

/** Pairs the calls and results of a history. */
export class Pairing {
  readonly calls: HistoryCall[] = []
  readonly answers: Answer[] = []
  readonly turns: Turn[] = []
  /** Index of the turn of each message. */
  readonly turnOf: number[] = []
  /** Ids of the calls that wait for a person, by message. */
  private readonly waiting = new Map<number, ReadonlySet<unknown>>()

  private constructor(
    readonly roots: readonly (PathNode | undefined)[],
    readonly rules: PairRules,
    /** The text of an inserted result. */
    private readonly missing: string,
  ) {
    for (const [at, root] of roots.entries()) if (root) tryRead(() => this.read(root, at))
    this.divide()
    this.pair()
    if (rules.pairs.turns) this.rank()
  }

  /** Reads a history. Returns undefined if it has no calls and no results, or if it needs no
   *  repair. */
  static of(messages: readonly unknown[], missing: string, named?: DialectName): Pairing | undefined {
    const known = named ? allRules().find(({ name }) => name === named) : rulesOfCalls(messages)
    if (known ? isSurelySound(messages, known) : named) return undefined
    const roots = rootsOf(messages)
    const rules = known ?? rulesOfResults(roots)
    return rules && new Pairing(roots, rules, missing)
  }

  private read(root: PathNode, at: number): void {
    const { rules } = this
    const calls = leads(rules.void, root) ? [] : rules.callsIn(root)
    const { row, places = [] } = (!rules.areOne && resultPlaces(root)) || {}
    // Calls of some hosted tools carry their results.
    const whole = new Set(places.map(({ value }) => value))
    for (const { kind, place } of calls)
      if (!whole.has(place.value))
        this.calls.push(new HistoryCall(at, place, kind, wordAt(kind.id, place), wordAt(kind.tool, place)))
    if (!row?.data.pairs || (row.name !== rules.name && (rules.list || row.data.pairs.home))) return
    const isHosted = isModel(root)
    const called = new Set(calls.map(({ place }) => place.value))
    for (const place of places) {
      if (called.has(place.value)) continue
      const { id, tool } = row.namesOf(place)
      // A text block that is not a message looks like a result of OpenAI Agents.
      const isNamed = id !== undefined || tool !== undefined
      if (isNamed || (!isHosted && rules.isMessage(root)))
        this.answers.push(new Answer(at, place, row, id, tool?.trim() ? tool : undefined, isHosted))
    }
  }

  private divide(): void {
    const { roots, rules, turns, turnOf } = this
    const sides: Side[] = []
    for (const { at } of this.answers) sides[at] = 'answer'
    for (const { at } of this.calls) sides[at] = 'model'
    const sideOf = (root: PathNode | undefined, at: number): Side => {
      if (sides[at] === 'model') return 'model'
      if (root && isModel(root)) return rules.pairs.turns ? 'model' : 'other'
      return sides[at] || (rules.list && root?.read('role') === rules.role) ? 'answer' : 'other'
    }
    const { turns: merges, anywhere } = rules.pairs
    for (const [at, root] of roots.entries()) {
      const side = sideOf(root, at)
      const last = turns.at(-1)
      const joins = side === 'answer' || (side === 'model' && (merges || anywhere))
      if (last?.side === side && joins) last.to = at + 1
      else turns.push({ side, from: at, to: at + 1 })
      turnOf.push(turns.length - 1)
    }
  }

  /**
   * Finds the call of each result: the call before it, in the latest turn that has an unanswered
   * call. Results with the id of a call come first, so that no other result takes their call by its
   * tool or its place.
   */
  private pair(): void {
    const without: Answer[] = []
    const withIds = this.answers.filter((answer) => {
      if (answer.id === undefined) without.push(answer)
      return answer.id !== undefined
    })
    const left = this.pairEach(withIds)
    const rest = this.pairEach([...without, ...left.filter(({ id }) => id === '')].sort(inOrder), true)
    this.pairByPlace(rest.filter(({ tool, isHosted }) => tool === undefined && !isHosted))
  }

  /** Pairs results with neither id nor tool with the open calls of the turn before them, if both
   *  are as many. */
  private pairByPlace(answers: readonly Answer[]): void {
    if (answers.length === 0) return
    const turnOf = ({ at }: HistoryCall | Answer) => this.turnOf[at] as number
    const byTurn = new Map<number, { calls: HistoryCall[]; answers: Answer[] }>()
    for (const answer of answers) {
      const known = byTurn.get(turnOf(answer))
      if (known) known.answers.push(answer)
      else byTurn.set(turnOf(answer), { calls: [], answers: [answer] })
    }
    for (const call of this.calls)
      if (!call.answer && call.kind.result) byTurn.get(turnOf(call) + 1)?.calls.push(call)
    for (const { calls, answers } of byTurn.values())
      if (calls.length === answers.length)
        for (const [at, answer] of answers.entries()) bind(calls[at] as HistoryCall, answer)
  }

  /** Pairs results, and returns the results without a call. `isByTool`: ignore their ids. */
  private pairEach(answers: readonly Answer[], isByTool = false): Answer[] {
    const left: Answer[] = []
    if (answers.length === 0) return left
    const { calls, turnOf } = this
    const known = new CallIndex(turnOf, this.rules.pairs.anywhere === true)
    const marksOf = ({ id, tool, isHosted }: Answer) => ({ id: isByTool ? undefined : id, tool, isHosted })
    let next = 0
    for (const answer of answers) {
      for (let call = calls[next]; call && call.at <= answer.at; call = calls[++next]) known.add(call)
      const marks = marksOf(answer)
      const fits = (call: HistoryCall) => this.fits(call, marks)
      const alike = known.alike(marks)
      const open = alike?.firstOpen(fits)
      const last = open ?? alike?.all.findLast(fits)
      // An id is stronger than a name. The result then gets the name of its call.
      const isSame = (call: HistoryCall) =>
        call.id !== undefined && this.fits(call, { ...marks, tool: undefined })
      const call = last || marks.id === undefined ? open : alike?.firstOpen(isSame)
      if (call) bind(call, answer)
      else if (last) this.replace(last, answer)
      else left.push(answer)
    }
    for (let call = calls[next]; call; call = calls[++next]) known.add(call)
    // A result before its call, if exactly one call fits.
    return left.filter((answer) => {
      const marks = marksOf(answer)
      const fits = (call: HistoryCall) => this.fits(call, marks)
      const { all = [] } = known.alike(marks) ?? {}
      const at = all.findIndex(fits)
      const call = all[at]
      const isSure =
        call && !call.answer && !answer.isHosted && !all.some((other, its) => its > at && fits(other))
      if (isSure) bind(call, answer)
      return !isSure
    })
  }

  private fits(call: HistoryCall, { id, tool, isHosted }: Marks): boolean {
    const { named, anywhere } = this.rules.pairs
    const isSame = (one: string | undefined, other: string | undefined) =>
      one === undefined || other === undefined || one === other
    return (
      isSame(call.id, id) &&
      (!named || isSame(call.tool, tool)) &&
      (anywhere || isHosted === (call.kind.result === undefined))
    )
  }

  /** Marks the results that stand after something else in the user's turn. */
  private rank(): void {
    let [turn, next] = [-1, 0]
    let leads = true
    for (const [at, root] of this.roots.entries()) {
      if (turn !== this.turnOf[at]) [turn, leads] = [this.turnOf[at] as number, true]
      const list = root?.read(this.rules.list)
      const length = isList(list) ? list.length : 1
      for (let index = 0; index < length; index++) {
        const answer = this.answers[next]
        const isAnswer = answer?.at === at && (answer.index ?? 0) === index
        if (isAnswer) {
          answer.isLate = !leads
          next += 1
        } else leads = false
      }
    }
  }

  /** Drops the second result of a call, unless the first is a placeholder. */
  private replace(call: HistoryCall, answer: Answer): void {
    const first = call.answer
    if (first && standsIn(first, answer, this.missing)) {
      first.call = undefined
      first.isDuplicate = true
      bind(call, answer)
    } else answer.isDuplicate = true
  }

  /** Returns the results that lack the name of their tool, or have another where names pair, with
   *  that of their call. */
  nameless(): { answer: Answer; tool: string }[] {
    const { names, named } = this.rules.pairs
    if (!names) return []
    return this.answers.flatMap((answer) => {
      const tool = answer.call?.tool
      const isRight = answer.tool !== undefined && (!named || answer.tool === tool)
      return tool?.trim() && !isRight ? [{ answer, tool }] : []
    })
  }

  /** Returns true if a result stands where its provider wants it. */
  isInPlace({ at, call, isHosted, isLate }: Answer): boolean {
    if (!call) return false
    if (isHosted) return at >= call.at
    if (this.rules.pairs.anywhere) return at > call.at
    return !isLate && this.turnOf[at] === (this.turnOf[call.at] as number) + 1
  }

  /** Returns true if a call without a result waits for a person. */
  isWaiting({ at, id }: HistoryCall): boolean {
    if ((this.turnOf[at] as number) < this.turns.length - 2) return false
    let ids = this.waiting.get(at)
    if (!ids) {
      const root = this.roots[at]
      ids = new Set(root && endsAt(this.rules.waiting, root).map(({ value }) => value))
      this.waiting.set(at, ids)
    }
    return ids.has(id)
  }
}

/** Returns the dialect of the first call of a history. */
export function dialectOfCalls(messages: readonly unknown[]): DialectName | undefined {
  return rulesOfCalls(messages)?.name
}

function rootsOf(messages: readonly unknown[]): (PathNode | undefined)[] {
  return Array.from(messages.keys(), (at) => {
    const message = elementAt(messages, at)
    return isObject(message) ? new PathNode(message) : undefined
  })
}

/** Returns the rules of the first result. */
function rulesOfResults(roots: readonly (PathNode | undefined)[]): PairRules | undefined {
  for (const root of roots) {
    const row = root && tryRead(() => resultPlaces(root)?.row)
    if (row?.data.pairs) return allRules().find(({ name }) => name === row.name)
  }
  return undefined
}

/** Returns the rules of the first call with an id, if only an empty one, or else of the first
 *  call. */
function rulesOfCalls(messages: readonly unknown[]): PairRules | undefined {
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

function isModel(root: PathNode): boolean {
  const role = root.read('role')
  return role === 'assistant' || role === 'model'
}

function inOrder(a: Answer, b: Answer): number {
  return a.at - b.at || (a.index ?? 0) - (b.index ?? 0)
}

function bind(call: HistoryCall, answer: Answer): void {
  call.answer = answer
  answer.call = call
}

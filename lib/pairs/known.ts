import type { Answer, HistoryCall } from './parts.js'

/** The marks that pair a result with its call. */
export type Marks = Pick<Answer, 'id' | 'tool' | 'isHosted'>

/** The calls before a result, by the mark that pairs them. */
export class CallIndex {
  /** By id or tool. Calls that the provider runs are kept apart. */
  private readonly calls = new Map<string, [Alike?, Alike?]>()

  constructor(
    private readonly turnOf: readonly number[],
    /** A result in the model's own turn may belong to any call. */
    private readonly anywhere: boolean,
  ) {}

  /** Adds a call, in order. */
  add(call: HistoryCall): void {
    const { id, tool, kind } = call
    const isHosted = kind.result === undefined
    if (id !== undefined) this.under(`i${id}`, isHosted).add(call, this.turnOf[call.at] as number)
    if (!id) this.under('', isHosted).add(call, this.turnOf[call.at] as number)
    if (tool === undefined) return
    this.under(`n${tool}`, isHosted).add(call, this.turnOf[call.at] as number)
    if (id === undefined) this.under(`u${tool}`, isHosted).add(call, this.turnOf[call.at] as number)
  }

  /**
   * Returns the calls with the result's id, or, without an id, the unmatched calls of the same
   * tool. A result with neither belongs to a call without an id, by its place.
   */
  alike({ id, tool, isHosted }: Marks): Alike | undefined {
    const byTool = tool === undefined ? '' : `n${tool}`
    const found =
      id === undefined ? this.calls.get(byTool) : (this.calls.get(`i${id}`) ?? this.calls.get(`u${tool}`))
    return found?.[this.place(isHosted)]
  }

  private under(key: string, isHosted: boolean): Alike {
    const both = this.calls.get(key) ?? []
    this.calls.set(key, both)
    const made = both[this.place(isHosted)] ?? new Alike()
    both[this.place(isHosted)] = made
    return made
  }

  private place(isHosted: boolean): 0 | 1 {
    return isHosted && !this.anywhere ? 1 : 0
  }
}

/** The calls of one id or tool, in order. A call that has a result is not visited again. */
class Alike {
  readonly all: HistoryCall[] = []
  /** Turns whose calls may lack results, with the index of the first that may. */
  private readonly turns: { readonly turn: number; readonly calls: HistoryCall[]; from: number }[] = []

  add(call: HistoryCall, turn: number): void {
    this.all.push(call)
    const last = this.turns.at(-1)
    if (last?.turn === turn) last.calls.push(call)
    else this.turns.push({ turn, calls: [call], from: 0 })
  }

  /** Returns the first call without a result that fits, of the latest turn that has one. */
  firstOpen(fits: (call: HistoryCall) => boolean): HistoryCall | undefined {
    for (let at = this.turns.length - 1; at >= 0; at--) {
      const its = this.turns[at] as (typeof this.turns)[number]
      while (its.calls[its.from]?.answer) its.from += 1
      for (let next = its.from; next < its.calls.length; next++) {
        const call = its.calls[next] as HistoryCall
        if (!call.answer && fits(call)) return call
      }
      if (its.from === its.calls.length && at === this.turns.length - 1) this.turns.pop()
    }
    return undefined
  }
}

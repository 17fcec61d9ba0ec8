// Rounds of calls and results that are no longer sent at all.
//
// A day of calls outgrows a small window even if every result is a line. Then the oldest rounds go
// as a whole: the calls and their results, never the words of the user. The result of the last of
// these rounds stays, and its text says how many went and where they were saved.
import type { SpillStore } from 'spillway'
import { callName } from '../dialect/results.js'
import { jsonOf } from '../json.js'
import { textsOf } from '../result/message_results.js'
import { GONE, isWritable, textSavedBy, type Wording } from './cleared.js'
import type { ClearedHistory } from './cleared_history.js'
import { callsOf, type MessageShares } from './message_tokens.js'
import { hashOf, type ToolUse } from './tool_uses.js'

/** The rounds of a history before the one whose result tells of them. */
export class OmittedRounds {
  /** Indexes of the messages that are not sent. */
  readonly gone: ReadonlySet<number>
  /** Calls in them. */
  readonly calls: number

  /** Returns the rounds before a result. A history that grows keeps these. */
  static before(history: ClearedHistory, holder: ToolUse | undefined): OmittedRounds {
    const before = last.get(history)
    if (before && before.holder === holder) return before.rounds
    const rounds = new OmittedRounds(history, holder)
    last.set(history, { holder, rounds })
    return rounds
  }

  constructor(history: ClearedHistory, holder: ToolUse | undefined) {
    const gone = new Set<number>()
    let calls = 0
    const end = holder ? (history.calls.of(holder)?.at ?? holder.at) : 0
    const before = history.shares.slice(0, groupAt(history.shares, end))
    const names = new Set<string>()
    for (const [from, to] of answersIn(before)) {
      const made = before.slice(from, to).flatMap((shares, at) => callsOf(history.given[from + at], shares))
      if (made.length === 0) continue
      calls += made.length
      for (const call of made) names.add(callName(call) ?? '')
      for (let at = from; at < to; at++) gone.add(at)
    }
    // A message that holds nothing but results goes with their calls; pairing takes other results.
    for (const [at, { results, isAnswer, hasWords }] of before.entries()) {
      const isPaired = () => results.every(({ result }) => names.has(callName(result) ?? ''))
      if (!isAnswer && results.length > 0 && !hasWords && isPaired()) gone.add(at)
    }
    this.gone = gone
    this.calls = calls
  }

  /** Sets the entry of the result that tells of these rounds, saved in a store if there is one.
   *  Resolves to the uses whose entries changed. */
  async write(
    history: ClearedHistory,
    holder: ToolUse,
    wording: Wording,
    store: SpillStore | undefined,
  ): Promise<ToolUse[]> {
    // A message that also has words stays, without the results of omitted calls.
    const isGone = (use: ToolUse) => this.gone.has(use.at) || this.gone.has(history.calls.of(use)?.at ?? -1)
    const uses = history.uses.filter((use) => use === holder || isGone(use))
    const rounds = transcriptOf(history, uses)
    const policy = store && (await textSavedBy(store, rounds, undefined, holder.result.id))
    const before = history.entryOf(holder)
    const text = wording.rounds(this.calls, callOf(history, holder), policy)
    history.set(holder, { ...before, hash: hashOf(holder.result), text })
    return [holder, ...uses.flatMap((use) => history.release(use, policy))]
  }
}

const last = new WeakMap<
  ClearedHistory,
  { readonly holder: ToolUse | undefined; readonly rounds: OmittedRounds }
>()

/** Returns the place of the first of the answers that end with a message. */
function groupAt(shares: readonly MessageShares[], end: number): number {
  let at = end
  while (at > 0 && shares[at]?.isAnswer && shares[at - 1]?.isAnswer) at -= 1
  return at
}

/** Returns the answers of the model, as ranges of messages. */
function answersIn(shares: readonly MessageShares[]): [from: number, to: number][] {
  const ranges: [number, number][] = []
  for (const [at, { isAnswer }] of shares.entries()) {
    const last = ranges.at(-1)
    if (isAnswer && last?.[1] === at) last[1] = at + 1
    else if (isAnswer) ranges.push([at, at + 1])
  }
  return ranges
}

/** Returns the result whose text can name the omission of enough earlier rounds, undefined if no
 *  round can go. `tokens`: those of each message; `over`: those that must go; `isOld`: returns true
 *  for a result that may stand last. */
export function roundsToOmit(
  history: ClearedHistory,
  tokens: readonly number[],
  over: number,
  isOld: (use: ToolUse) => boolean,
): { readonly holder: ToolUse; readonly freed: number } | undefined {
  const old = history.uses.filter((use) => isOld(use) && isWritable(use.result, use.hasMedia))
  const freed = (holder: ToolUse) =>
    [...new OmittedRounds(history, holder).gone].reduce((sum, at) => sum + (tokens[at] as number), 0)
  // In order, and the more go the later the holder stands.
  let [low, high] = [0, old.length]
  while (low < high) {
    const at = (low + high) >> 1
    if (freed(old[at] as ToolUse) >= over) high = at
    else low = at + 1
  }
  const holder = old[Math.min(low, old.length - 1)]
  const most = holder ? freed(holder) : 0
  return holder && most > 0 ? { holder, freed: most } : undefined
}

/** Returns the calls and results of rounds as a text that can be saved and searched. */
function transcriptOf(history: ClearedHistory, uses: readonly ToolUse[]): string {
  return uses
    .map((use) => {
      const { text, inputs, inputText } = history.entryOf(use) ?? {}
      const call = history.calls.of(use)
      const args = inputs
        ? (inputText ?? GONE)
        : call?.args.map((one) => (typeof one === 'string' ? one : jsonOf(one))).join(' ')
      return `## ${history.calls.toolOf(use) ?? 'tool'} ${args ?? ''}\n${text ?? textsOf(use.result.slots).join('\n')}\n`
    })
    .join('\n')
}

function callOf(history: ClearedHistory, use: ToolUse) {
  return { tool: history.calls.toolOf(use), callId: use.result.id }
}

import type { ClampEvent, ClearState, ContextOptions, SpillStore } from 'spillway'
import { emitClamp, type Origin, savedFor, savedIn } from '../clamp_event.js'
import { type EnginePolicy, handleOf, saved } from '../compiled.js'
import { Draft } from '../dialect/edit.js'
import { PathNode } from '../dialect/paths.js'
import { callName, callPlaces, type Result } from '../dialect/results.js'
import { REST, type Slot } from '../dialect/walk.js'
import { native } from '../engine.js'
import { jsonOf, mapped } from '../json.js'
import { ResultMedia } from '../media/media.js'
import { decoded } from '../query.js'
import { Batch } from '../result/batch.js'
import { withTexts } from '../result/message_results.js'
import { saveOnce } from '../spill/call_spill.js'
import { isPartIn } from '../spill/part.js'
import { earlierSaves } from '../text/earlier.js'
import { sizeOf, sum } from '../text/size.js'
import { isObject, tryRead } from '../untrusted.js'
import { appliedBy } from './apply_plan.js'

/** The entry of a result in a state. */
export type ClearedResult = ClearState['results'][string]

/** Chars of a result up to which it stays. The text of a cleared result is shorter, as any name in
 *  it is short. */
export const LEAST = 400

/** Returns the advice on the saved outputs that the notices in a result name. */
export function adviceOn(result: Result): string | undefined {
  const advice = earlierSaves(textsIn(result)).map(({ advice }) => advice)
  return advice.length === 0 ? undefined : advice.join('; ')
}

/** A call that is cleared. */
export interface Cleared {
  readonly tool: string | undefined
  readonly callId: string | undefined
}
type Placeholder = NonNullable<ContextOptions['placeholder']>

/** The texts in place of what is cleared. `policy`: says how a store saved it, and then notices in
 *  it do not count. */
export class Wording {
  readonly #own: Placeholder | undefined

  constructor(own?: Placeholder) {
    this.#own = own
  }

  result(result: Result, call: Cleared, policy = appliedBy): string {
    const advice = policy.saved === undefined ? adviceOn(result) : adviceBy(policy)
    const what = 'tool result cleared to save context'
    return this.#said(what, advice ?? 'call the tool again if you need it', call)
  }

  inputs(call: Cleared, policy = appliedBy): string {
    const advice = adviceBy(policy)
    return advice === undefined ? GONE : this.#said('cleared to save context', advice, call)
  }

  /** Tells of rounds that are omitted in the place of a result. */
  rounds(calls: number, call: Cleared, policy = appliedBy): string {
    const what = `this result and ${calls} earlier tool calls omitted to save context`
    return this.#said(what, adviceBy(policy) ?? 'call the tools again if you need them', call)
  }

  /** Says what was cleared, in the caller's words. The advice is added unless they hold it. */
  #said(what: string, advice: string, { tool, callId }: Cleared): string {
    const own = this.#own
    if (own === undefined) return `[${what}; ${advice}]`
    const given = { advice, ...(tool !== undefined && { tool }), ...(callId !== undefined && { callId }) }
    const words = (typeof own === 'string' ? own : String(own(given))).toWellFormed()
    return words.includes(advice) ? words : `${words} [${advice}]`
  }
}

/** Returns the words of a notice on the output that was saved, undefined if the save failed. */
export function adviceBy(policy: EnginePolicy): string | undefined {
  return policy.saved === undefined || policy.saved.how === 'failed'
    ? undefined
    : native.advice(handleOf(policy))
}

/** Returns a policy that names an output as a store will, before it is saved. */
export function namedIn(store: SpillStore): EnginePolicy {
  return store.reference === 'path' ? BY_PATH : BY_ID
}
const BY_ID = saved(appliedBy, 'id', '0123456789abcdef')
const BY_PATH = saved(appliedBy, 'path', '/home/user/agent/spill/0123456789abcdef.bash.524104b.8031l.txt')

/** Saves the texts of a result, unless the store has the output that a notice in them names and
 *  they are a part of. Resolves to a policy that names the saved output if the notice does not. */
export async function savedBy(
  store: SpillStore,
  result: Result,
  tool: string | undefined,
): Promise<EnginePolicy> {
  const texts = textsIn(result)
  const text = texts.join('\n')
  if (text === '' || (await isPartIn(store, texts))) return appliedBy
  return textSavedBy(store, text, tool, result.id)
}

/** Saves the arguments of a call as JSON. */
export function argumentsSavedBy(
  store: SpillStore,
  args: readonly unknown[],
  tool: string | undefined,
  callId: string | undefined,
): Promise<EnginePolicy> {
  const texts = args.map((one) => (typeof one === 'string' ? one : (jsonOf(one) ?? '')))
  return textSavedBy(store, texts.join('\n'), tool, callId)
}

export async function textSavedBy(
  store: SpillStore,
  text: string,
  tool: string | undefined,
  callId: string | undefined,
): Promise<EnginePolicy> {
  const meta = { ...(tool !== undefined && { tool }), ...(callId !== undefined && { callId }) }
  return saved(appliedBy, ...(await saveOnce(store, text, meta)))
}

function textsIn({ slots }: Result): string[] {
  return slots.map(({ text }) => text)
}

/** Tells listeners of a result whose texts a line replaces. */
export function tellCleared(
  result: Result,
  reason: ClampEvent['reason'],
  origin: Origin,
  policy: EnginePolicy = appliedBy,
): void {
  const texts = textsIn(result)
  const figures = () => ({
    action: 'cleared' as const,
    reason,
    total: sum(texts.map(sizeOf)),
    kept: { bytes: 0, chars: 0, lines: 0 },
    exceeded: [],
    ...(policy.saved ? savedIn(policy) : savedFor(texts, policy)),
  })
  emitClamp(origin, figures, result)
}

/** Returns true if a text can replace a result. */
export function isWritable({ slots }: Result, hasMedia: boolean): boolean {
  return hasMedia || slots.some(isText)
}

function isText({ json }: Slot): boolean {
  return json?.as !== REST
}

/** Returns a copy of a message in which texts replace results and their payloads. `texts`: by the
 *  number of the result in the message, as for `ToolUse.nth`. */
export function withoutResults(message: unknown, texts: ReadonlyMap<number, string>): unknown {
  const batch = new Batch([message], appliedBy)
  const results = batch.results.map(({ result }) => result)
  const own = new Map<number, string>()
  for (const [nth, twins] of withTexts(results).entries()) {
    const text = texts.get(nth)
    if (text !== undefined) for (const { result } of twins) own.set(results.indexOf(result), text)
  }
  batch.apply((result, draft, nth) => {
    const media = own.has(nth) ? new ResultMedia(result, 'blocks') : undefined
    if (!media || media.items.length === 0) return false
    media.drop(
      media.items.map(() => true),
      draft,
    )
    return true
  })
  batch.apply((result, draft, nth) => {
    const text = own.get(nth)
    return text !== undefined && write(result, text, draft)
  })
  return batch.values[0]
}

/** Writes a text in place of all texts of a result. */
function write(result: Result, text: string, draft: Draft): boolean {
  const first = result.slots.find(isText)
  if (!first) return false
  const own = first.json?.as === 'encoded' ? JSON.stringify(text) : text
  draft.edit(result, new Map(result.slots.map((slot) => [slot, slot === first ? own : null])))
  return true
}

/** Chars of a string in the arguments of a call up to which it stays: paths, commands, names. */
const ARGUMENT = 200
/** The text in place of a long string that is not saved. */
export const GONE = '[cleared]'

/** Returns arguments without their long strings. Their shape stays, since providers check it.
 *  Arguments that cannot be read, or written as JSON again, stay whole. */
export function withoutLong(args: unknown, gone = GONE): unknown {
  const data = decoded(args)
  const short = mapped(data, (text) => (text.length > ARGUMENT ? gone : text))
  if (short === data) return args
  return data === args ? short : (tryRead(() => JSON.stringify(short)) ?? args)
}

/** Returns a copy of a message in which the arguments of calls are cleared. `names`: of the calls,
 *  by id or tool, with the text in place of long strings. */
export function withoutInputs(message: unknown, names: ReadonlyMap<string, string | undefined>): unknown {
  if (!isObject(message)) return message
  const made = tryRead(() => {
    const draft = new Draft()
    for (const call of callPlaces(message, new PathNode(message)))
      if (names.has(callName(call) ?? ''))
        for (const { value, holder, key } of call.args) {
          const short = withoutLong(value, names.get(callName(call) ?? ''))
          if (short !== value) draft.set(holder, key, short)
        }
    return draft.done(message)
  })
  return made ?? message
}

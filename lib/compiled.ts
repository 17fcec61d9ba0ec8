import type { ClampEvent, Cut, DialectName, Keep, WrapPolicy } from 'spillway'
import type { Ahead } from './ahead.js'
import { native } from './engine.js'
import type { Mode } from './mode.js'
import { NO_NOTICE } from './notice.js'
import type { OptionsOf } from './read_options.js'
import type { Redaction } from './redact_options.js'
import { isList } from './untrusted.js'

/** The part that a proxy adds to its policy. Structured content then counts within the limits, as
 *  texts do. */
export interface Relayed {
  /** Returns the JSON of structured content as its server spelled it, undefined for a value that is
   *  not the server's. */
  spelled(content: unknown): string | undefined
  /** Takes the JSON that is left, which spells numbers as they came, and the words about what is
   *  missing. `isSaid`: a block of the result has these words. */
  take(left: string | undefined, words: string, isSaid: boolean): void
}

/** A checked policy: its options, and values derived from them. */
export interface EnginePolicy
  extends Omit<OptionsOf<'policy'>, 'keep' | 'share' | 'sideData' | 'redact' | `max${string}`> {
  readonly limits: { bytes: number; lines: number; chars: number; tokens: number; lineBytes: number }
  readonly keep: Keep | 'headOrEnds'
  /** The caller's notice function. */
  readonly words: ((cut: Cut) => string) | undefined
  /** How the blocks of a result share the limits. 'stay' and `keep` 'headOrEnds' are only for
   *  `withSuffix`. */
  readonly share: 'fair' | 'order' | 'each' | 'stay'
  /** The outcome of saving the full output. */
  readonly saved: { readonly how: SavedHow; readonly name: string } | undefined
  /** True for a tool with paging parameters (`offset`, `limit`). */
  readonly pages: boolean
  /** Chars up to which any well-formed text fits. */
  readonly gate: number
  /** Bytes of JSON up to which any well-formed result fits, of any shape. */
  readonly light: number
  /** Bytes of JSON up to which any well-formed data fits, whose JSON is one line. */
  readonly flat: number
  /** Chars up to which a text's size alone may show that it fits. */
  readonly bySize: number
  /** Chars at the start and at the end beyond which no cut keeps anything; Infinity if only a pass
   *  can tell. */
  readonly reach: { head: number; tail: number }
  readonly sideData: 'whole' | 'cap' | 'drop'
  readonly maxSideBytes: number
  readonly redact: Redaction | undefined
  readonly mode: Mode
  readonly onClamp: ((event: ClampEvent) => void) | undefined
  /** Work on long texts that threads have done. */
  readonly ahead?: Ahead
  /** Set by a proxy alone. */
  readonly relayed?: Relayed
  /** The options that were given, without defaults. */
  readonly given: WrapPolicy
  /** Checks other options for the same kind of notice. */
  readonly remake: (options: WrapPolicy) => EnginePolicy
  /** The last of the policies that were combined into this one. */
  readonly latest?: EnginePolicy
}

/** Outcomes of saving a full output: all or part of it under a path or an id, or a failure. */
export type SavedHow = 'path' | 'partialPath' | 'id' | 'partialId' | 'failed'

/** A handle of the engine, and the policy that it holds. */
interface Slot {
  readonly handle: ReturnType<typeof native.policyHandle>
  owner: EnginePolicy
}

/**
 * Slots are reused in turns. A handle for each policy would be freed by a finalizer, which runs
 * only when the event loop turns: a loop of calls with options of their own would pile them up.
 */
const slots: Slot[] = []
const SLOTS = 64
let next = 0

/** Returns a handle that holds the policy until 64 others have been used. */
export function handleOf(policy: EnginePolicy): Slot['handle'] {
  for (const { handle, owner } of slots) if (owner === policy) return handle
  const at = next++ % SLOTS
  slots[at] ??= { handle: native.policyHandle(), owner: policy }
  const slot = slots[at]
  slot.owner = policy
  const { limits, saved, notice } = policy
  const fields = {
    bytes: limits.bytes,
    lines: limits.lines,
    chars: limits.chars,
    tokens: limits.tokens,
    lineBytes: limits.lineBytes,
    keep: policy.keep,
    headShare: policy.headShare,
    snap: policy.snap === 'line',
    notice: notice.kind,
    words: notice.text,
    glued: notice.glued,
    share: policy.share,
    source: policy.source,
    pages: policy.pages,
    isError: policy.isError,
    needles: policy.needles,
    query: isList(policy.query) ? policy.query : [],
    json: policy.json,
    explains: policy.explain,
    ...(policy.schema !== undefined && { schema: policy.schema }),
    ...(saved && { saved: saved.how, savedName: saved.name }),
  }
  native.setPolicy(slot.handle, fields, policy.redact)
  return slot.handle
}

/** Derives bounds on lengths from limits. */
export function measures(limits: EnginePolicy['limits'], keep: EnginePolicy['keep']) {
  const isCounted =
    limits.tokens === Number.POSITIVE_INFINITY && limits.lineBytes === Number.POSITIVE_INFINITY
  const isLined = limits.lineBytes !== Number.POSITIVE_INFINITY
  const reach = isLined ? Number.POSITIVE_INFINITY : Math.min(limits.bytes, limits.chars) + 2
  // A char is at most three bytes, one line, three tokens (`MOST_PER_CHAR` in src/tokens/mod.rs).
  const gate = Math.min(limits.bytes / 3, limits.lines, limits.chars, limits.tokens / 3, limits.lineBytes / 3)
  const flat = Math.min(limits.bytes, limits.chars, limits.tokens / 3, limits.lineBytes)
  return {
    limits,
    gate,
    light: Math.min(gate * 6, flat),
    flat: limits.lines > 0 ? flat : 0,
    bySize: isCounted ? Math.min(limits.bytes, limits.chars) : 0,
    reach: { head: keep === 'tail' && !isLined ? 0 : reach, tail: keep === 'head' && !isLined ? 0 : reach },
  }
}

/** Returns the policy for values of one dialect. */
export function speaking(policy: EnginePolicy, dialect: DialectName): EnginePolicy {
  return { ...policy, dialect }
}

/** The last policy that was made shorter. A plan cuts most results of a history to one length. */
let short: { readonly from: EnginePolicy; readonly maxChars: number; readonly made: EnginePolicy } | undefined

/** Returns the policy with a tighter limit in chars, which all blocks of a result share. */
export function shortened(policy: EnginePolicy, maxChars: number): EnginePolicy {
  if (short?.from === policy && short.maxChars === maxChars) return short.made
  const { limits, keep, share } = policy
  const chars = Math.min(limits.chars, maxChars)
  const made = {
    ...policy,
    share: share === 'each' ? ('fair' as const) : share,
    ...measures({ ...limits, chars }, keep),
  }
  short = { from: policy, maxChars, made }
  return made
}

/** Returns the policy with the standard notice in place of the caller's function. */
export function unworded(policy: EnginePolicy): EnginePolicy {
  return policy.words ? { ...policy, notice: { ...NO_NOTICE, kind: 'pi' }, words: undefined } : policy
}

/** Returns the policy without a notice. */
export function silent(policy: EnginePolicy): EnginePolicy {
  return { ...policy, notice: NO_NOTICE, words: undefined }
}

/** Returns the policy with another name of the text. */
export function named(policy: EnginePolicy, source: string): EnginePolicy {
  return { ...policy, source }
}

/** Returns the policy for the output of a failure. */
export function failed(policy: EnginePolicy): EnginePolicy {
  return policy.isError ? policy : { ...policy, isError: true }
}

/** Returns true if lines between the ends may be kept. */
export function searches({ keep, needles }: Pick<EnginePolicy, 'keep' | 'needles'>): boolean {
  return choosesLines(keep) || needles.length > 0
}

function choosesLines(keep: EnginePolicy['keep']): boolean {
  return keep === 'relevant' || keep === 'auto' || keep === 'findings'
}

/** Returns true if what was asked may decide what is kept, and the policy does not say it. */
export function asks(policy: EnginePolicy): boolean {
  return choosesLines(policy.keep) && !isList(policy.query)
}

/** Returns the policy for a text that was saved under a name, or could not be. `name`: path, id or
 *  error code. */
export function saved(policy: EnginePolicy, how: SavedHow, name: string): EnginePolicy {
  return { ...policy, saved: { how, name: name.toWellFormed() } }
}

/** Policies for tools with paging parameters. Equal input gives the same object, so that wrapping
 *  twice can be recognised. */
const paging = new WeakMap<EnginePolicy, EnginePolicy>()

/** Returns the policy for a tool with paging parameters (`offset`, `limit`). */
export function paged(policy: EnginePolicy): EnginePolicy {
  const made = paging.get(policy) ?? { ...policy, pages: true }
  paging.set(policy, made)
  return made
}

/** Returns the policy for the head alone, without a notice. */
export function headOf(policy: EnginePolicy): EnginePolicy {
  return { ...silent(policy), keep: 'head', needles: [], ...measures(policy.limits, 'head') }
}

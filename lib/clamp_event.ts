import { channel } from 'node:diagnostics_channel'
import type { ClampEvent, TextSize } from 'spillway'
import type { EnginePolicy } from './compiled.js'
import type { Result } from './dialect/results.js'
import type { CallSpill } from './spill/call_spill.js'
import { earlierSave } from './text/earlier.js'
import { get, notify } from './untrusted.js'

/** The context of a clamp: a result, or a call of a wrapped tool. */
export interface Origin {
  readonly phase: ClampEvent['phase']
  readonly tool?: string | undefined
  readonly callId?: string | undefined
  /** Arguments of the call. */
  readonly args?: readonly unknown[]
  readonly onClamp?: ((event: ClampEvent) => void) | undefined
  /** Returns what was asked of a result. Called only if it is cut. */
  readonly ask?: ((result?: Result) => string[]) | undefined
  /** Saves the texts that are cut. */
  readonly spilling?: CallSpill
  /** True if no event is announced, since the clamp runs again. */
  readonly isTrial?: boolean
  /** Called in a trial where an event would be announced. */
  readonly onTrial?: () => void
  /** True if the value that is made is dropped. */
  readonly isObserved?: boolean
}

/** Sizes of all texts together and of their kept parts, and the limits that they exceeded. */
export interface Figures {
  readonly total: TextSize
  readonly kept: TextSize
  readonly exceeded: ClampEvent['exceeded']
  /** Payloads that the cut omitted, each with words in its place. */
  readonly media?: NonNullable<ClampEvent['media']>
  /** The name of the saved output in the notice. */
  readonly saved?: string
  /** Default: 'omitted' for payloads, else 'cut'. */
  readonly action?: ClampEvent['action']
  /** Default: 'media' for payloads, else 'limits'. */
  readonly reason?: ClampEvent['reason']
  /** Secrets that marks replaced, by kind. */
  readonly redacted?: Record<string, number>
}

const NONE: TextSize = { bytes: 0, chars: 0, lines: 0 }
/** The figures of an event that measures no text. */
export const UNMEASURED = { total: NONE, kept: NONE, exceeded: [] as ClampEvent['exceeded'] }

/** Returns the name of the output that was saved for a cut by this policy. */
export function savedIn({ saved }: Pick<EnginePolicy, 'saved'>): Pick<Figures, 'saved'> {
  return saved && saved.how !== 'failed' ? { saved: saved.name } : {}
}

const clamps = channel('spillway:clamp')

/** Returns the name of the output that was saved for a cut of these texts, or before. */
export function savedFor(
  texts: readonly string[],
  policy: Pick<EnginePolicy, 'saved'>,
): Pick<Figures, 'saved'> {
  const own = savedIn(policy)
  const name = own.saved ?? earlierSave(texts)?.name
  return name === undefined ? own : { saved: name }
}

/** Returns true if anyone listens to cuts. An event takes a pass over the text. */
export function hasListeners({ onClamp, isTrial }: Origin): boolean {
  return !isTrial && (onClamp !== undefined || clamps.hasSubscribers)
}

/** Announces to all listeners, without content, how a result was changed, or that it was not. */
export function emitClamp(origin: Origin, figures: () => Figures, result?: Result): void {
  const { onClamp, phase, isObserved } = origin
  origin.onTrial?.()
  if (!hasListeners(origin)) return
  const own = figures()
  const event: ClampEvent = {
    action: own.media ? 'omitted' : 'cut',
    reason: own.media ? 'media' : 'limits',
    ...callNames(origin, result),
    phase,
    ...own,
    ...(isObserved && { applied: false as const }),
  }
  if (onClamp) notify(() => onClamp(event))
  if (clamps.hasSubscribers) clamps.publish(event)
}

/** Announces a result that stays as it is, whatever its size. */
export function emitSkip(origin: Origin, reason: 'stream' | 'unreadable'): void {
  emitClamp(origin, () => ({ ...UNMEASURED, action: 'skipped', reason }))
}

/** Returns the tool name and call id of a result, if known. */
export function callNames(
  { tool, callId: given, args = [] }: Origin,
  result?: Result,
): { tool?: string; callId?: string } {
  const name = result?.tool ?? tool
  const callId = result?.id ?? given ?? callIdOf(args)
  return { ...(name !== undefined && { tool: name }), ...(callId !== undefined && { callId }) }
}

/** Returns the id of a call from the places where frameworks pass it to a tool. The tool's own
 *  arguments may have an unrelated `id`. */
function callIdOf(args: readonly unknown[]): string | undefined {
  const [first, second, third] = args
  // The AI SDK; LangChain's config; OpenAI Agents; Mastra; LangChain's invoke with a tool call;
  // `toModelOutput`; Pi.
  const ids = [
    at(second, 'toolCallId'),
    at(second, 'toolCall', 'id'),
    at(third, 'toolCall', 'callId'),
    at(second, 'agent', 'toolCallId'),
    at(first, 'type') === 'tool_call' ? at(first, 'id') : undefined,
    at(first, 'toolCallId'),
    args.length > ON_UPDATE ? first : undefined,
  ]
  return ids.find((id): id is string => typeof id === 'string')
}

/** Index of the argument in which Pi always passes its callback for partial updates. */
export const ON_UPDATE = 3

function at(value: unknown, ...names: string[]): unknown {
  return names.reduce(
    (value, name) => (typeof value === 'object' && value !== null ? get(value, name) : undefined),
    value,
  )
}

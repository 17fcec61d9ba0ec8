import { channel } from 'node:diagnostics_channel'
import type { ClampEvent } from 'spillway'
import type { Figures } from './blocks.js'
import type { Result } from './dialect.js'
import { get, quietly } from './reading.js'
import type { Spilling } from './spilling.js'

/** What a clamp was called for: a result, or a call of a wrapped tool. */
export interface Origin {
  readonly phase: ClampEvent['phase']
  readonly tool?: string | undefined
  /** Arguments of the call. */
  readonly args?: readonly unknown[]
  readonly onClamp?: ((event: ClampEvent) => void) | undefined
  /** Saves what is cut. */
  readonly spilling?: Spilling
  /** Nothing is told: the clamp will run again. */
  readonly isTrial?: boolean
}

const clamps = channel('spillway:clamp')

/** Whether anyone wants to know of a cut: telling takes a pass over the text. */
export function isHeard({ onClamp, isTrial }: Origin): boolean {
  return !isTrial && (onClamp !== undefined || clamps.hasSubscribers)
}

/** Tells of a cut whoever wants to know, without content. */
export function announce(origin: Origin, figures: () => Figures, result?: Result): void {
  const { onClamp } = origin
  if (!isHeard(origin)) return
  const event: ClampEvent = { ...nameOf(origin, result), phase: origin.phase, ...figures() }
  if (onClamp) quietly(() => onClamp(event))
  if (clamps.hasSubscribers) clamps.publish(event)
}

/** The tool and the call that a result comes from, where they are known. */
export function nameOf({ tool, args = [] }: Origin, result?: Result): { tool?: string; callId?: string } {
  const name = result?.tool ?? tool
  const callId = result?.id ?? callIdOf(args)
  return { ...(name !== undefined && { tool: name }), ...(callId !== undefined && { callId }) }
}

/** The id of a call where frameworks hand it to a tool. */
function callIdOf([first, second, third]: readonly unknown[]): string | undefined {
  // Pi; LangChain's invoke with a tool call; the AI SDK; LangChain's config; OpenAI Agents; Mastra; `toModelOutput`.
  const ids = [
    first,
    at(first, 'id'),
    at(second, 'toolCallId'),
    at(second, 'toolCall', 'id'),
    at(third, 'toolCall', 'callId'),
    at(second, 'agent', 'toolCallId'),
    at(first, 'toolCallId'),
  ]
  const isCall = typeof second === 'object' || at(first, 'type') === 'tool_call'
  return ids.find((id, index): id is string => typeof id === 'string' && (index > 1 || isCall))
}

function at(value: unknown, ...names: string[]): unknown {
  return names.reduce(
    (value, name) => (typeof value === 'object' && value !== null ? get(value, name) : undefined),
    value,
  )
}

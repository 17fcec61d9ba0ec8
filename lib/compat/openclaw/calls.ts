import { copy } from '../../dialect/copy.js'
import { get, isObject } from '../../reading.js'

/** A tool call of an assistant message. */
export interface ToolCall {
  readonly id: string
  readonly name: string | undefined
}

const CALLS: readonly unknown[] = ['toolCall', 'toolUse', 'functionCall']

/** What providers take for the name of a tool. */
const NAME = /^[A-Za-z0-9_:.-]{1,64}$/

export function isAssistant(message: unknown): message is object {
  return isObject(message) && get(message, 'role') === 'assistant'
}

/** The calls that wait for a result: none of a turn that was aborted or failed, which may have broken off within one. */
export function callsOf(message: unknown): ToolCall[] {
  if (!isAssistant(message)) return []
  const reason = get(message, 'stopReason')
  return reason === 'aborted' || reason === 'error' ? [] : blocksOf(message).flatMap(readCall)
}

/** The id of the call that a tool result answers. */
export function answeredBy(message: object): string | undefined {
  return word(get(message, 'toolCallId')) ?? word(get(message, 'toolUseId'))
}

/**
 * Leaves out tool calls that no provider takes: without an id, without arguments, or under a name that none has or that is
 * not allowed. Undefined where nothing is left of a message; the same message where all may stay.
 */
export function withoutMalformedCalls(
  message: object,
  allowed: ReadonlySet<string> | undefined,
): object | undefined {
  const blocks = blocksOf(message)
  const kept = blocks.filter((block) => !isCall(block) || isWellFormed(block, allowed))
  if (kept.length === blocks.length) return message
  return kept.length > 0 ? copy(message, new Map([['content', kept]])) : undefined
}

/** A name without blanks around it. */
export function word(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}

function readCall(block: unknown): ToolCall[] {
  const id = isCall(block) ? word(get(block, 'id')) : undefined
  return id === undefined ? [] : [{ id, name: word(get(block as object, 'name')) }]
}

function isWellFormed(call: object, allowed: ReadonlySet<string> | undefined): boolean {
  const name = word(get(call, 'name'))
  if (word(get(call, 'id')) === undefined || name === undefined || !NAME.test(name)) return false
  if (get(call, 'arguments') == null && get(call, 'input') == null) return false
  return allowed === undefined || allowed.has(name.toLowerCase())
}

function isCall(block: unknown): block is object {
  return isObject(block) && CALLS.includes(get(block, 'type'))
}

function blocksOf(message: object): unknown[] {
  const content = get(message, 'content')
  return Array.isArray(content) ? Array.from(content as unknown[]) : []
}

import { copy } from '../../dialect/shallow_copy.js'
import { get, isObject } from '../../untrusted.js'

/** A tool call of an assistant message. */
export interface ToolCall {
  readonly id: string
  readonly name: string | undefined
}

const CALLS: readonly unknown[] = ['toolCall', 'toolUse', 'functionCall']

/** Names of tools that providers accept. */
const NAME = /^[A-Za-z0-9_:.-]{1,64}$/

export function isAssistant(message: unknown): message is object {
  return isObject(message) && get(message, 'role') === 'assistant'
}

/** Models under which OpenClaw itself writes what was delivered. */
const MIRRORS: readonly unknown[] = ['delivery-mirror', 'gateway-injected']

/** Returns true for a message that no provider is sent, so that results may still come after it. */
export function isAside(message: unknown): boolean {
  if (!isObject(message)) return false
  if (isAssistant(message))
    return get(message, 'provider') === 'openclaw' && MIRRORS.includes(get(message, 'model'))
  return get(message, 'role') === 'custom' && get(message, 'excludeFromContext') === true
}

/** Returns the calls that expect a result. A turn that was aborted or failed may end within a call,
 *  so it has none. */
export function callsOf(message: unknown): ToolCall[] {
  if (!isAssistant(message)) return []
  const reason = get(message, 'stopReason')
  return reason === 'aborted' || reason === 'error' ? [] : blocksOf(message).flatMap(readCall)
}

/** Returns the ids by which OpenClaw knows the parts of one streamed response. */
export function responseOf(message: unknown): string[] {
  if (!isAssistant(message)) return []
  return ['turnId', 'responseId'].flatMap((name) => word(get(message, name)) ?? [])
}

export function hasCalls(message: object): boolean {
  return blocksOf(message).some(isCall)
}

/** Returns the id of the call that a tool result answers. */
export function answeredBy(message: object): string | undefined {
  return word(get(message, 'toolCallId')) ?? word(get(message, 'toolUseId'))
}

/**
 * Drops tool calls that providers reject: without an id, without arguments, or with a name that is
 * invalid or not allowed. Returns undefined if nothing is left of the message, and the same message
 * if nothing is dropped.
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

/** Returns a trimmed name, undefined if it is empty or not a string. */
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

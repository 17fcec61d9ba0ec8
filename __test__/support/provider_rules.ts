// biome-ignore-all lint/suspicious/noExplicitAny: the messages of eleven dialects
import type { DialectName } from 'spillway'

/**
 * Rules of providers for a history: roles, calls and their results, ids and names, and media. One
 * check for each dialect, written from their documents and error messages. Each returns the first
 * fault of a history, in their words, or undefined.
 */
type Check = (messages: readonly any[]) => string | undefined

const blocksOf = (message: any, list = 'content'): any[] => {
  const content = message[list]
  return typeof content === 'string' ? [{ text: content }] : (content ?? [])
}

/** Two lists have the same members, each once. */
const isSameSet = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && new Set(one).size === one.length && one.every((id) => other.includes(id))

/**
 * "An assistant message with 'tool_calls' must be followed by tool messages responding to each
 * 'tool_call_id'", and "messages with role 'tool' must be a response to a preceding message with
 * 'tool_calls'".
 */
function followed(
  messages: readonly any[],
  callsOf: (message: any) => string[],
  resultsOf: (message: any) => string[] | undefined,
): string | undefined {
  for (let at = 0; at < messages.length; ) {
    const calls = callsOf(messages[at])
    if (resultsOf(messages[at])) return `messages.${at}: a result without a preceding call`
    at += 1
    const results: string[] = []
    for (; at < messages.length; at++) {
      const own = resultsOf(messages[at])
      if (!own || calls.length === 0) break
      results.push(...own)
    }
    if (calls.length > 0 && !isSameSet(calls, results))
      return `messages.${at}: [${calls}] answered by [${results}]`
  }
  return undefined
}

/** "No tool output found for function call", "No tool call found for function call output". */
function itemsMatch(items: readonly any[], id: string): string | undefined {
  const called = new Set<string>()
  const done = new Set<string>()
  for (const [at, item] of items.entries()) {
    const { type = '' } = item
    if (/_call_output$|_result$/.test(type)) {
      const own = item[id] ?? item.id
      if (!called.has(own)) return `input[${at}]: no tool call found for output ${own}`
      if (done.has(own)) return `input[${at}]: a second output of ${own}`
      done.add(own)
    } else if (/^(function|custom_tool|shell|apply_patch|local_shell|computer)_call$/.test(type)) {
      if (typeof item[id] !== 'string' || item[id].length > 64) return `input[${at}].${id}: longer than 64`
      if (called.has(item[id])) return `input[${at}].${id}: used before`
      called.add(item[id])
    }
  }
  for (const own of called) if (!done.has(own)) return `no tool output found for ${own}`
  return undefined
}

/** Turns of messages with one role side by side. */
function turnsOf(messages: readonly any[]): { role: string; content: any[] }[] {
  const turns: { role: string; content: any[] }[] = []
  for (const message of messages) {
    const last = turns.at(-1)
    if (last?.role === message.role) last?.content.push(...blocksOf(message))
    else turns.push({ role: message.role, content: [...blocksOf(message)] })
  }
  return turns
}

/**
 * "`tool_use` ids were found without `tool_result` blocks immediately after", "unexpected
 * `tool_use_id` found in `tool_result` blocks: each must have a corresponding `tool_use` block in
 * the previous message", results come first in the content, and ids are unique and match a pattern.
 */
function usesMatch(
  turns: readonly { role: string; content: any[] }[],
  useOf: (block: any) => string | undefined,
  resultOf: (block: any) => string | undefined,
  pattern: RegExp,
): string | undefined {
  const known = new Set<string>()
  let uses: string[] = []
  for (const [at, { role, content }] of turns.entries()) {
    const results = content.map(resultOf)
    const own = results.filter((id) => id !== undefined)
    if (role === 'assistant' && own.length > 0) return `messages.${at}: a result of the model`
    if (results.findLastIndex((id) => id !== undefined) >= own.length)
      return `messages.${at}: results must come first`
    if (!isSameSet(uses, own)) return `messages.${at}: [${uses}] answered by [${own}]`
    uses = content.map(useOf).filter((id) => id !== undefined)
    if (role === 'user' && uses.length > 0) return `messages.${at}: a call of the user`
    for (const id of uses) {
      if (typeof id !== 'string' || !pattern.test(id)) return `messages.${at}: id ${id}`
      if (known.has(id)) return `messages.${at}: ids must be unique: ${id}`
      known.add(id)
    }
  }
  return uses.length > 0 ? `calls without results at the end: [${uses}]` : undefined
}

/** Messages must alternate between user and model, from the user on, and have content. */
function alternates(messages: readonly any[], list: string): string | undefined {
  for (const [at, message] of messages.entries()) {
    if (message.role !== (at % 2 === 0 ? 'user' : messages[1].role))
      return `messages.${at}: roles must alternate`
    if (blocksOf(message, list).length === 0) return `messages.${at}: no content`
  }
  return messages[1]?.role === 'user' ? 'messages.1: roles must alternate' : undefined
}

/** Calls of the server and their results stand in the model's turns, and only the last may lack its
 *  result. */
function serverTools(turns: readonly { role: string; content: any[] }[]): string | undefined {
  const last = turns.findLastIndex(({ role }) => role === 'assistant')
  const open = new Map<string, number>()
  for (const [at, { role, content }] of turns.entries()) {
    if (role !== 'assistant') continue
    for (const { type = '', id, tool_use_id } of content) {
      if (type === 'server_tool_use') open.set(id, at)
      else if (type === 'web_search_tool_result' && !open.delete(tool_use_id))
        return `messages.${at}: no ${tool_use_id}`
    }
  }
  for (const [id, at] of open) if (at !== last) return `messages.${at}: \`web_search\` ${id} without a result`
  return undefined
}

/**
 * "The number of function response parts must equal the number of function call parts of the
 * function call turn", a response turn comes directly after a call turn, and a call turn directly
 * after one of the user.
 */
function functionsMatch(messages: readonly any[]): string | undefined {
  let due: any[] = []
  for (const [at, { parts }] of messages.entries()) {
    const responses = parts.flatMap((part: any) => part.functionResponse ?? [])
    if (responses.length !== due.length)
      return `contents[${at}]: ${due.length} calls, ${responses.length} responses`
    for (const { id, name } of responses) {
      const named = due.filter((call) => call.name === name)
      const call = named.find((call) => id && call.id === id) ?? named.find((call) => !id || !call.id)
      if (!call) return `contents[${at}]: no call of ${name} ${id}`
      due.splice(due.indexOf(call), 1)
    }
    due = parts.flatMap((part: any) => part.functionCall ?? [])
    const ids = due.flatMap(({ id }) => id || [])
    if (new Set(ids).size < ids.length) return `contents[${at}]: an id twice in one turn`
  }
  return due.length > 0 ? 'calls without responses at the end' : undefined
}

const noOpen = (calls: readonly any[]) => {
  const open = calls.find(({ state }) => ['call', 'partial-call', 'input-available'].includes(state))
  return open && `ToolInvocation must have a result: ${open.toolCallId}`
}

const pairs: Partial<Record<DialectName, Check>> = {
  pi: (all) => {
    const sent = all.filter(({ stopReason = '' }) => !['error', 'aborted'].includes(stopReason))
    return followed(
      sent,
      ({ role, content }) =>
        role === 'assistant'
          ? content.flatMap((block: any) => (block.type === 'toolCall' ? block.id : []))
          : [],
      ({ role, toolCallId }) => (role === 'toolResult' ? [toolCallId] : undefined),
    )
  },
  'ai-sdk': (all) =>
    followed(
      all,
      ({ role, content }) =>
        role === 'assistant' && Array.isArray(content)
          ? content.flatMap((part) =>
              part.type === 'tool-call' && !part.providerExecuted ? part.toolCallId : [],
            )
          : [],
      ({ role, content }) =>
        role === 'tool'
          ? content.flatMap((part: any) => (part.type === 'tool-result' ? part.toolCallId : []))
          : undefined,
    ),
  'ai-sdk-ui': (all) =>
    noOpen(
      all.flatMap(({ parts = [], toolInvocations = [] }) => [
        ...parts.map((part: any) => part.toolInvocation ?? part),
        ...toolInvocations,
      ]),
    ),
  mastra: (all) =>
    noOpen(
      all.flatMap(({ content }) => [
        ...(content.parts ?? []).map((part: any) => part.toolInvocation ?? part),
        ...(content.toolInvocations ?? []),
      ]),
    ),
  langchain: (all) =>
    followed(
      all.map((message) => message.kwargs ?? message.data ?? message),
      ({ tool_calls = [] }) => tool_calls.map(({ id }: any) => id),
      ({ tool_call_id }) => (tool_call_id === undefined ? undefined : [tool_call_id]),
    ),
  'openai-chat': (all) => {
    const long = all.flatMap(({ tool_calls = [] }) => tool_calls).find(({ id }) => !(id?.length <= 40))
    if (long) return `tool_calls[].id: '${long.id}' is longer than 40`
    return followed(
      all,
      ({ tool_calls = [], function_call }) =>
        function_call ? [function_call.name] : tool_calls.map(({ id }: any) => id),
      ({ role, tool_call_id, name }) =>
        role === 'tool' ? [tool_call_id] : role === 'function' ? [name] : undefined,
    )
  },
  'openai-responses': (all) => itemsMatch(all, 'call_id'),
  'openai-agents': (all) => itemsMatch(all, 'callId'),
  anthropic: (all) => {
    const turns = turnsOf(all)
    return (
      usesMatch(
        turns,
        ({ type, id }) => (type === 'tool_use' ? id : undefined),
        ({ type, tool_use_id }) => (type === 'tool_result' ? tool_use_id : undefined),
        /^[a-zA-Z0-9_-]+$/,
      ) ?? serverTools(turns)
    )
  },
  bedrock: (all) =>
    alternates(all, 'content') ??
    usesMatch(
      turnsOf(all),
      ({ toolUse }) => toolUse?.toolUseId,
      ({ toolResult }) => toolResult?.toolUseId,
      /^[a-zA-Z0-9_-]{1,64}$/,
    ),
  gemini: (all) => alternates(all, 'parts') ?? functionsMatch(all),
}

/** The roles of messages, where each message has one. */
const roles: Partial<Record<DialectName, readonly string[]>> = {
  pi: ['user', 'assistant', 'toolResult'],
  'ai-sdk': ['system', 'user', 'assistant', 'tool'],
  'openai-chat': ['system', 'developer', 'user', 'assistant', 'tool', 'function'],
  anthropic: ['user', 'assistant'],
  bedrock: ['user', 'assistant'],
  gemini: ['user', 'model'],
}

/** "Invalid value: 'undefined'. Supported values are ..." */
function hasRoles(dialect: DialectName, messages: readonly any[]): string | undefined {
  const known = roles[dialect]
  const at = known ? messages.findIndex(({ role }) => !known.includes(role)) : -1
  return at < 0 ? undefined : `messages.${at}: invalid role ${messages[at].role}`
}

/** Results that must name their tool: "toolName: expected string". */
function hasNames(dialect: DialectName, messages: readonly any[]): string | undefined {
  if (dialect !== 'pi' && dialect !== 'ai-sdk') return undefined
  const isResult = ({ role, type }: any) => role === 'toolResult' || type === 'tool-result'
  const results = messages.flatMap((message) => [message, ...blocksOf(message)]).filter(isResult)
  const nameless = results.find(({ toolName }) => typeof toolName !== 'string' || toolName.trim() === '')
  return nameless && `a result of ${nameless.toolCallId} without the name of its tool`
}

/** The bytes with which files of a type begin. */
const SIGNATURES: Readonly<Record<string, string>> = {
  'image/png': '89504e470d0a1a0a',
  'image/jpeg': 'ffd8ff',
  'image/gif': '47494638',
  'image/webp': '52494646',
}

/** "The image was specified using the image/png media type, but does not appear to be a valid
 *  png." */
function mediaMatch(value: any): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const url = Object.values(value).find((text) => typeof text === 'string' && /^data:image\//.test(text)) as
    | string
    | undefined
  const [, ofUrl, dataOfUrl] = url?.match(/^data:([\w/]+);base64,(.*)$/s) ?? []
  const type = ofUrl ?? value.mimeType ?? value.media_type ?? value.mediaType
  const data = dataOfUrl ?? value.data
  const signature = SIGNATURES[type]
  if (signature && typeof data === 'string') {
    const start = Buffer.from(data.slice(0, 40), 'base64').toString('hex')
    if (!start.startsWith(signature)) return `the bytes of an image are not ${type}`
  }
  for (const member of Object.values(value)) {
    const fault = mediaMatch(member)
    if (fault) return fault
  }
  return undefined
}

/** Returns why a provider would reject a history, undefined if it would take it. */
export function refusal(dialect: DialectName, messages: readonly any[]): string | undefined {
  return (
    hasRoles(dialect, messages) ??
    pairs[dialect]?.(messages) ??
    hasNames(dialect, messages) ??
    mediaMatch(messages)
  )
}

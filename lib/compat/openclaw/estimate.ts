import type { PromptParams } from 'spillway/openclaw'
import { jsonOf } from '../../json.js'
import { checkOptions, text } from '../../option.js'
import { elementAt, get, quietly } from '../../reading.js'
import { checkMessages } from '../../result/messages.js'
import { ESTIMATED_CHARS_PER_TOKEN, type Profile, profileOf } from './profile.js'
import { weightedChars } from './weight.js'

/** Factor applied to estimates, since they are derived from chars. */
export const SAFETY_MARGIN = 1.2

export function estimatePrePromptTokens(params: PromptParams): number {
  return estimated(checkOptions('params', params), params.messages)
}

/** Estimates a prompt with the given history. */
export function estimated(params: PromptParams, messages: readonly unknown[]): number {
  checkMessages(messages)
  const scale = SCALES[profileOf(params).scale]
  let sum = scale.message({ role: 'user', content: text('prompt', params.prompt, '') })
  const systemPrompt = text('systemPrompt', params.systemPrompt, '')
  if (systemPrompt.trim() !== '') sum += scale.message({ role: 'system', content: systemPrompt })
  if (params.tools !== undefined) sum += scale.json(params.tools)
  for (let at = 0; at < messages.length; at++) {
    const message = elementAt(messages, at)
    if (typeof message === 'object' && message !== null) sum += quietly(() => scale.message(message)) ?? 0
  }
  return Math.ceil(sum * SAFETY_MARGIN)
}

interface Scale {
  message(message: object): number
  json(value: unknown): number
}

/** Pi's scale, which OpenClaw used until 2026.4: the chars of a message divided by four. */
const pi: Scale = {
  message(message) {
    let chars = 0
    for (const text of membersOf(message)) chars += lengthOf(text)
    for (const block of blocksOf(get(message, 'content'))) chars += piBlock(block)
    return byFour(chars)
  },
  json: (value) => byFour(jsonLength(value)),
}

/** Chars of an image. */
const PI_IMAGE = 4_800

function piBlock(block: unknown): number {
  if (typeof block !== 'object' || block === null) return lengthOf(block)
  switch (get(block, 'type')) {
    case 'text':
      return lengthOf(get(block, 'text'))
    case 'thinking':
      return lengthOf(get(block, 'thinking'))
    case 'toolCall':
      return lengthOf(get(block, 'name')) + jsonLength(get(block, 'arguments'))
    case 'image':
      return PI_IMAGE
    default:
      return 0
  }
}

/** OpenClaw's own scale, used in 'latest': messages and blocks have a fixed weight, tool results weigh twice. */
const pressure: Scale = {
  message(message) {
    if (get(message, 'excludeFromContext') === true) return 0
    let tokens = MESSAGE
    for (const text of membersOf(message)) tokens += prose(text)
    const read = RESULTS.has(get(message, 'role')) || get(message, 'type') === 'toolResult' ? output : prose
    const content = get(message, 'content')
    if (typeof content === 'string') tokens += read(content)
    else for (const block of blocksOf(content)) tokens += pressureOf(block, read)
    if (read === output) tokens += data(get(message, 'toolName') ?? get(message, 'tool_name'))
    const calls = get(message, 'toolCalls') ?? get(message, 'tool_calls')
    for (const call of Array.isArray(calls) ? blocksOf(calls) : []) tokens += callOf(call)
    return tokens
  },
  json: (value) => data(jsonOf(value)),
}

const SCALES: Record<Profile['scale'], Scale> = { pi, pressure }

const RESULTS = new Set<unknown>(['toolResult', 'tool'])
const CALLS = new Set<unknown>(['toolCall', 'tool_use'])

/** Tokens beside the text. */
const MESSAGE = 12
const BLOCK = 6
const PRESSURE_IMAGE = 2_000
const CHARS_PER_JSON_TOKEN = 3
const CHARS_PER_OUTPUT_TOKEN = 2

function pressureOf(block: unknown, read: typeof prose): number {
  if (typeof block !== 'object' || block === null) return read(block)
  const type = get(block, 'type')
  if (type === 'image') return PRESSURE_IMAGE
  if (CALLS.has(type)) return callOf(block)
  const said = type === 'text' || type === 'thinking' ? get(block, type) : undefined
  if (typeof said === 'string') return BLOCK + read(said)
  const json = jsonOf(block)
  return BLOCK + (read === output ? output(json) : data(json))
}

function callOf(call: unknown): number {
  if (typeof call !== 'object' || call === null) return data(call)
  const input = get(call, 'arguments') ?? get(call, 'input') ?? get(call, 'args') ?? {}
  return BLOCK + data(get(call, 'name')) + data(jsonOf(input))
}

function prose(text: unknown): number {
  return typeof text === 'string' ? byFour(weightedChars(text)) : 0
}

function output(text: unknown): number {
  if (typeof text !== 'string') return 0
  return Math.max(Math.ceil(text.length / CHARS_PER_OUTPUT_TOKEN), prose(text))
}

function data(text: unknown): number {
  return typeof text === 'string' ? Math.ceil(weightedChars(text) / CHARS_PER_JSON_TOKEN) : 0
}

function byFour(chars: number): number {
  return Math.ceil(chars / ESTIMATED_CHARS_PER_TOKEN)
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0
}

function jsonLength(value: unknown): number {
  return jsonOf(value)?.length ?? 0
}

/** Members other than `content` with the text of Pi's messages, by role. */
const MEMBERS = new Map<unknown, readonly string[]>([
  ['bashExecution', ['command', 'output']],
  ['branchSummary', ['summary']],
  ['compactionSummary', ['summary']],
])

function membersOf(message: object): unknown[] {
  return (MEMBERS.get(get(message, 'role')) ?? []).map((name) => get(message, name))
}

/** Returns the blocks of a content. A string or a single object is one block. */
function blocksOf(content: unknown): unknown[] {
  if (!Array.isArray(content)) return [content]
  const blocks: unknown[] = []
  for (let at = 0; at < content.length; at++) blocks.push(elementAt(content, at))
  return blocks
}

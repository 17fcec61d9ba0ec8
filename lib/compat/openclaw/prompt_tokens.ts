import type { PressureParams, PromptParams } from 'spillway/openclaw'
import { jsonOf } from '../../json.js'
import { text } from '../../kinds.js'
import { checkMessages } from '../../result/clamp_messages.js'
import { elementsOf, get, isObject, tryRead } from '../../untrusted.js'
import { checkOptions } from '../../validate.js'
import { ESTIMATED_CHARS_PER_TOKEN, SAFETY_MARGIN } from './constants.js'
import { type Profile, profileOf } from './profile.js'
import { weightOf } from './weight.js'

export function estimatePrePromptTokens(params: PromptParams): number {
  return estimated(checkOptions('params', params), params.messages)
}

export function estimateLlmBoundaryTokenPressure(params: PressureParams): number {
  return estimatePrePromptTokens({ ...checkOptions('params', params), profile: 'latest' })
}

export function estimateRenderedLlmBoundaryTokenPressure(params: Omit<PressureParams, 'messages'>): number {
  return estimateLlmBoundaryTokenPressure({ ...checkOptions('params', params), messages: [] })
}

/** Estimates a prompt with the given history. */
export function estimated(params: PromptParams, messages: readonly unknown[]): number {
  checkMessages(messages)
  const scale = SCALES[profileOf(params).scale]
  const systemPrompt = text('systemPrompt', params.systemPrompt, '')
  const all = [
    { role: 'user', content: text('prompt', params.prompt, '') },
    ...(systemPrompt.trim() === '' ? [] : [{ role: 'system', content: systemPrompt }]),
    ...elementsOf(messages).filter(isObject),
  ]
  let sum = params.tools === undefined ? 0 : scale.json(jsonOf(params.tools))
  for (const message of all) sum += tryRead(() => scale.message(message)) ?? 0
  return Math.ceil(sum * SAFETY_MARGIN)
}

interface Scale {
  message(message: object): number
  json(json: unknown): number
}

/** Pi's scale, which OpenClaw used until 2026.4: the chars of a message divided by four. */
const pi: Scale = {
  message: (message) =>
    byFour(sum(membersOf(message), lengthOf) + sum(blocksOf(get(message, 'content')), piBlock)),
  json: (json) => byFour(lengthOf(json)),
}

/** Chars of an image. */
const PI_IMAGE = 4_800

function piBlock(block: unknown): number {
  if (!isObject(block)) return lengthOf(block)
  const type = get(block, 'type')
  if (type === 'text' || type === 'thinking') return lengthOf(get(block, type))
  if (type === 'toolCall') return lengthOf(get(block, 'name')) + lengthOf(jsonOf(get(block, 'arguments')))
  return type === 'image' ? PI_IMAGE : 0
}

/** OpenClaw's own scale, used from 2026.7 on: messages and blocks have a fixed weight, tool results
 *  weigh twice. */
const pressure: Scale = {
  message(message) {
    if (get(message, 'excludeFromContext') === true) return 0
    const isResult = RESULTS.has(get(message, 'role')) || get(message, 'type') === 'toolResult'
    const read = isResult ? output : prose
    const content = get(message, 'content')
    const calls = get(message, 'toolCalls') ?? get(message, 'tool_calls')
    return (
      MESSAGE +
      sum(membersOf(message), prose) +
      (typeof content === 'string'
        ? read(content)
        : sum(blocksOf(content), (block) => pressureOf(block, read))) +
      (isResult ? data(get(message, 'toolName') ?? get(message, 'tool_name')) : 0) +
      (Array.isArray(calls) ? sum(elementsOf(calls), callOf) : 0)
    )
  },
  json: data,
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
  if (!isObject(block)) return read(block)
  const type = get(block, 'type')
  if (type === 'image') return PRESSURE_IMAGE
  if (CALLS.has(type)) return callOf(block)
  const said = type === 'text' || type === 'thinking' ? get(block, type) : undefined
  if (typeof said === 'string') return BLOCK + read(said)
  const json = jsonOf(block)
  return BLOCK + (read === output ? output(json) : data(json))
}

function callOf(call: unknown): number {
  if (!isObject(call)) return data(call)
  const input = get(call, 'arguments') ?? get(call, 'input') ?? get(call, 'args') ?? {}
  return BLOCK + data(get(call, 'name')) + data(jsonOf(input))
}

function prose(text: unknown): number {
  return byFour(weightOf(text))
}

function output(text: unknown): number {
  return Math.max(Math.ceil(lengthOf(text) / CHARS_PER_OUTPUT_TOKEN), prose(text))
}

function data(text: unknown): number {
  return Math.ceil(weightOf(text) / CHARS_PER_JSON_TOKEN)
}

function byFour(chars: number): number {
  return Math.ceil(chars / ESTIMATED_CHARS_PER_TOKEN)
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0
}

/** Members other than `content` with the text of Pi's messages, by role. */
const MEMBERS = new Map<unknown, readonly string[]>([
  ['bashExecution', ['command', 'output']],
  ['branchSummary', ['summary']],
  ['compactionSummary', ['summary']],
])

/** Returns the texts of a message beside its content. */
export function membersOf(message: object): unknown[] {
  return (MEMBERS.get(get(message, 'role')) ?? []).map((name) => get(message, name))
}

/** Returns the blocks of a content. A string or a single object is one block. */
function blocksOf(content: unknown): unknown[] {
  return Array.isArray(content) ? elementsOf(content) : [content]
}

function sum<T>(values: readonly T[], size: (value: T) => number): number {
  return values.reduce((sum, value) => sum + size(value), 0)
}

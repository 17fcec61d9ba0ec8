import type {
  installToolResultContextGuard as Declared,
  ProfileOptions,
  TransformingAgent,
} from 'spillway/openclaw'
import { copy, GONE } from '../../dialect/shallow_copy.js'
import { callback, flag, limit } from '../../kinds.js'
import { elementsOf, get } from '../../untrusted.js'
import { checkOptions } from '../../validate.js'
import {
  blockChars,
  estimateContextChars,
  estimateMessageCharsCached,
  isImage,
  isToolResultMessage,
  RESULT_WEIGHT,
  textOf,
} from './char_estimator.js'
import { ESTIMATED_CHARS_PER_TOKEN, PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE } from './constants.js'
import { resolveToolResultContextMaxChars } from './limits.js'
import { MidTurnPrecheckSignal } from './mid_turn_signal.js'
import { shouldPreemptivelyCompactBeforePrompt } from './precheck.js'
import { profileOf } from './profile.js'
import { truncateToolResultMessage, truncateToolResultText } from './tool_results.js'

/** Chars that all messages may have in any window. */
const LEAST_CHARS = 1_024
/** Chars of a notice about blocks without text, at most. */
const NOTICE_CHARS = 100
/** Share of the window that all messages may take. */
const CONTEXT_SHARE = 0.9

/** Returns the notice of a profile. */
export function formatContextLimitTruncationNotice(truncatedChars: number, options?: ProfileOptions): string {
  const omitted = String(Math.max(1, Math.floor(truncatedChars)))
  return profileOf(options).notice.replace('{omittedChars}', omitted)
}

type Transform = NonNullable<TransformingAgent['transformContext']>

/** Puts a step behind an agent's `transformContext`. Returns a function that takes it away. */
export function addTransform(agent: TransformingAgent, step: Transform): () => void {
  const inner = checkOptions('agent', agent).transformContext
  agent.transformContext = async (messages, signal) => {
    const made = inner === undefined ? messages : await inner.call(agent, messages, signal)
    return step(Array.isArray(made) ? made : messages, signal)
  }
  return () => {
    if (inner === undefined) delete agent.transformContext
    else agent.transformContext = inner
  }
}

export function installToolResultContextGuard(params: Parameters<typeof Declared>[0]): () => void {
  const { agent, contextWindowTokens, midTurnPrecheck, profile } = checkOptions('params', params)
  const options = profile === undefined ? {} : { profile }
  const tokens = Math.max(1, limit('contextWindowTokens', contextWindowTokens))
  const { throwsOverflow } = profileOf(options)
  const maxEach = resolveToolResultContextMaxChars(tokens)
  const maxAll = throwsOverflow
    ? Math.max(LEAST_CHARS, Math.floor(tokens * ESTIMATED_CHARS_PER_TOKEN * CONTEXT_SHARE))
    : Number.POSITIVE_INFINITY
  const precheck = midTurnPrecheck && midTurn(midTurnPrecheck, options)
  return addTransform(agent, (messages) => {
    const cache = new WeakMap()
    const changes = new Map<number, unknown>()
    for (const [at, message] of elementsOf(messages).entries())
      if (isToolResultMessage(message) && estimateMessageCharsCached(message, cache, options) > maxEach)
        changes.set(at, limited(message, Math.floor(maxEach / RESULT_WEIGHT), options))
    const guarded = changes.size === 0 ? messages : (copy(messages, changes) as typeof messages)
    if (estimateContextChars(guarded, cache, options) > maxAll)
      throw new Error(PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE)
    precheck?.(guarded)
    return guarded
  })
}

type MidTurnPrecheck = NonNullable<Parameters<typeof Declared>[0]['midTurnPrecheck']>

/** Makes a check that throws where results that came since the last one are too much for the
 *  prompt. */
function midTurn(precheck: MidTurnPrecheck, options: ProfileOptions): (messages: unknown[]) => void {
  const { enabled, getPrePromptMessageCount, getSystemPrompt, onMidTurnPrecheck } = checkOptions(
    'midTurnPrecheck',
    precheck,
  )
  callback('midTurnPrecheck.reserveTokens', precheck.reserveTokens)
  if (!flag('midTurnPrecheck.enabled', enabled, false)) return () => {}
  let seen: number | undefined
  return (messages) => {
    const from = Math.min(seen ?? getPrePromptMessageCount?.() ?? messages.length, messages.length)
    seen = from
    if (messages.slice(from).some(isToolResultMessage)) {
      const systemPrompt = getSystemPrompt?.()
      const {
        route,
        shouldCompact: _,
        ...decision
      } = shouldPreemptivelyCompactBeforePrompt({
        messages,
        prompt: '',
        contextTokenBudget: precheck.contextTokenBudget,
        reserveTokens: precheck.reserveTokens(),
        ...(systemPrompt !== undefined && { systemPrompt }),
        ...(precheck.toolResultMaxChars !== undefined && { toolResultMaxChars: precheck.toolResultMaxChars }),
        ...options,
      })
      if (route !== 'fits') {
        const request = { route, ...decision }
        onMidTurnPrecheck?.(request)
        throw new MidTurnPrecheckSignal(request)
      }
    }
    seen = messages.length
  }
}

/** Returns a copy of a tool result that has `room` chars at most, as the estimate counts them
 *  before it weighs them. */
function limited(message: object, room: number, options: ProfileOptions): object {
  const content = get(message, 'content')
  const cutting = { ...options, minKeepChars: 0 }
  const shortened =
    typeof content === 'string'
      ? truncateToolResultText(content, room, cutting)
      : limitedBlocks(Array.isArray(content) ? elementsOf(content) : [], room, cutting)
  return copy(
    message,
    new Map<string, unknown>([
      ['content', shortened],
      ['details', GONE],
    ]),
  )
}

/** Keeps the first blocks without text that fit in what the texts leave, at least in half the
 *  room. */
function limitedBlocks(blocks: readonly unknown[], room: number, options: ProfileOptions): unknown[] {
  const isText = (block: unknown) => textOf(block).length > 0
  const texts = blocks.filter(isText).reduce<number>((sum, block) => sum + blockChars(block), 0)
  let left = room - Math.min(texts, Math.floor(room / 2)) - NOTICE_CHARS
  const gone: unknown[] = []
  const kept = blocks.filter((block) => {
    if (isText(block)) return true
    const chars = blockChars(block)
    const fits = chars <= left
    if (fits) left -= chars
    else gone.push(block)
    return fits
  })
  const notice = gone.length === 0 ? [] : [{ type: 'text', text: noticeOf(gone, options) }]
  const taken = [...kept.filter((block) => !isText(block)), ...notice]
  const rest = taken.reduce<number>((sum, block) => sum - blockChars(block), room)
  const message = { role: 'toolResult', content: kept }
  return [...truncateToolResultMessage(message, Math.max(0, rest), options).content, ...notice]
}

function noticeOf(gone: readonly unknown[], options: ProfileOptions): string {
  const images = gone.filter(isImage).length
  if (images > 0)
    return `[${images} image${images === 1 ? '' : 's'} omitted from context; rerun with fewer images]`
  const chars = gone.reduce<number>((sum, block) => sum + blockChars(block), 0)
  return formatContextLimitTruncationNotice(chars, options)
}

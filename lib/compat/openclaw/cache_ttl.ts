import type { CacheTtlPruningConfig, CacheTtlPruningParams, CacheTtlPruningSettings } from 'spillway/openclaw'
import { copy } from '../../dialect/shallow_copy.js'
import { callback, flag, limit } from '../../kinds.js'
import { checkMessages } from '../../result/clamp_messages.js'
import { sliceUtf16Safe } from '../../text/slice.js'
import { elementsOf, get, isObject } from '../../untrusted.js'
import { checkOptions } from '../../validate.js'
import { isAssistant, word } from './calls.js'
import { estimateMessageCharsCached, isImage, RESULT_WEIGHT, textOf } from './char_estimator.js'
import { ESTIMATED_CHARS_PER_TOKEN } from './constants.js'
import { Projection, type PruneRecord, pruned } from './projection.js'
import { isUser } from './suppression.js'
import { isToolResult } from './tool_results.js'

const FIVE_MINUTES = 300_000
const PLACEHOLDER = '[Old tool result content cleared]'
const IMAGE_REMOVED = '[image removed during context pruning]'

/** Chars of a result that stays whole, and of each end that a longer one keeps. */
const WHOLE_CHARS = 4_000
const END_CHARS = 1_500
/** Last answers of the model whose results stay whole. */
const FRESH_ANSWERS = 3
/** Shares of the window above which results are trimmed, and cleared. */
const TRIM_SHARE = 0.3
const CLEAR_SHARE = 0.5
/** Chars of old results that are worth clearing. */
const LEAST_CLEARED = 50_000

export function resolveCacheTtlPruningSettings(
  config?: CacheTtlPruningConfig,
): CacheTtlPruningSettings | undefined {
  if (config?.mode !== 'cache-ttl') return undefined
  const { ttl, tools, hardClear } = config
  const [denied, allowed] = [tools?.deny, tools?.allow].map(patternsOf) as [RegExp[], RegExp[]]
  const isOf = (patterns: readonly RegExp[], name: string) => patterns.some((pattern) => pattern.test(name))
  return {
    ttlMs: (ttl ? millisecondsIn(ttl) : undefined) ?? FIVE_MINUTES,
    hardClear: flag('hardClear.enabled', hardClear?.enabled, true),
    placeholder: word(hardClear?.placeholder) ?? PLACEHOLDER,
    isToolPrunable(toolName) {
      const name = toolName.trim().toLowerCase()
      return !isOf(denied, name) && (allowed.length === 0 || isOf(allowed, name))
    },
  }
}

/** Reads names of tools, in which `*` stands for any chars. */
function patternsOf(names: unknown): RegExp[] {
  const words = Array.isArray(names) ? names.flatMap((name) => word(name) ?? []) : []
  return words.map((name) => {
    const parts = name.toLowerCase().split('*')
    return new RegExp(`^${parts.map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&')).join('.*')}$`, 's')
  })
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Reads a duration such as `5m` or `1h30m`, in minutes without a unit. */
function millisecondsIn(text: string): number | undefined {
  const parts = [
    ...text
      .trim()
      .toLowerCase()
      .matchAll(/(\d+(?:\.\d+)?)(ms|[smhd])?/gy),
  ]
  const read = parts.reduce((sum, [part]) => sum + part.length, 0)
  if (read === 0 || read !== text.trim().length) return undefined
  return Math.round(parts.reduce((sum, [, count, unit = 'm']) => sum + Number(count) * (UNITS[unit] ?? 0), 0))
}

export function pruneExpiredCacheTtlToolResults<M>(params: CacheTtlPruningParams<M>): M[] {
  const { messages, settings, projectionState, now, lastCacheTouchAt } = checkOptions('params', params)
  checkMessages(messages)
  const onPruned = callback('onPruned', params.onPruned)
  const window = limit('contextWindowTokens', params.contextWindowTokens) * ESTIMATED_CHARS_PER_TOKEN
  const sent = new Projection(elementsOf(messages), projectionState)
  const isSame = sent.messages.every((message, at) => message === messages[at])
  const unchanged = isSame ? messages : ([...sent.messages] as M[])
  const isExpired = lastCacheTouchAt && settings.ttlMs > 0 && now - lastCacheTouchAt >= settings.ttlMs
  if (!params.pruneNewRounds || !isExpired) return unchanged
  const prunedNow = prunedResults(sent, elementsOf(messages), window, params)
  if (prunedNow.size === 0) return unchanged
  for (const [at, form] of prunedNow) sent.prune(at, form)
  onPruned?.()
  const changes = [...prunedNow].map(
    ([at, form]) => [at, pruned(messages[at] as object, form, sent.keyOf(at))] as const,
  )
  return copy(unchanged, new Map(changes)) as M[]
}

/** Chooses the old results to trim and to clear, by index. */
function prunedResults(
  sent: Projection,
  originals: readonly unknown[],
  window: number,
  { settings, dropThinkingBlocksForEstimate }: CacheTtlPruningParams<unknown>,
): Map<number, PruneRecord> {
  const made = new Map<number, PruneRecord>()
  const { messages } = sent
  const answers = messages.flatMap((message, at) => (isAssistant(message) ? [at] : []))
  const until = answers.at(-FRESH_ANSWERS) ?? -1
  const from = messages.findIndex(isUser)
  const chars = messages.map((message) => charsOf(message, dropThinkingBlocksForEstimate === true))
  let total = chars.reduce((sum, each) => sum + each, 0)
  if (until < 0 || from < 0 || total < window * TRIM_SHARE) return made
  const take = (at: number, form: PruneRecord) => {
    total += form.text.length - (chars[at] as number)
    chars[at] = form.text.length
    made.set(at, form)
  }
  const old = [...messages.keys()].slice(from, until).filter((at) => {
    const message = messages[at]
    if (!isToolResult(message) || sent.keyOf(at) === undefined) return false
    return settings.isToolPrunable(word(get(message, 'toolName')) ?? '') && sent.prunedAs(at) !== 'hard'
  })
  for (const at of old) {
    const text = sent.prunedAs(at) === 'soft' ? undefined : trimmed(originals[at] as object)
    if (text !== undefined) take(at, { cacheTtl: 'soft', text })
  }
  const isWorth = old.reduce((sum, at) => sum + (chars[at] as number), 0) >= LEAST_CLEARED
  for (const at of settings.hardClear && isWorth ? old : []) {
    if (total < window * CLEAR_SHARE) break
    take(at, { cacheTtl: 'hard', text: settings.placeholder })
  }
  return made
}

/** Returns both ends of a result as one text, undefined for a short one without images. */
function trimmed(message: object): string | undefined {
  const content = get(message, 'content')
  const blocks = Array.isArray(content) ? elementsOf(content) : [content]
  const text = blocks.flatMap((block) => (isImage(block) ? [IMAGE_REMOVED] : textOf(block))).join('\n')
  if (text.length <= WHOLE_CHARS) return blocks.some(isImage) ? text : undefined
  const ends = `${sliceUtf16Safe(text, 0, END_CHARS)}\n...\n${sliceUtf16Safe(text, text.length - END_CHARS)}`
  return `${ends}\n\n[Tool result trimmed: kept first ${END_CHARS} chars and last ${END_CHARS} chars of ${text.length} chars.]`
}

/** Chars of a message as the context guard counts them, a result once. */
function charsOf(message: unknown, dropsThinking: boolean): number {
  const chars = estimateMessageCharsCached(message, new WeakMap(), { profile: 'latest' })
  if (isToolResult(message)) return chars / RESULT_WEIGHT
  const content = dropsThinking && isAssistant(message) ? get(message, 'content') : undefined
  if (!Array.isArray(content)) return chars
  const thoughts = elementsOf(content).filter((block) => isObject(block) && get(block, 'type') === 'thinking')
  return thoughts.reduce<number>((sum, block) => sum - String(get(block as object, 'thinking')).length, chars)
}

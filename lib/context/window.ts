import type { PrecheckInput } from 'spillway'
import { native } from '../engine.js'
import { bound, checkOptions, limit, optionError, text } from '../option.js'
import { type Aggregate, checkAggregate } from './plan.js'
import { type Counter, counterOf } from './tokens.js'

/** The checked input of a precheck, without the messages. */
export interface Asked {
  readonly budgetTokens: number
  readonly contextTokens: number
  readonly safetyMargin: number
  /** Chars that one tool result may hold. */
  readonly maxEach: number
  readonly aggregate: Aggregate
  readonly counter: Counter
  readonly systemPrompt: string
  readonly prompt: string
  readonly tools: unknown
  readonly lastUsage: { readonly inputTokens: number; readonly messages: number } | undefined
  /** True if tool results may be cut to "[...]", regardless of `minKeepChars`. */
  readonly isLastResort?: boolean
}

export function checkAsked(input: Omit<PrecheckInput, 'messages'>): Asked {
  checkOptions('input', input)
  const contextTokens = limit('contextTokens', input.contextTokens)
  const reserveTokens = limit('reserveTokens', input.reserveTokens)
  const { perResultMaxChars: each, aggregate = {} } = input
  const io = new Float64Array([
    contextTokens,
    reserveTokens,
    each === undefined ? Number.NaN : bound('perResultMaxChars', each, 0),
  ])
  native.window(io)
  const [budgetTokens = 0, maxEach = 0, maxAll = 0] = io
  return {
    budgetTokens,
    contextTokens,
    safetyMargin: margin(input.safetyMargin),
    maxEach,
    aggregate: checkAggregate(aggregate, { maxChars: maxAll, minKeepChars: 0 }),
    counter: counterOf(input.countTokens),
    systemPrompt: text('systemPrompt', input.systemPrompt, ''),
    prompt: text('prompt', input.prompt, ''),
    tools: input.tools,
    lastUsage: usage(input.lastUsage),
  }
}

function margin(value: unknown): number {
  if (value === undefined) return 1.1
  if (Number.isFinite(value) && (value as number) > 0) return value as number
  const kind = typeof value === 'number' ? RangeError : TypeError
  throw optionError(kind, 'safetyMargin', 'a number over 0', value)
}

function usage(value: PrecheckInput['lastUsage']): Asked['lastUsage'] {
  if (value === undefined) return undefined
  const { inputTokens, messages } = checkOptions('lastUsage', value)
  return {
    inputTokens: limit('lastUsage.inputTokens', inputTokens),
    messages: limit('lastUsage.messages', messages),
  }
}

/** Returns the input with a caller's counter that is called once for each text of a run. */
export function remembering(asked: Asked): Asked {
  const { counter } = asked
  if (counter.isOwn) return asked
  const known = new Map<string, number>()
  const count = (text: string): number => {
    const tokens = known.get(text) ?? counter.each([text])[0] ?? 0
    known.set(text, tokens)
    return tokens
  }
  return { ...asked, counter: { isOwn: false, each: (texts) => texts.map(count) } }
}

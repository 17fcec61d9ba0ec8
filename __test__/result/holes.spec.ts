import {
  applyPlan,
  clampError,
  clampJson,
  clampMessages,
  clampResult,
  clampResultAsync,
  classifyProviderError,
  clearToolResults,
  guardSession,
  precheck,
  repairToolPairs,
  sanitizeForDisplay,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'

const SECRET = `api_key=${['q7Zr2', 'mX9vT4', 'kL8wB3n'].join('')}`
const block = (text: string) => ({ type: 'text', text })

/** Makes lists whose length is far above their elements. */
const lists: Record<string, () => unknown[]> = {
  'holes alone': () => vast(4_294_967_295, {}),
  'many holes': () => vast(200_000, {}),
  'an element at each end': () => vast(4_294_967_295, { 0: block(SECRET), 4294967294: block('b') }),
  'an element behind holes': () => vast(4_294_967_295, { 3000000000: block('a'.repeat(100_000)) }),
  'a proxy': () => new Proxy(vast(4_294_967_295, { 7: block('a') }), {}),
  'a proxy that makes up places': () => new Proxy([block('a')], { get: madeUp, has: () => true }),
  'a length that throws': () => new Proxy([block('a')], { get: failing }),
  'a prototype that makes up places': () =>
    Object.setPrototypeOf(vast(4_294_967_295, {}), new Proxy(Array.prototype, { has: () => true })),
}

const madeUp = (list: unknown[], key: string) => (key === 'length' ? 4_294_967_295 : Reflect.get(list, key))
const failing = (list: unknown[], key: string) => {
  if (key === 'length') throw new Error('no length')
  return Reflect.get(list, key)
}

function vast(length: number, elements: Record<number, unknown>): unknown[] {
  const list: unknown[] = []
  list.length = length
  return Object.assign(list, elements)
}

const pi = (list: unknown) => ({ role: 'toolResult', toolCallId: 'a', toolName: 'x', content: list })
const chat = (list: unknown) => ({ role: 'tool', tool_call_id: 'a', content: list })
const anthropic = (list: unknown) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: 'a', content: list }],
})
const gemini = (list: unknown) => ({ role: 'user', parts: list })
const mcp = (list: unknown) => ({ content: list, structuredContent: { list } })
const detailed = (list: unknown) => ({ ...pi([block('a')]), details: list })
const call = (list: unknown) => ({
  role: 'assistant',
  content: [{ type: 'toolCall', id: 'a', name: 'x', arguments: { list } }],
})

const CONTEXT = { contextTokens: 10_000, reserveTokens: 100 }
/** Holders whose list is what a model reads. */
const READ = new Set(['pi', 'chat', 'anthropic'])
const HOLDERS = { pi, chat, anthropic, gemini, mcp, detailed, call }

/** Functions that take a result. */
const ofResult: Record<string, (result: unknown) => unknown> = {
  clampResult: (result) => clampResult(result),
  'clampResult, redact': (result) => clampResult(result, { redact: true }),
  'clampResult, cap': (result) => clampResult(result, { sideData: 'cap' }),
  clampResultAsync: (result) => clampResultAsync(result, { redact: true }),
  wrapTool: (result) => wrapTool({ execute: () => result }).execute(),
  clampMessages: (result) => clampMessages([result], { redact: true }).messages,
  clearToolResults: (result) =>
    clearToolResults([call([]), result, call([]), result], { keepUsed: true }).messages,
  repairToolPairs: (result) => repairToolPairs([result]).messages,
  precheck: (result) => precheck({ messages: [result], maxRequestBytes: 1_000_000, ...CONTEXT }),
  applyPlan: (result) => applyPlan([result], [{ index: 0, chars: 100_000, maxChars: 100 }]),
  sanitizeForDisplay: (result) => sanitizeForDisplay(result),
  clampError: (result) => clampError(Object.assign(new Error('x'), { data: result })),
  classifyProviderError: (result) => classifyProviderError({ errors: result, error: result }),
  clampJson: (result) => clampJson(result),
  guardSession: (result) => {
    const appended: unknown[] = []
    const session = { appendMessage: (message: unknown) => appended.push(message) }
    guardSession(session)
    session.appendMessage(result)
    return appended
  },
}

/** Functions that take messages. */
const ofMessages: Record<string, (messages: unknown[]) => unknown> = {
  clampMessages: (messages) => clampMessages(messages, { redact: true }).messages,
  clearToolResults: (messages) => clearToolResults(messages).messages,
  repairToolPairs: (messages) => repairToolPairs(messages).messages,
  precheck: (messages) => precheck({ messages, maxRequestBytes: 1_000_000, ...CONTEXT }),
  applyPlan: (messages) => applyPlan(messages, [{ index: 0, chars: 100_000, maxChars: 100 }]),
}

// A walk by the length of these lists would not end before the test does.
describe('lists whose length is far above their elements', () => {
  for (const [kind, list] of Object.entries(lists)) {
    for (const [name, run] of Object.entries(ofResult))
      it(`${name}: ${kind}`, { tags: 'long' }, async () => {
        for (const [holder, hold] of [
          ['itself', (list: unknown) => list] as const,
          ...Object.entries(HOLDERS),
        ]) {
          const made = await run(hold(list()))
          if (!name.startsWith('clampResult') || !READ.has(holder)) continue
          const json = JSON.stringify(made)
          expect(json.length, holder).toBeLessThan(300_000)
          if (name.includes('redact')) expect(json, holder).not.toContain(SECRET)
        }
      })
    for (const [name, run] of Object.entries(ofMessages))
      it(`${name} of messages: ${kind}`, () => {
        run(list())
      })
  }
})

describe('a long list with few holes', () => {
  const long = (from: readonly unknown[], length: number) => {
    const list = Array.from({ length }, (_, at) => from[at % from.length])
    delete list[5]
    delete list[length - 9]
    return list
  }

  it('keeps the index of each element', () => {
    const result = { role: 'tool', tool_call_id: 'a', content: 'words '.repeat(2_000) }
    const messages = long([{ role: 'user', content: 'x' }], 70_000)
    messages[69_999] = result
    const step = { index: 69_999, callId: 'a', chars: result.content.length, maxChars: 400 }
    const cut = applyPlan(messages, [step])
    expect(cut).toHaveLength(70_000)
    expect((cut[69_999] as typeof result).content.length).toBeLessThan(401)
    const made = clampMessages(messages, { maxChars: 400 }).messages
    expect(made).toHaveLength(70_000)
    expect((made[69_999] as typeof result).content.length).toBeLessThan(401)
  })

  // A list of all keys would not be made before the test ends.
  it('is walked by its length', { tags: 'long' }, () => {
    const list = long([1, 2.5, true], 8_000_000)
    expect(clampJson({ list }, { maxBytes: 1_000 }).length).toBeLessThan(1_001)
    expect(JSON.stringify(clampResult({ content: [block('a')], details: list })).length).toBeGreaterThan(8e6)
  })
})

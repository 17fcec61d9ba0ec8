import * as fc from 'fast-check'
import {
  type AggregateOptions,
  applyPlan,
  estimateTokens,
  type PlanStep,
  type PrecheckInput,
  precheck,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { samples } from '../support/samples.js'

const tool = (text: string, id = 'c') => ({
  role: 'toolResult',
  toolCallId: id,
  content: [{ type: 'text', text }],
  isError: false,
})
const answer = { role: 'assistant', content: [{ type: 'text', text: 'I see.' }] }
const user = (content: unknown) => ({ role: 'user', content })
const quarter = (text: string) => text.length / 4

/** A check in which four chars are a token and nothing is added. */
const plain = (input: Partial<PrecheckInput>): PrecheckInput => ({
  messages: [],
  contextTokens: 10_000,
  reserveTokens: 0,
  safetyMargin: 1,
  countTokens: quarter,
  ...input,
})
const estimate = (messages: readonly unknown[], rest: Partial<PrecheckInput> = {}) =>
  precheck(plain({ messages, ...rest })).estimatedTokens
/** The same by our own count, which is remembered with each message. */
const remembered = (messages: readonly unknown[]) =>
  precheck({ messages, contextTokens: 1e6, reserveTokens: 0 }).estimatedTokens
const left = (plan: readonly PlanStep[]) => plan.map(({ maxChars }) => maxChars)

describe('what a prompt takes', () => {
  const base64 = Buffer.alloc(900_000, 1).toString('base64')
  const big = 'x'.repeat(40_000)
  const args = { path: 'a.txt', lines: [1, 2, 3] }
  const argued = JSON.stringify(args).length / 4

  it('is nothing where nothing is said', () => {
    expect(estimate([])).toBe(0)
    expect(estimate([null, undefined, 5, { role: 'x', excludeFromContext: true, output: big }])).toBe(0)
  })

  it('counts system prompt, question, tools and messages, times the margin', () => {
    const said = estimate([user(big), answer], { systemPrompt: big, prompt: big })
    expect(said).toBeGreaterThanOrEqual(30_002)
    expect(said).toBeLessThan(30_050)
    expect(estimate([user(big), answer], { systemPrompt: big, prompt: big, safetyMargin: 2 })).toBe(2 * said)
    const tools = [{ name: 't', description: big, parameters: { type: 'object' } }]
    expect(estimate([], { tools })).toBe(Math.ceil(JSON.stringify(tools).length / 4))
    expect(
      precheck(plain({ systemPrompt: 'x'.repeat(400_000), contextTokens: 50_000, prompt: 'hi' })).route,
    ).toBe('compact_only')
    expect(estimate([big]) - 10_000).toBeLessThan(20)
  })

  it('estimates as estimateTokens does, and 1.1 times as much', () => {
    const text = '漢字かな交じり文'.repeat(500)
    const { estimatedTokens } = precheck({ messages: [], prompt: text, contextTokens: 1e6, reserveTokens: 0 })
    const marks = estimatedTokens / 1.1 - estimateTokens(text)
    expect(marks).toBeGreaterThanOrEqual(0)
    expect(marks).toBeLessThan(20)
  })

  it.each<[string, unknown, number, number?]>([
    ['a text', user(big), 10_000],
    [
      'parts',
      user([
        { type: 'text', text: big },
        { type: 'input_text', text: big },
      ]),
      20_000,
    ],
    ['parts of Gemini', { role: 'user', parts: [{ text: big }, { text: big }] }, 20_000],
    ['blocks of Bedrock', user([{ text: big }]), 10_000],
    [
      'thinking',
      { role: 'assistant', content: [{ type: 'thinking', thinking: big, signature: big }] },
      10_000,
    ],
    [
      'a message of LangChain',
      { type: 'ai', content: big, additional_kwargs: { x: big }, tool_calls: [] },
      10_000,
    ],
    ['a summary', { role: 'compactionSummary', summary: big, timestamp: 5 }, 10_000],
    ['a shell call of the user', { role: 'bashExecution', command: 'ls', output: big, exitCode: 0 }, 10_000],
    [
      'a reasoning item',
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: big }] },
      10_000,
    ],
    ['a tool result', tool(big), 10_000],
    ['its side data not', { ...tool(big), details: { whole: big } }, 10_000],
    ['nor metadata', { ...answer, usage: { input: 5 }, providerMetadata: { raw: big } }, 0],
    [
      'a call',
      { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'n', arguments: args }] },
      argued,
    ],
    [
      'a call, Anthropic',
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'n', input: args }] },
      argued,
    ],
    [
      'a call, OpenAI',
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', function: { name: 'n', arguments: big } }],
      },
      10_000,
    ],
    ['a call item', { type: 'function_call', call_id: 'a', name: 'n', arguments: big }, 10_000],
    ['a call, Gemini', { role: 'model', parts: [{ functionCall: { name: 'n', args } }] }, argued],
    [
      'a call, Bedrock',
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'a', name: 'n', input: args } }] },
      argued,
    ],
    [
      'a call that stands there twice',
      {
        type: 'ai',
        content: [{ type: 'tool_use', id: 'a', name: 'n', input: { big } }],
        tool_calls: [{ id: 'a', name: 'n', args: { big } }],
      },
      10_000,
    ],
    [
      'a call and a result of Mastra that stand there twice',
      {
        role: 'assistant',
        content: {
          format: 2,
          content: 'x'.repeat(400),
          parts: [
            { type: 'text', text: 'x'.repeat(400) },
            {
              type: 'tool-invocation',
              toolInvocation: { state: 'result', toolCallId: 'a', args: { big }, result: big },
            },
          ],
          toolInvocations: [{ state: 'result', toolCallId: 'a', args: { big }, result: big }],
        },
      },
      20_100,
    ],
    [
      'a call and a result of the AI SDK UI',
      {
        role: 'assistant',
        parts: [{ type: 'tool-t', toolCallId: 'a', state: 'output-available', input: { big }, output: big }],
      },
      20_000,
    ],
    ['an image', user([{ type: 'image', data: base64, mimeType: 'image/png' }]), 2_000],
    [
      'an image, Anthropic',
      user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }]),
      2_000,
    ],
    [
      'an image, OpenAI',
      user([{ type: 'image_url', image_url: { url: `data:image/png;base64,${base64}` } }]),
      2_000,
    ],
    [
      'an image by its address',
      user([{ type: 'input_image', image_url: 'https://example.org/a.png' }]),
      2_000,
    ],
    [
      'an image, Gemini',
      { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: base64 } }] },
      2_000,
    ],
    [
      'an image, Bedrock',
      user([{ image: { format: 'png', source: { bytes: new Uint8Array(9_000) } } }]),
      2_000,
    ],
    ['an image, AI SDK', user([{ type: 'image', image: new Uint8Array(9_000) }]), 2_000],
    [
      'an image by its address, AI SDK',
      user([{ type: 'image', image: new URL('https://a.b/c.png') }]),
      2_000,
    ],
    ['images, Ollama', { role: 'user', content: '', images: [base64, new Uint8Array(9_000)] }, 4_000],
    ['an image that was made', { type: 'image_generation_call', id: 'ig', result: base64 }, 2_000],
    [
      'an image that was made, Agents SDK',
      { type: 'hosted_tool_call', name: 'image_generation_call', output: base64 },
      2_000,
    ],
    ['a file, AI SDK', user([{ type: 'file', mediaType: 'application/pdf', data: base64 }]), 2_000],
    [
      'a file with its text',
      user([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: big } }]),
      10_000,
    ],
    [
      'an image of a result',
      {
        ...tool(big),
        content: [
          { type: 'text', text: big },
          { type: 'image', data: base64, mimeType: 'image/png' },
        ],
      },
      12_000,
    ],
    ['a block of no known kind', user([{ type: 'note', body: big }]), 10_000],
  ])('counts %s', (_, message, tokens, most = 60) => {
    const marks = estimate([message]) - tokens
    expect(marks).toBeGreaterThanOrEqual(0)
    expect(marks).toBeLessThan(most)
  })

  it.each(
    samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
  )('counts each text of %s once', (_, sample) => {
    const [small, large] = ['x'.repeat(4_000), 'x'.repeat(44_000)]
    const texts = sample
      .texts(sample.make(small))
      .flat()
      .filter((text) => text.includes(small)).length
    const grown = estimate([sample.make(large)]) - estimate([sample.make(small)])
    expect(grown).toBe(texts * 10_000)
  })

  it('reads again what has changed', () => {
    const message: { role: string; content: { type: string; text: string }[]; extra?: string } = {
      role: 'user',
      content: [{ type: 'text', text: 'short' }],
    }
    const call = {
      role: 'assistant',
      content: [{ type: 'toolCall', id: 'a', name: 'n', arguments: { deep: ['x'] } }],
    }
    const check = () =>
      precheck({ messages: [message, call], contextTokens: 1e6, reserveTokens: 0, safetyMargin: 1 })
        .estimatedTokens
    const seen = [check()]
    expect(check()).toBe(seen[0])
    message.content.push({ type: 'text', text: 'word '.repeat(100) })
    seen.push(check())
    ;(message.content[0] as { text: string }).text = 'word '.repeat(200)
    seen.push(check())
    message.extra = 'word '.repeat(300)
    seen.push(check())
    ;(call.content[0]?.arguments.deep as string[])[0] = 'word '.repeat(400)
    seen.push(check())
    for (const [at, tokens] of seen.slice(1).entries())
      expect(tokens).toBeGreaterThan((seen[at] as number) + 90)
    message.content.length = 1
    expect(check()).toBeLessThan(seen[4] as number)
  })

  it('counts what comes after an object that stands there twice', () => {
    const again = user('Go on.')
    const messages = [again, again, user('word '.repeat(10_000))]
    const asked = { messages, contextTokens: 1e6, reserveTokens: 0 }
    const { estimatedTokens } = precheck(asked)
    expect(estimatedTokens).toBe(precheck({ ...asked, countTokens: estimateTokens }).estimatedTokens)
    expect(precheck(asked).estimatedTokens).toBe(estimatedTokens)
  })

  it('reads again what was kept from the model', () => {
    const message = { role: 'bashExecution', command: 'ls', output: big, excludeFromContext: true }
    const check = () =>
      precheck({ messages: [message], contextTokens: 1e6, reserveTokens: 0 }).estimatedTokens
    expect(check()).toBe(0)
    message.excludeFromContext = false
    expect(check()).toBeGreaterThan(1_000)
  })

  it('counts no result that is kept from the model', () => {
    const result = { ...tool(big, 'kept'), excludeFromContext: true }
    const asked = { messages: [user('go'), result, user(big)], contextTokens: 10, reserveTokens: 0 }
    expect(estimate([result])).toBe(0)
    expect(precheck(asked)).toMatchObject({ route: 'compact_only', reducibleChars: 0, plan: [] })
  })

  it('reads again a number that has become a text or a block', () => {
    const numbered: { role: string; content: unknown[]; reasoning?: unknown } = {
      role: 'assistant',
      content: [{ type: 'text', text: 'hi' }, 0],
      reasoning: 0,
    }
    const seen = [remembered([numbered])]
    numbered.reasoning = 'word '.repeat(1_000)
    seen.push(remembered([numbered]))
    numbered.content[1] = { type: 'text', text: 'word '.repeat(1_000) }
    seen.push(remembered([numbered]))
    expect(seen).toEqual([...seen].sort((a, b) => a - b))
    expect(seen[1]).toBeGreaterThan((seen[0] as number) + 900)
    expect(seen[2]).toBeGreaterThan((seen[1] as number) + 900)
    expect(remembered([structuredClone(numbered)])).toBe(seen[2])
  })

  it('counts what stands beside a value that is too deep, goes in a circle or does not tell its members', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['again'] = [cyclic, cyclic]
    const hidden = new Proxy(
      {},
      {
        ownKeys() {
          throw new Error('trap')
        },
      },
    )
    const deep = JSON.parse(`${'['.repeat(7_000)}${']'.repeat(7_000)}`)
    for (const held of [cyclic, hidden, deep]) {
      const call = { type: 'toolCall', id: 'a', name: 'n', arguments: held }
      for (const content of [
        [{ type: 'text', text: big }, call],
        [held, { type: 'text', text: big }],
      ]) {
        const message = { role: 'assistant', content }
        expect(remembered([message])).toBeGreaterThan(1_000)
        expect(remembered([message])).toBe(remembered([{ ...message }]))
      }
    }
  })
})

describe('precheck', () => {
  it.each([
    [16_000, 20_000, 12_000],
    [200_000, 16_384, 183_616],
    [4_096, 20_000, 3_072],
    [4_097, 20_000, 3_073],
    [3, 5, 3],
    [0, 0, 0],
    [Number.POSITIVE_INFINITY, 5, Number.POSITIVE_INFINITY],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
  ])('leaves a prompt in a window of %d with a reserve of %d: %d', (contextTokens, reserveTokens, budget) => {
    expect(precheck({ messages: [], contextTokens, reserveTokens })).toEqual({
      route: 'fits',
      estimatedTokens: 0,
      budgetTokens: budget,
      overflowTokens: 0,
      reducibleChars: 0,
      plan: [],
    })
  })

  it('plans the same at first as later, also of what the provider told of', () => {
    const messages = [user('q'), tool('word '.repeat(20_000))]
    const asked = { messages, contextTokens: 10_000, reserveTokens: 0 }
    const told = { ...asked, aggregate: { maxChars: 0 }, lastUsage: { inputTokens: 25_000, messages: 2 } }
    for (const input of [told, told, { ...told, countTokens: (text: string) => text.length / 4 }])
      expect(precheck(input)).toMatchObject({
        route: 'truncate_tool_results_only',
        plan: [{ index: 1, chars: 100_000, maxChars: 38 }],
      })
  })

  // Marks come to 52 tokens, and a notice has 37 chars.
  const old = tool('x'.repeat(20_000), 'old')
  const fresh = tool('y'.repeat(20_000), 'new')
  const both = [user('go'), old, answer, fresh]
  it.each<[string, readonly unknown[], Partial<PrecheckInput>, string, object[]]>([
    ['fits', both, { contextTokens: 11_000 }, 'fits', []],
    [
      'the least of the oldest',
      both,
      { perResultMaxChars: 20_000 },
      'truncate_tool_results_only',
      [{ index: 1, callId: 'old', chars: 20_000, maxChars: 19_792 }],
    ],
    [
      'what is over its cap alone, where that is enough',
      [user('go'), tool('x'.repeat(50_000)), answer, fresh],
      { contextTokens: 12_000, perResultMaxChars: 16_000 },
      'truncate_tool_results_only',
      [
        { index: 1, callId: 'c', chars: 50_000, maxChars: 16_000 },
        { index: 3, callId: 'new', chars: 20_000, maxChars: 16_000 },
      ],
    ],
    [
      'all together what the aggregate says',
      both,
      { contextTokens: 9_000, perResultMaxChars: 20_000, aggregate: { maxChars: 25_000 } },
      'truncate_tool_results_only',
      [{ index: 1, callId: 'old', chars: 20_000, maxChars: 5_000 }],
    ],
    [
      'the latest when the others are spent',
      both,
      { contextTokens: 4_100, perResultMaxChars: 20_000 },
      'truncate_tool_results_only',
      [
        { index: 1, callId: 'old', chars: 20_000, maxChars: 37 },
        { index: 3, callId: 'new', chars: 20_000, maxChars: 16_152 },
      ],
    ],
    [
      'all there is to cut where that is not enough',
      [user('q'.repeat(40_000)), ...both],
      { perResultMaxChars: 20_000 },
      'compact_then_truncate',
      [
        { index: 2, callId: 'old', chars: 20_000, maxChars: 37 },
        { index: 4, callId: 'new', chars: 20_000, maxChars: 37 },
      ],
    ],
    [
      'the least where that is enough, if barely',
      [user('q'.repeat(38_000)), ...both],
      { perResultMaxChars: 20_000 },
      'compact_then_truncate',
      [
        { index: 2, callId: 'old', chars: 20_000, maxChars: 37 },
        { index: 4, callId: 'new', chars: 20_000, maxChars: 1_736 },
      ],
    ],
    ['nothing to cut', [user('q'.repeat(48_000)), tool('short')], {}, 'compact_only', []],
    [
      'nothing under minKeepChars',
      [user('q'.repeat(40_000)), old],
      { perResultMaxChars: 20_000, aggregate: { minKeepChars: 19_990 } },
      'compact_only',
      [],
    ],
  ])('%s', (_, messages, input, route, plan) => {
    const asked = plain({ messages, ...input })
    const checked = precheck(asked)
    expect(checked.route).toBe(route)
    expect(checked.plan).toEqual(plan)
    if (route === 'truncate_tool_results_only') {
      const applied = applyPlan(messages, checked.plan)
      expect(precheck({ ...asked, messages: applied }).route).toBe('fits')
    }
  })

  it.each([
    ['says what is over and what could go', both, {}, { overflowTokens: 52, reducibleChars: 39_926 }],
    [
      'says what could go of what fits',
      both,
      { contextTokens: 20_000 },
      { overflowTokens: 0, reducibleChars: 39_926 },
    ],
    ['keeps minKeepChars', both, { aggregate: { minKeepChars: 1_963 } }, { reducibleChars: 36_000 }],
  ] as const)('%s', (_, messages, input, said) => {
    expect(precheck(plain({ messages, perResultMaxChars: 20_000, ...input }))).toMatchObject(said)
  })

  it('cuts the newest first where it is to, and protects none where it need not', () => {
    const batch = [user('go'), answer, old, fresh]
    const check = (aggregate: Partial<AggregateOptions>, messages: readonly unknown[] = both) =>
      precheck(plain({ messages, perResultMaxChars: 20_000, aggregate })).plan.map(({ callId }) => callId)
    expect(check({ order: 'newest' })).toEqual(['old'])
    expect(check({ order: 'newest', protectNewest: false })).toEqual(['new'])
    expect(check({ protectNewest: false }, batch)).toEqual(['old'])
    expect(check({}, batch)).toEqual(['old', 'new'])
    // Agents store the turn that the provider refused; it has answered nothing.
    const failed = { role: 'assistant', content: [], stopReason: 'error', errorMessage: 'prompt is too long' }
    expect(check({ order: 'newest' }, [...both, failed])).toEqual(['old'])
  })

  it('caps a result as the window has it', () => {
    for (const [contextTokens, most] of [
      [100, 120],
      [8_000, 9_600],
      [13_333, 15_996],
      [13_334, 16_000],
      [99_999, 16_000],
      [100_000, 32_000],
      [199_999, 32_000],
      [200_000, 64_000],
    ] as const) {
      const messages = [user('q'.repeat(contextTokens * 3)), tool('x'.repeat(contextTokens * 5))]
      const { plan } = precheck(plain({ messages, contextTokens, aggregate: { minKeepChars: 1e9 } }))
      expect(left(plan)).toEqual([most])
    }
  })
})

describe('what the cache makes cheap', () => {
  const call = (id: string) => ({
    role: 'assistant',
    content: [{ type: 'toolCall', id, name: 'read', arguments: {} }],
  })
  const messages = ['a', 'b', 'c', 'd'].flatMap((id) => [call(id), tool('x'.repeat(3_960), id)])
  const prices = { write: 1.25, read: 0.1 }
  const check = (rest: Partial<PrecheckInput>) => precheck(plain({ messages, contextTokens: 3_800, ...rest }))

  it('is the price of what was sent before and of what is new', () => {
    // Three calls and their results were sent before.
    const { route, price } = check({ contextTokens: 10_000, prices })
    const turn = estimate(messages.slice(0, 2))
    expect(route).toBe('fits')
    expect(price).toBeCloseTo(3 * turn * 0.1 + turn * 1.25, -1)
  })

  it('has a plan start at the end that leaves more of it', () => {
    const indexes = (rest: Partial<PrecheckInput>) => check(rest).plan.map(({ index }) => index)
    expect(indexes({})[0]).toBe(1)
    expect(indexes({ prices })[0]).toBe(5)
    expect(indexes({ prices: { write: 1, read: 1 } })[0]).toBe(1)
    expect(indexes({ prices, aggregate: { order: 'oldest' } })[0]).toBe(1)
    expect(check({})).not.toHaveProperty('price')
  })
})

describe('what the provider told', () => {
  const history = [user('x'.repeat(8_000)), answer, tool('x'.repeat(8_000)), answer]
  const later = [...history, tool('y'.repeat(4_000))]
  const check = (lastUsage: PrecheckInput['lastUsage'], input: Partial<PrecheckInput> = {}) =>
    precheck(plain({ messages: later, ...(lastUsage && { lastUsage }), ...input }))

  it('takes the place of an estimate, system prompt and tools included', () => {
    const rest = { systemPrompt: 's'.repeat(4_000), tools: ['t'.repeat(4_000)] }
    expect(check({ inputTokens: 7_000, messages: 4 }, rest).estimatedTokens).toBe(8_019)
    expect(check({ inputTokens: 7_000, messages: 4 }, { ...rest, safetyMargin: 2 }).estimatedTokens).toBe(
      9_038,
    )
    expect(check({ inputTokens: 7_000, messages: 5 }, { prompt: 'p'.repeat(400) }).estimatedTokens).toBe(
      7_104,
    )
    expect(check({ inputTokens: 9_999, messages: 4 }).route).toBe('truncate_tool_results_only')
  })

  it('spares counting what it tells of', () => {
    const counted: string[] = []
    const countTokens = (text: string) => counted.push(text) && text.length / 4
    check({ inputTokens: 5_000, messages: 4 }, { countTokens, systemPrompt: 'system' })
    expect(counted).toEqual(['y'.repeat(4_000)])
  })

  it('is of no use where there are fewer messages now', () => {
    expect(check({ inputTokens: 9_999, messages: 6 })).toEqual(check(undefined))
  })

  it('tells how much less goes where less is there', () => {
    const messages = [user('x'.repeat(12_000)), tool('x'.repeat(20_000)), answer, user('x'.repeat(20_000))]
    const asked = { messages, perResultMaxChars: 20_000, contextTokens: 9_000 }
    // Half of what is estimated: to free 1,000 tokens takes 8,000 chars.
    const { plan, route, overflowTokens } = check({ inputTokens: 4_996, messages: 3 }, asked)
    expect({ route, overflowTokens }).toEqual({ route: 'truncate_tool_results_only', overflowTokens: 1_000 })
    expect(left(plan)[0]).toBeLessThanOrEqual(12_000)
    // Without what was told it fits as well.
    expect(check(undefined, { ...asked, messages: applyPlan(messages, plan) }).route).toBe('fits')
  })
})

describe('wrong options', () => {
  it.each([
    [{ contextTokens: -1 }, 'contextTokens', '-1'],
    [{ contextTokens: Number.NaN }, 'contextTokens', 'NaN'],
    [{ contextTokens: undefined }, 'contextTokens', 'undefined'],
    [{ contextTokens: '8k' }, 'contextTokens', '"8k"'],
    [{ reserveTokens: 1.5 }, 'reserveTokens', '1.5'],
    [{ reserveTokens: undefined }, 'reserveTokens', 'undefined'],
    [{ safetyMargin: 0 }, 'safetyMargin', '0'],
    [{ safetyMargin: Number.POSITIVE_INFINITY }, 'safetyMargin', 'Infinity'],
    [{ safetyMargin: '1' }, 'safetyMargin', '"1"'],
    [{ countTokens: 4 }, 'countTokens', '4'],
    [{ countTokens: () => Number.NaN }, 'countTokens', 'NaN'],
    [{ countTokens: () => -1 }, 'countTokens', '-1'],
    [{ countTokens: () => '5' }, 'countTokens', '"5"'],
    [{ systemPrompt: 5 }, 'systemPrompt', '5'],
    [{ prompt: null }, 'prompt', 'null'],
    [{ lastUsage: 5 }, 'lastUsage', '5'],
    [{ lastUsage: {} }, 'lastUsage.inputTokens', 'undefined'],
    [{ lastUsage: { inputTokens: 5, messages: -1 } }, 'lastUsage.messages', '-1'],
    [{ perResultMaxChars: '5' }, 'perResultMaxChars', '"5"'],
    [{ aggregate: 5 }, 'aggregate', '5'],
    [{ aggregate: null }, 'aggregate', 'null'],
    [{ aggregate: { maxChars: -1 } }, 'aggregate.maxChars', '-1'],
    [{ aggregate: { order: 'best' } }, 'aggregate.order', '"best"'],
    [{ prices: { read: -1 } }, 'prices.read', '-1'],
    [{ messages: 'none' }, 'messages', '"none"'],
    [{ messages: undefined }, 'messages', 'undefined'],
  ])('refuses %o', (input, field, value) => {
    const asked = { messages: ['text'], contextTokens: 1_000, reserveTokens: 0, ...input } as PrecheckInput
    expect(() => precheck(asked)).toThrow(
      expect.objectContaining({
        code: 'ERR_SPILLWAY_OPTION',
        message: expect.stringMatching(new RegExp(`^${field.replace('.', '\\.')} must be .*, got ${value}$`)),
      }),
    )
  })

  it('takes any whole number for tokens and chars', () => {
    const whole = fc.constantFrom(0, 1, 2 ** 31, 2 ** 51, 2 ** 52, 2 ** 53 - 1, Number.POSITIVE_INFINITY)
    fc.assert(
      fc.property(
        whole,
        whole,
        fc.option(whole, { nil: undefined }),
        (contextTokens, reserveTokens, each) => {
          const messages = [user('go'), tool('x'.repeat(5_000))]
          const asked = {
            messages,
            contextTokens,
            reserveTokens,
            ...(each !== undefined && { perResultMaxChars: each }),
          }
          const { budgetTokens } = precheck(asked)
          expect(budgetTokens).toBeLessThanOrEqual(contextTokens)
          expect(budgetTokens).toBeGreaterThanOrEqual(
            contextTokens === Infinity ? Infinity : contextTokens * 0.74,
          )
        },
      ),
    )
  })

  it('refuses no input at all', () => {
    expect(() => precheck(undefined as never)).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }),
    )
  })

  it('lets pass what a counter throws', () => {
    const countTokens = () => {
      throw new Error('no vocabulary')
    }
    expect(() => precheck(plain({ messages: ['text'], countTokens }))).toThrow('no vocabulary')
  })

  it.each([
    ['no', 'plan'],
    [[null], 'plan[0]'],
    [[{ index: 0, chars: 5 }, { index: -1 }], 'plan[1].index'],
    [[{ index: 0, callId: 5 }], 'plan[0].callId'],
    [[{ index: 0, chars: Number.NaN }], 'plan[0].chars'],
    [[{ index: 0, chars: 5, maxChars: '5' }], 'plan[0].maxChars'],
  ])('refuses the plan %o', (plan, field) => {
    expect(() => applyPlan([], plan as never)).toThrow(
      expect.objectContaining({
        code: 'ERR_SPILLWAY_OPTION',
        message: expect.stringContaining(`${field} must be`),
      }),
    )
  })
})

describe('applyPlan', () => {
  const text = 'x'.repeat(900)
  const messages = Object.freeze([user('go'), tool(text, 'a'), tool(text, 'b')])
  const step = { index: 1, callId: 'a', chars: 900, maxChars: 100 }

  it('gives the same array where nothing is to be done', () => {
    for (const plan of [
      [],
      [{ ...step, index: 2 }],
      [{ ...step, index: 9 }],
      [{ ...step, callId: 'z' }],
      [{ ...step, chars: 901 }],
      [{ ...step, maxChars: 900 }],
      [{ index: 1, chars: 900, maxChars: 100 }],
    ])
      expect(applyPlan(messages, plan)).toBe(messages)
  })

  it('cuts what a step names and shares the rest', () => {
    const applied = applyPlan(messages, [step], { keep: 'head' })
    expect(applied[0]).toBe(messages[0])
    expect(applied[2]).toBe(messages[2])
    expect(applied[1]).toEqual(tool(`${'x'.repeat(65)}[... 835 more characters truncated]`, 'a'))
    expect(applyPlan(applied, [step], { keep: 'head' })).toBe(applied)
  })

  it('has no limits but those of the steps', () => {
    const many = [tool('漢\n'.repeat(60_000))]
    const [message] = applyPlan(many, [{ index: 0, callId: 'c', chars: 120_000, maxChars: 100_000 }])
    expect(message?.content[0]?.text).toHaveLength(100_000)
    const [short] = applyPlan(many, [{ index: 0, callId: 'c', chars: 120_000, maxChars: 100_000 }], {
      maxLines: 3,
      notice: false,
    })
    expect(short?.content[0]?.text).toBe('漢\n漢\n漢\n')
  })

  it('counts from the original where a result was cut before', () => {
    const once = applyPlan(
      [tool('x'.repeat(90_000))],
      [{ index: 0, callId: 'c', chars: 90_000, maxChars: 5_000 }],
    )
    const twice = applyPlan(once, [{ index: 0, callId: 'c', chars: 5_000, maxChars: 80 }])
    expect(JSON.stringify(twice)).toMatch(/\[\.\.\. 899\d\d more characters truncated\]/)
  })

  it('caps side data of what it cuts where it is to', () => {
    const given = [
      { ...tool(text, 'a'), details: { raw: text } },
      { ...tool(text, 'b'), details: { raw: text } },
    ]
    const [first, second] = applyPlan(given, [{ ...step, index: 0 }], { sideData: 'drop' })
    expect(first).not.toHaveProperty('details')
    expect(second).toBe(given[1])
  })

  it('tells results of one message apart, by id and else by order', () => {
    const parts = (...ids: (string | undefined)[]) => ({
      role: 'user',
      parts: ids.map((id, at) => ({
        functionResponse: { ...(id && { id }), name: 't', response: { output: String(at).repeat(900) } },
      })),
    })
    const outputs = ([message]: readonly ReturnType<typeof parts>[]) =>
      message?.parts.map(({ functionResponse: { response } }) => response.output.length)
    const named = [parts('a', 'b', 'c')]
    const step = { index: 0, callId: 'b', chars: 900, maxChars: 40 }
    expect(outputs(applyPlan(named, [step]))).toEqual([900, 40, 900])
    const nameless = [parts(undefined, undefined, undefined)]
    const asked = plain({
      messages: nameless,
      perResultMaxChars: 900,
      aggregate: { order: 'newest', protectNewest: false },
    })
    const contextTokens = precheck(asked).estimatedTokens - 100
    const { plan } = precheck({ ...asked, contextTokens })
    expect(left(plan)).toEqual([900, 900, 500])
    expect(outputs(applyPlan(nameless, plan))).toEqual([900, 900, 500])
  })

  it('cuts a result that stands there twice in both places', () => {
    const invocation = { state: 'result', toolCallId: 'a', toolName: 't', args: {}, result: text }
    const message = {
      role: 'assistant',
      content: {
        format: 2,
        parts: [{ type: 'tool-invocation', toolInvocation: invocation }],
        toolInvocations: [invocation],
      },
    }
    const [applied] = applyPlan([message], [{ ...step, index: 0 }])
    const { parts, toolInvocations } = (applied as typeof message).content
    expect(parts[0]?.toolInvocation.result).toHaveLength(100)
    expect(toolInvocations[0]?.result).toHaveLength(100)
  })
})

describe('whatever the history', () => {
  /** Messages in which a notice may not stand at the end, so that cutting them again moves a few
   *  chars. */
  const shared = new WeakSet<object>()
  const texts = fc.oneof(
    hostileText,
    fc
      .tuple(
        fc.constantFrom('漢字かな', 'a log line\n', '👩‍👩‍👧‍👦', 'x', '12 345 ', '\0'),
        fc.integer({ min: 0, max: 2_000 }),
      )
      .map(([unit, times]) => unit.repeat(times)),
  )
  const messages = fc.array(
    fc.oneof(
      {
        weight: 1,
        arbitrary: fc.constantFrom<unknown>(answer, user('Go on. '.repeat(40)), null, 'a string'),
      },
      {
        weight: 3,
        arbitrary: fc.tuple(fc.constantFrom(...samples), texts).map(([sample, text]) => {
          const message = sample.make(text)
          shared.add(message)
          return message
        }),
      },
      {
        weight: 2,
        arbitrary: fc.tuple(texts, fc.boolean()).map(([text, isError]) => ({ ...tool(text), isError })),
      },
    ),
    { maxLength: 14 },
  )
  const counters = fc.constantFrom<PrecheckInput['countTokens']>(
    undefined,
    undefined,
    quarter,
    (text) => text.length / 3,
    (text) => Buffer.byteLength(text),
    (text) => text.split(' ').length ** 2,
    () => 7,
    (text) => (text.includes('more characters truncated') ? 900 : text.length / 9),
  )
  const inputs = fc.record(
    {
      contextTokens: fc.integer({ min: 0, max: 40_000 }),
      reserveTokens: fc.nat(9_000),
      safetyMargin: fc.constantFrom(1, 1.1, 1.37),
      countTokens: counters,
      perResultMaxChars: fc.nat(9_000),
      aggregate: fc.record(
        {
          maxChars: fc.nat(30_000),
          order: fc.constantFrom('oldest' as const, 'newest' as const),
          protectNewest: fc.boolean(),
          minKeepChars: fc.nat(3_000),
        },
        { requiredKeys: [] },
      ),
      lastUsage: fc.record({ inputTokens: fc.nat(30_000), messages: fc.nat(14) }),
    },
    { requiredKeys: ['contextTokens', 'reserveTokens'] },
  )

  it('a prompt that is cut by its plan fits, on the way that says so', () => {
    const routes = new Map<string, number>()
    fc.assert(
      fc.property(messages, inputs, (messages, input) => {
        const { lastUsage, ...rest } = input as Omit<PrecheckInput, 'messages'>
        const asked = { ...rest, messages }
        const checked = precheck({ ...asked, ...(lastUsage && { lastUsage }) })
        const { route, plan, estimatedTokens, budgetTokens, overflowTokens, reducibleChars } = checked
        routes.set(route, (routes.get(route) ?? 0) + 1)
        expect(overflowTokens).toBe(Math.max(0, estimatedTokens - budgetTokens))
        expect(route === 'fits').toBe(overflowTokens === 0)
        if (route === 'fits' || route === 'compact_only') {
          expect(plan).toEqual([])
          return
        }
        for (const { chars, maxChars } of plan) {
          expect(maxChars).toBeLessThanOrEqual(chars)
          expect(maxChars).toBeGreaterThanOrEqual(Math.min(5, chars))
        }
        const freed = plan.reduce((sum, { chars, maxChars }) => sum + chars - maxChars, 0)
        expect(freed).toBeLessThanOrEqual(reducibleChars)
        const applied = applyPlan(messages as readonly unknown[], plan)
        expect(applied).not.toBe(messages)
        const after = precheck({ ...asked, messages: applied })
        if (route === 'truncate_tool_results_only') expect(after.route).toBe('fits')
        else if (
          freed === reducibleChars &&
          !lastUsage &&
          !messages.some((message) => shared.has(message as object))
        )
          expect(['fits', 'compact_only']).toContain(after.route)
        // A counter of the caller's is asked each time, so nothing that was remembered plays a
        // part.
        const countTokens = asked.countTokens ?? estimateTokens
        expect(precheck({ ...asked, messages: applied, countTokens })).toEqual(after)
      }),
      { numRuns: 500 },
    )
    // Few runs may miss a rare one.
    if ([...routes.values()].reduce((sum, count) => sum + count) < 500) return
    for (const route of ['fits', 'compact_only', 'truncate_tool_results_only', 'compact_then_truncate'])
      expect(routes.get(route)).toBeGreaterThan(5)
  })

  it('with prices, the cheaper plan is taken of those that help as much', () => {
    const prices = fc.record({ write: fc.constantFrom(1, 1.25, 2), read: fc.constantFrom(0, 0.1, 1) })
    fc.assert(
      fc.property(messages, inputs, prices, (messages, input, prices) => {
        const { aggregate: { order: _, ...aggregate } = {}, ...rest } = input as Omit<
          PrecheckInput,
          'messages'
        >
        const asked = { ...rest, messages }
        const { price, ...checked } = precheck({ ...asked, aggregate, prices })
        const each = (['oldest', 'newest'] as const).map((order) => {
          const { price, ...found } = precheck({ ...asked, aggregate: { ...aggregate, order }, prices })
          expect(precheck({ ...asked, aggregate: { ...aggregate, order } })).toEqual(found)
          return { price: price as number, found }
        })
        expect(each.map(({ found }) => found)).toContainEqual(checked)
        const [oldest] = each
        const helpful = each.filter(({ found }) => found.route === oldest?.found.route)
        expect(price).toBe(Math.min(...helpful.map(({ price }) => price)))
      }),
      { numRuns: 500 },
    )
  })

  it('no more is cut than it takes', () => {
    const sizes = fc.array(fc.tuple(fc.nat(9_000), fc.boolean()), { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1_500, max: 9_000 }), (sizes, contextTokens) => {
        const messages = sizes.flatMap(([chars, last], at) => [
          tool('x'.repeat(chars), `${at}`),
          ...(last ? [answer] : []),
        ])
        const asked = plain({
          messages,
          contextTokens,
          perResultMaxChars: 9_000,
          aggregate: { maxChars: 90_000 },
        })
        const { route, plan } = precheck(asked)
        fc.pre(route === 'truncate_tool_results_only')
        expect(precheck({ ...asked, messages: applyPlan(messages, plan) }).overflowTokens).toBe(0)
        // Tokens are whole: of eight chars more one token at least is too many.
        const more = plan.map((step) => ({ ...step, maxChars: Math.min(step.chars, step.maxChars + 8) }))
        expect(precheck({ ...asked, messages: applyPlan(messages, more) }).overflowTokens).toBeGreaterThan(0)
      }),
    )
  })

  it('does not throw, whatever stands in the place of messages', () => {
    const cyclic: unknown[] = [{ role: 'assistant', content: [] }]
    ;(cyclic[0] as { content: unknown[] }).content.push(cyclic, cyclic[0])
    const angry = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
        ownKeys: () => {
          throw new Error('no')
        },
      },
    )
    const deep = JSON.parse(`${'['.repeat(3_000)}${']'.repeat(3_000)}`) as unknown
    let wide: unknown = 'x'
    for (let at = 0; at < 40; at++) wide = [wide, wide]
    const args = { self: {} as unknown, big: 5n, at: new Date(0), map: new Map([[1, 2]]) }
    args.self = args
    const hostile = [
      ...cyclic,
      angry,
      [angry],
      { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'n', arguments: args }] },
      { role: 'user', content: deep },
      { role: 'user', content: wide },
      { role: 'tool', content: { toJSON: () => angry } },
      Object.create(null),
      Symbol('x'),
      () => 'x',
      5n,
    ]
    for (const contextTokens of [0, 5_000, 1e6]) {
      const { plan, estimatedTokens } = precheck({ messages: hostile, contextTokens, reserveTokens: 0 })
      expect(estimatedTokens).toBeGreaterThan(20)
      expect(applyPlan(hostile, plan)).toHaveLength(hostile.length)
    }
    fc.assert(
      fc.property(
        fc.array(fc.anything({ withBigInt: true, withMap: true, withNullPrototype: true })),
        (messages) => {
          const { plan } = precheck({ messages, contextTokens: 10, reserveTokens: 0 })
          expect(applyPlan(messages, plan)).toHaveLength(messages.length)
        },
      ),
    )
  })
})

describe('the examples that OpenClaw is known by, with its four chars a token and its margin of 1.2', () => {
  const check = (lengths: readonly number[], input: Partial<PrecheckInput>) =>
    precheck(
      plain({
        messages: lengths.map((length, at) => tool('x'.repeat(length), `c${at}`)),
        prompt: 'hello',
        safetyMargin: 1.2,
        countTokens: (text) => Math.ceil(text.length / 4),
        aggregate: { protectNewest: false },
        ...input,
      }),
    )

  // The estimate is 27 to 73 tokens more: the marks about messages, blocks and calls count. What
  // goes of a result is all but its notice; OpenClaw counts down to its caps alone. In comments its
  // route, tokens and reducible chars.
  it.each([
    // truncate_tool_results_only, 13503, 29040
    [[45_000], 13_303, 'truncate_tool_results_only', 13_530, 44_963, [15_960]],
    // truncate_tool_results_only, 150003, 460000
    [[500_000], 128_000, 'truncate_tool_results_only', 150_030, 499_962, [32_000]],
    // fits, 16743, 15800
    [[18_600, 18_600, 18_600], 128_000, 'fits', 16_816, 55_689, []],
    // compact_then_truncate, 164403, 509600: half as much again has to be free as is over.
    [
      [500_000, 24_000, 24_000],
      32_000,
      'truncate_tool_results_only',
      164_476,
      547_888,
      [16_000, 16_000, 16_000],
    ],
    // compact_then_truncate, 21603, 60000
    [[24_000, 24_000, 24_000], 10_000, 'truncate_tool_results_only', 21_676, 71_889, [9_080, 12_000, 12_000]],
    // truncate_tool_results_only, 5553, 13460
    [[12_000, 6_500], 4_200, 'truncate_tool_results_only', 5_603, 18_427, [5_040, 5_040]],
  ] as const)('%j in a window of %d: %s', (lengths, contextTokens, route, estimated, reducible, plan) => {
    const checked = check(lengths, { contextTokens })
    expect(checked).toMatchObject({ route, estimatedTokens: estimated, reducibleChars: reducible })
    expect(checked.overflowTokens).toBe(Math.max(0, estimated - contextTokens))
    expect(left(checked.plan)).toEqual(plan)
  })

  it('counts a system prompt, which OpenClaw 4.10 does not: 2 tokens and "fits"', () => {
    const input = { systemPrompt: 's'.repeat(400_000), prompt: 'hi', contextTokens: 50_000 }
    expect(check([], input)).toMatchObject({ route: 'compact_only', estimatedTokens: 120_011 })
  })
})

it('measures parts that a message shares once, however often they occur', () => {
  const messageOf = (levels: number) => {
    let input: unknown = ['a']
    for (let level = 0; level < levels; level++) input = [input, input]
    return { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'x', input: { input } }] }
  }
  const bytesOf = (levels: number) => {
    const messages = [messageOf(levels)]
    const checked = precheck({ messages, contextTokens: 1_000, reserveTokens: 1, maxRequestBytes: 1 })
    return checked.requestBytes as number
  }
  const own = Buffer.byteLength(JSON.stringify([messageOf(10)]))
  expect(bytesOf(10)).toBeGreaterThanOrEqual(own)
  expect(bytesOf(10)).toBeLessThan(2 * own)
  expect(bytesOf(60)).toBeGreaterThan(bytesOf(10))
})

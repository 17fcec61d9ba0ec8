// biome-ignore-all lint/suspicious/noExplicitAny: hostile values
import { clampMessages, clampResult, wrapTool, wrapTools } from 'spillway'
import { truncateOversizedToolResultsInMessages, truncateToolResultMessage } from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'

const BIG = 'a line of output\n'.repeat(300_000)
const size = (value: any) => (typeof value === 'string' ? value : JSON.stringify(value)).length
const text = (text: string) => ({ type: 'text', text })

describe('near misses switch the limit of wrapTool off', () => {
  const files = Array.from({ length: 500 }, (_, i) => ({
    type: 'file',
    name: `f${i}`,
    path: `src/f${i}`,
    sha: 'a'.repeat(40),
    url: 'x'.repeat(150),
  }))
  it.each<[string, unknown]>([
    ['GitHub contents: [{type: file}]', files],
    ['search hits: [{type: image}]', [{ type: 'image', url: 'u', description: BIG }]],
    ['one block among rows', [text('a'), { rows: BIG }]],
    ['Notion rich text', [{ type: 'text', text: { content: BIG }, plain_text: BIG }]],
    ['a form field', { type: 'text', value: { a: BIG } }],
    ['a CMS entry', { type: 'content', value: BIG }],
    ['a logged tool_result', { type: 'tool_result', result: BIG }],
    ['GraphQL', { toolResult: { rows: BIG } }],
    ['a member of a team', { role: 'tool', notes: BIG }],
  ])('%s', (_, value) => {
    expect(size(wrapTool(() => value)())).toBeLessThanOrEqual(51_200)
  })
})

it('a Pi result without content stays a result', () => {
  const result = { content: [], details: { diff: BIG } }
  expect(wrapTool(() => result)()).toHaveProperty('content')
})

it.each<[string, object]>([
  ['an object', { rows: 1 }],
  ['a list', ['short']],
])('%s of few words that has its JSON from a hidden method', { tags: 'long' }, (_, value) => {
  const returned = Object.defineProperty(value, 'toJSON', { value: () => ({ rows: BIG }) })
  expect(size(wrapTool(() => returned)())).toBeLessThanOrEqual(51_200)
  expect(size(wrapTool(() => ({ held: returned }))())).toBeLessThanOrEqual(51_200)
})

describe('a graph of a few objects', () => {
  const graph = (n: number) => {
    const people: any[] = Array.from({ length: n }, (_, id) => ({ id }))
    for (const one of people) one.friends = people.filter((other) => other !== one)
    return { people }
  }
  it('is walked once', () => {
    const details = graph(12)
    const result = clampResult({ role: 'toolResult', content: [text('x')], details }, { sideData: 'cap' })
    expect(size(result)).toBeLessThan(9_000)
  })
  it('does not grow', () => {
    expect(size(wrapTool(() => graph(6))())).toBeLessThan(5_000)
  })
})

describe('a named dialect', () => {
  it.each([
    ['openai-chat', { role: 'user', content: BIG }],
    ['openai-chat', { role: 'system', content: BIG }],
    ['pi', { role: 'assistant', content: [text(BIG)] }],
    ['anthropic', { role: 'user', content: [text(BIG)] }],
  ] as const)('%s leaves what is not a tool result', (dialect, message) => {
    const messages = [message]
    expect(clampMessages(messages, { dialect }).messages).toBe(messages)
  })
})

it('Mastra sends modelOutput to the model', () => {
  const message = {
    role: 'assistant',
    content: {
      format: 2,
      parts: [
        {
          type: 'tool-invocation',
          toolInvocation: { state: 'result', toolCallId: 'c', toolName: 't', args: {}, result: 'short' },
          providerMetadata: { mastra: { modelOutput: { type: 'text', value: BIG } } },
        },
      ],
    },
  }
  expect(size(clampMessages([message]).messages)).toBeLessThan(60_000)
})

it('an image in an MCP result inside of Mastra or a UI message stays', () => {
  const image = { type: 'image', data: 'A'.repeat(100_000), mimeType: 'image/png' }
  const part = {
    type: 'tool-t',
    toolCallId: 'c',
    state: 'output-available',
    input: {},
    output: { content: [text('small'), image] },
  }
  expect((clampResult(part).output.content as any)?.[1]).toBe(image)
})

it('a lone surrogate in a history that fits (G2)', () => {
  const messages = [{ role: 'toolResult', content: [text('\ud83d')] }]
  const [made] = truncateOversizedToolResultsInMessages(messages, 100_000).messages
  expect(made?.content[0]?.text.isWellFormed()).toBe(true)
})

it('OpenClaw cuts tool results alone', () => {
  const message = { role: 'assistant', content: [text(BIG)] }
  expect(truncateToolResultMessage(message, 1_000)).toBe(message)
})

it('OpenClaw reads histories with holes', () => {
  const messages: any[] = []
  messages[1] = { role: 'toolResult', content: [text(BIG)] }
  expect(() => truncateOversizedToolResultsInMessages(messages, 1_000)).not.toThrow()
})

it('wrapTools takes tools that run elsewhere', () => {
  const ask = { description: 'asked of the user in the browser', inputSchema: {} }
  expect(wrapTools({ ask, run: { execute: () => '' } }).ask).toBe(ask)
})

describe('a Command', () => {
  const message = { type: 'tool', tool_call_id: '1', content: BIG }
  it.each<[string, object]>([
    ['with one message', { messages: message }],
    ['with pairs', [['messages', [message]]]],
  ])('%s', (_, update) => {
    expect(size(wrapTool(() => ({ lg_name: 'Command', update }))())).toBeLessThan(60_000)
  })
})

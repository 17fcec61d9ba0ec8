import {
  applyPlan,
  clampError,
  clampJson,
  clampJsonWithReport,
  clampMessages,
  clampResult,
  clampText,
  clampTextWithReport,
  createSpillStore,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { ALL, reaching } from '../../lib/options.js'

const rows = Array.from({ length: 90 }, (_, row) => ({ row, note: 'n'.repeat(20), kind: 'stone' }))
const table = { rows, last: 'z'.repeat(200) }
/** Each step has a name of its own, so none is odd. */
const LETTERS = 'abcdefghij'
const log = [
  'start',
  'same',
  'same',
  'same',
  ...Array.from({ length: 200 }, (_, at) => `line ${at} of the log, sand`),
  'error: disk full',
  `api_key = "${'sk-ant-api03-'}${'aB3dE6gH9j'.repeat(9)}AA"`,
  'w'.repeat(300),
  ...Array.from(
    { length: 100 },
    (_, at) =>
      `step ${at === 42 ? 'granite' : `stone${LETTERS[at % 10]}${LETTERS[Math.floor(at / 10)]}`} is done`,
  ),
].join('\n')
const image = { type: 'image', data: `iVBORw0KGgo${'A'.repeat(2_000)}`, mimeType: 'image/png' }
const content = [{ type: 'text', text: log }, { type: 'text', text: JSON.stringify(table) }, image]
const result = { content, structuredContent: table }
const alone = { content: content.slice(1, 2) }
const message = { role: 'toolResult', toolCallId: 'c', toolName: 't', details: table, ...result }
const second = { role: 'toolResult', toolCallId: 'd', toolName: 't', ...alone }

/** The result of each function under a policy. */
const runs: Record<string, (policy: object) => unknown> = {
  clampText: (policy) => clampText(log, policy),
  clampTextWithReport: (policy) => clampTextWithReport(log, policy),
  clampJson: (policy) => [clampJson(log, policy), clampJson(table, policy)],
  clampJsonWithReport: (policy) => [clampJsonWithReport(log, policy), clampJsonWithReport(table, policy)],
  clampError: (policy) => [
    clampError(new Error(log), policy).message,
    clampError(message, policy),
    clampError(alone, policy),
  ],
  clampResult: (policy) => [clampResult(result, policy), clampResult(alone, policy)],
  clampMessages: (policy) => clampMessages([message, second], policy),
  applyPlan: (policy) => {
    const json = JSON.stringify(table).length
    const plan = [
      { index: 0, callId: 'c', chars: log.length + json, maxChars: 4_000 },
      { index: 1, callId: 'd', chars: json, maxChars: 3_000 },
    ]
    return applyPlan([message, second], plan, policy)
  },
  wrapTool: (policy) => {
    const tool = wrapTool({ name: 'find', execute: () => result, other: () => result }, policy)
    return [tool.execute(), tool.other(), wrapTool(() => alone, { ...policy, method: undefined })()]
  },
}

const tight = { maxBytes: 900, keep: 'head' }
let events = 0

/** For each option, a policy and a change of it that shows where the option counts. */
const changes: Record<string, readonly [policy: object, change: object]> = {
  maxBytes: [{}, { maxBytes: 700 }],
  maxLines: [{}, { maxLines: 9 }],
  maxChars: [{}, { maxChars: 700 }],
  maxTokens: [{}, { maxTokens: 200 }],
  maxLineBytes: [{}, { maxLineBytes: 90 }],
  keep: [tight, { keep: 'tail' }],
  headShare: [{ maxBytes: 900, keep: 'ends' }, { headShare: 0.1 }],
  needles: [{ maxBytes: 900, keep: 'findings' }, { needles: ['line 150 '] }],
  query: [{ maxBytes: 900, keep: 'relevant', query: false }, { query: 'granite' }],
  isError: [{ maxBytes: 900, keep: 'auto', query: false }, { isError: true }],
  snap: [tight, { snap: 'char' }],
  notice: [tight, { notice: 'count' }],
  source: [{ ...tight, notice: '[{source} {omittedLines}]' }, { source: 'stdout' }],
  clean: [{}, { clean: true }],
  redact: [{}, { redact: true }],
  share: [tight, { share: 'order' }],
  dialect: [tight, { dialect: 'openai-chat' }],
  sideData: [{}, { sideData: 'drop' }],
  structured: [{}, { structured: 'text' }],
  json: [tight, { json: 'keep-shape' }],
  schema: [
    { maxBytes: 400, json: 'keep-shape' },
    { schema: { required: ['last'], properties: { last: { const: table.last } } } },
  ],
  media: [{}, { media: { maxItems: 0 } }],
  aggregate: [{}, { aggregate: { maxChars: 3_000, protectNewest: false } }],
  explain: [tight, { explain: true }],
  method: [tight, { method: 'other' }],
  observe: [tight, { observe: true }],
}

const names = [...new Set(ALL.flatMap(reaching))]

describe.each(ALL)('%s', (name) => {
  it.each(Object.keys(changes))('is reached by %s if the table says so', (option) => {
    const [policy, change] = changes[option] as (typeof changes)[string]
    const run = (given: object) => JSON.stringify(runs[name]?.(given))
    const isReached = run(policy) !== run({ ...policy, ...change })
    expect(isReached).toBe(reaching(name).includes(option))
  })

  it('calls a listener and saves if the table says so', async () => {
    events = 0
    let saves = 0
    const spill = { ...createSpillStore({ dir: '.' }), save: async () => Promise.reject(++saves) }
    const policy = { ...tight, onClamp: () => events++, spill }
    if (name === 'wrapTool') await wrapTool(async () => result, policy as object)()
    else runs[name]?.(policy)
    const row = reaching(name)
    expect([events > 0, saves > 0]).toEqual([row.includes('onClamp'), row.includes('spill')])
  })
})

it('each option has a change that shows it', () => {
  expect([...Object.keys(changes), 'onClamp', 'spill'].sort()).toEqual([...names].sort())
})

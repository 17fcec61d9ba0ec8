import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  clampJson,
  clampMessages,
  clampResult,
  createSpillStore,
  type ResultPolicy,
  repairSession,
  wrapTool,
} from 'spillway'
import { describe, expect, it, test } from 'vitest'
import { spillway, write } from '../support/cli.js'
import { foreignLine } from '../support/cut_strings.js'
import { hostileText } from '../support/hostile.js'

const ERROR = 'src/ledger.ts:3:14 - error TS2304: Cannot find name total'
const HINT = '[tool output truncated: '

/** Lines of a build in which one tells of a failure. */
const log = (lines: number, at: number) =>
  Array.from({ length: lines }, (_, line) =>
    line === at ? ERROR : `compiled module ${line} of the app`,
  ).join('\n')

const quiet = log(4_000, -1)

/** Values that hold each other, with small talk beside each. */
const nested = (levels: number, innermost: unknown) =>
  Array.from({ length: levels }, (_, level) => level).reduce(
    (child: unknown, level) => ({
      level,
      note: 'this went as well as it did before '.repeat(8),
      child,
      others: Array.from({ length: 50 }, (_, id) => `part ${id} of level ${level} is there`),
    }),
    innermost,
  )

const FORMS: [string, unknown][] = [
  ['thirty levels down', nested(30, { log: log(2_000, 1_200) })],
  [
    'in a row of values',
    Array.from({ length: 3_000 }, (_, id) => [
      id,
      id === 1_900 ? ERROR : `entry ${id} is done by a worker`,
      false,
    ]),
  ],
  [
    'in a list of lists of lists',
    [
      Array.from({ length: 60 }, (_, at) =>
        Array.from({ length: 50 }, (_, id) => [
          id,
          at === 37 && id === 30 ? ERROR : `entry ${id} is done by a worker`,
        ]),
      ),
    ],
  ],
  [
    'beside long names',
    Object.fromEntries(
      Array.from({ length: 20 }, (_, id) => [`${'name '.repeat(400)}${id}`, log(100, id === 13 ? 60 : -1)]),
    ),
  ],
  ['in JSON in a member', { status: 200, body: JSON.stringify({ log: log(9_000, 5_000) }) }],
  [
    'beside base64',
    { image: 'iVBORw0K'.repeat(9_000), log: log(9_000, 5_000), more: 'AAAAHGZ0'.repeat(900) },
  ],
  ['in stdout', { exitCode: 1, stdout: log(20_000, 11_000), stderr: '' }],
  ['in stdout, untold', { stdout: log(20_000, 11_000), stderr: '' }],
  ['three levels down', { job: { steps: { build: { output: log(20_000, 9_000), took: 12 } } } }],
  ['in the third of five strings', { a: quiet, b: quiet, c: log(4_000, 2_100), d: quiet, e: quiet }],
  [
    'in an element of 5,000',
    Array.from({ length: 5_000 }, (_, id) => ({
      id,
      name: `step-${id}`,
      message: id === 3_100 ? ERROR : 'done',
    })),
  ],
  [
    'in the log of an element',
    { steps: Array.from({ length: 300 }, (_, id) => ({ id, log: log(60, id === 170 ? 30 : -1) })) },
  ],
  [
    'in a member of 2,000',
    Object.fromEntries(
      Array.from({ length: 2_000 }, (_, id) => [`file${id}.ts`, id === 900 ? ERROR : 'ok '.repeat(9)]),
    ),
  ],
]

/** The text that a model gets of a value, as JSON. */
const DOORS: [string, (value: unknown, policy: ResultPolicy) => unknown][] = [
  ['clampResult', (value, policy) => clampResult(value, policy)],
  ['a text', (value, policy) => JSON.parse(clampResult(JSON.stringify(value), policy))],
  ['an indented text', (value, policy) => JSON.parse(clampResult(JSON.stringify(value, null, 2), policy))],
  [
    'a block',
    (value, policy) => {
      const given = { content: [{ type: 'text', text: JSON.stringify(value) }] }
      return JSON.parse(clampResult(given, policy).content[0]?.text ?? '')
    },
  ],
  ['wrapTool', (value, policy) => wrapTool({ name: 'run', execute: () => value }, policy).execute()],
  [
    'the AI SDK',
    (value, policy) => {
      const tool = wrapTool({ inputSchema: {}, execute: () => value }, policy) as unknown as {
        toModelOutput: (call: object) => { type: string; value: unknown }
      }
      const sent = tool.toModelOutput({ toolCallId: 'c', input: {}, output: value })
      expect(sent.type).toBe('json')
      return sent.value
    },
  ],
  [
    'messages',
    (value, policy) => {
      const output = { type: 'json', value }
      const part = { type: 'tool-result', toolCallId: 'c', toolName: 'run', output }
      const [message] = clampMessages([{ role: 'tool', content: [part] }], {
        ...policy,
        notice: 'hint',
      }).messages
      expect(message?.content[0]?.output.type).toBe('json')
      return message?.content[0]?.output.value
    },
  ],
]

/** A server that answers each call with one result. */
const SERVER = (result: object) => `
const lines = require('node:readline').createInterface({ input: process.stdin })
lines.on('line', (line) => {
  const { id } = JSON.parse(line)
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: ${JSON.stringify(result)} }) + '\\n')
})
`

describe.each(FORMS)('one line of failure %s', (_, value) => {
  it.each(DOORS)('stays in valid JSON by %s', { tags: 'long' }, (_, door) => {
    for (const maxChars of [4_000, 8_000, 51_200]) {
      const made = JSON.stringify(door(value, { maxChars }))
      expect(made.length).toBeLessThanOrEqual(maxChars)
      expect(made).toContain('TS2304')
      expect(made).toContain(HINT)
    }
  })

  it('stays in a block that a hook of Claude Code gives back', { tags: 'long' }, async () => {
    const input = JSON.stringify({
      session_id: 's',
      hook_event_name: 'PostToolUse',
      tool_name: 'mcp__some__tool',
      tool_input: {},
      tool_use_id: 'call_1',
      tool_response: [{ type: 'text', text: JSON.stringify(value) }],
    })
    const { stdout } = await spillway(['hook', 'claude-code', '--max-chars', '8000'], { input })
    const [{ text }] = JSON.parse(stdout).hookSpecificOutput.updatedToolOutput
    expect(text.length).toBeLessThanOrEqual(8_000)
    expect(JSON.stringify(JSON.parse(text))).toContain('TS2304')
  })

  it('stays in an answer that a proxy passes on', { tags: 'long' }, async () => {
    const result = { content: [{ type: 'text', text: JSON.stringify(value) }] }
    const server = write('data_server.js', SERVER(result))
    const input = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 't', arguments: {} } })}\n`
    const { stdout } = await spillway(['mcp', '--max-chars', '8000', '--', process.execPath, server], {
      input,
    })
    const answer = stdout
      .split('\n')
      .map((line) => JSON.parse(line || '{}'))
      .find(({ id }) => id === 1)
    const [{ text }] = answer.result.content
    expect(text.length).toBeLessThanOrEqual(8_000)
    expect(JSON.stringify(JSON.parse(text))).toContain('TS2304')
  })

  it('stays in a stored session', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-data-'))
    const path = join(dir, 'session.jsonl')
    const output = JSON.stringify(value)
    const rows = [
      { role: 'user', content: 'run it' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: output },
    ]
    writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    await repairSession(path, { maxChars: 8_000, notice: 'hint', query: false, backup: false })
    const [, , result] = readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row))
    expect(result.content.length).toBeLessThanOrEqual(8_000)
    expect(JSON.stringify(JSON.parse(result.content))).toContain('TS2304')
    // The engine and the package agree.
    expect(result.content).toBe(clampResult(output, { maxChars: 8_000 }))
    rmSync(dir, { recursive: true, force: true })
  })
})

test('rows of JSON keep the row of failure, whole', () => {
  const rows = Array.from({ length: 5_000 }, (_, id) => JSON.stringify({ id, level: 'info', msg: 'served' }))
  rows[3_100] = JSON.stringify({ id: 3_100, level: 'error', msg: ERROR })
  for (const maxChars of [4_000, 8_000, 51_200]) {
    const lines = clampResult(rows.join('\n'), { maxChars }).split('\n')
    expect(lines).toContain(rows[3_100])
    for (const line of lines) if (line.startsWith('{')) JSON.parse(line)
  }
})

test('strings that tell get room of those that do not', () => {
  const value = { out: log(3_000, -1), more: log(3_000, -1), err: `${log(40, 20)}\n`.repeat(40) }
  const made = clampResult(value, { maxChars: 6_000 })
  expect(made.err.length).toBeGreaterThan(2 * made.out.length)
})

test('the question and needles choose records, each with its name', () => {
  const items = Array.from({ length: 900 }, (_, id) => ({
    name: `pod-${id}`,
    application: { id: id * 7, name: id === 512 ? 'ferrypay' : `app ${id % 9}` },
    phase: id === 77 ? 'Evicted' : 'Running',
  }))
  for (const [options, name] of [
    [{ query: 'which one belongs to ferrypay?' }, 'pod-512'],
    [{ needles: ['ferrypay'] }, 'pod-512'],
    [{}, 'pod-77'],
  ] as const) {
    const made = clampResult({ items }, { maxChars: 4_000, ...options })
    expect(made.items.map(({ name }) => name)).toEqual(expect.arrayContaining(['pod-0', name, 'pod-899']))
  }
})

test('the notice names the saved output and says how much is missing', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-data-'))
  const spill = createSpillStore({ dir, reference: 'id' })
  const value = { exitCode: 1, rows: Array.from({ length: 900 }, (_, id) => ({ id, title: `Issue ${id}` })) }
  const tool = wrapTool({ name: 'find', execute: async () => value as object }, { maxChars: 4_000, spill })
  const made = (await tool.execute()) as Record<string, string>
  const [record] = await spill.list()
  const said = made['[...]'] ?? ''
  expect(said).toMatch(
    /^\[tool output truncated: [\d,]+ of [\d,]+ chars omitted with \d+ elements \(limit 4,000 chars\); /,
  )
  expect(said).toContain(`full output saved as ${record?.id}`)
  // A later cut of what is left names it as well.
  const again = clampResult(made, { maxChars: 2_000 })
  expect(again['[...]']).toContain(`full output saved as ${record?.id}`)
  expect(Object.keys(again).filter((name) => name.startsWith('[.'))).toHaveLength(1)
  rmSync(dir, { recursive: true, force: true })
})

test('a notice may be in the words of the caller, or missing', () => {
  const rows = Array.from({ length: 900 }, (_, id) => ({ id }))
  const last = (policy: ResultPolicy) => clampResult<unknown[]>(rows, { maxBytes: 600, ...policy }).at(-1)
  expect(last({ notice: ({ totalChars }) => `less than ${totalChars}` })).toBe(
    `less than ${JSON.stringify(rows).length}`,
  )
  expect(last({ notice: 'cut {totalBytes}' })).toBe(`cut ${JSON.stringify(rows).length}`)
  expect(last({ notice: false })).toEqual({ id: 899 })
  expect(last({ schema: { items: { type: 'object' } } })).toEqual({ id: 899 })
  expect(last({ json: 'keep-shape' })).toEqual({ id: 899 })
  expect(clampResult<unknown>(rows, { maxBytes: 600, json: 'text' })).toMatch(/truncated/)
})

const data = fc.oneof(
  fc.array(fc.jsonValue({ maxDepth: 3 }), { maxLength: 40 }),
  fc.array(fc.record({ id: fc.nat(), text: hostileText, state: fc.constantFrom('done', 'failed') }), {
    maxLength: 30,
  }),
  fc.dictionary(fc.string({ maxLength: 8 }), fc.oneof(hostileText, fc.jsonValue({ maxDepth: 2 })), {
    maxKeys: 12,
  }),
  hostileText.map((text) => ({ text, list: [text, 1, { text }], '[...]': text })),
)

/** Checks that a value is a cut of another: members of it, strings of its lines. */
function expectCut(made: unknown, given: unknown): void {
  if (typeof made === 'string' && typeof given === 'string') {
    if (made !== given) expect(foreignLine(made, given)).toBeUndefined()
  } else if (Array.isArray(made) && Array.isArray(given)) {
    expect(made.length).toBeLessThanOrEqual(given.length + 1)
  } else if (typeof made === 'object' && made !== null && !Array.isArray(made)) {
    for (const [name, member] of Object.entries(made)) {
      const own = (given as Record<string, unknown>)[name]
      if (own !== undefined && name !== '[...]') expectCut(member, own)
    }
  } else expect(made).toEqual(given)
}

test('any value within any limit is valid JSON of its parts', () => {
  fc.assert(
    fc.property(
      data,
      fc.integer({ min: 1, max: 3_000 }),
      fc.constantFrom('maxBytes', 'maxChars', 'maxTokens'),
      fc.constantFrom<Partial<ResultPolicy>>(
        {},
        { isError: true },
        { notice: false },
        { query: ['error key'] },
      ),
      (value, limit, unit, more) => {
        const policy: ResultPolicy = { [unit]: limit, ...more }
        const given = JSON.parse(JSON.stringify(value).replace(/\\ud[89a-f]../g, '?'))
        const text = JSON.stringify(given)
        const made = clampResult(text, policy)
        if (unit === 'maxBytes') expect(Buffer.byteLength(made)).toBeLessThanOrEqual(limit)
        if (unit === 'maxChars') expect(made.length).toBeLessThanOrEqual(limit)
        expect(clampResult(made, policy)).toBe(made)
        const shaped = clampJson(text, policy)
        expectCut(
          JSON.parse(shaped === '' ? '""' : shaped),
          shaped.length > 2 ? given : JSON.parse(shaped || '""'),
        )
        if (limit >= 400 && made !== text) expectCut(JSON.parse(made), given)
        const left = clampResult<unknown>(given, policy)
        expect(clampResult(left, policy)).toEqual(left)
      },
    ),
    { numRuns: 1_000 },
  )
})

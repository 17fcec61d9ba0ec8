import { execFileSync, spawnSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  applyPlan,
  type ClampEvent,
  clampError,
  clampMessages,
  clampResult,
  clampResultAsync,
  clearToolResults,
  createContext,
  guardSession,
  logEvents,
  precheck,
  runWithRecovery,
  type SpillStore,
  type WrapPolicy,
  wrapTool,
} from 'spillway'
import { spillwayHooks } from 'spillway/claude-agent'
import { wrapServer } from 'spillway/mcp'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { samples } from '../support/samples.js'

/** A secret as a command prints one. */
const NAMED = 'API_TOKEN=q7Wm2Zx9Kd4Vt8Rb1Ls6'

/** A store that nothing may be saved in. */
const store = { reference: 'id', save: () => Promise.reject(new Error('saved')) } as unknown as SpillStore

async function heardOf(work: () => unknown): Promise<{ events: ClampEvent[]; made: unknown }> {
  const events: ClampEvent[] = []
  const hear = (event: unknown) => events.push(event as ClampEvent)
  subscribe('spillway:clamp', hear)
  try {
    return { made: await work(), events }
  } finally {
    unsubscribe('spillway:clamp', hear)
  }
}

/** The history around a result. */
const history = (result: object) => [
  { role: 'user', content: 'go on' },
  { role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 't', arguments: {} }] },
  result,
]

/** Every door that takes a result and a policy, and returns the result. */
const doors: Record<string, (result: object, policy: WrapPolicy) => unknown> = {
  clampResult: (result, policy) => clampResult(result, policy),
  clampResultAsync: (result, policy) => clampResultAsync(result, policy),
  wrapTool: (result, policy) => wrapTool({ name: 't', execute: () => result }, policy).execute(),
  'wrapTool later': (result, policy) =>
    wrapTool({ name: 't', execute: async () => result }, { ...policy, spill: store }).execute(),
  'wrapTool thrown': (result, policy) =>
    wrapTool(() => Promise.reject(result), policy)().catch((error: unknown) => error),
  clampError: (result, policy) => clampError(result, policy),
  clampMessages: (result, policy) =>
    clampMessages(history(result), { ...policy, aggregate: { maxChars: 500 } }).messages[2],
  applyPlan: (result, policy) => {
    const { plan } = precheck({ messages: history(result), contextTokens: 500, reserveTokens: 0 })
    return applyPlan(history(result), plan, policy)[2]
  },
  guardSession: (result, policy) => {
    const rows: unknown[] = []
    const manager = { appendMessage: (row: unknown) => rows.push(row) }
    guardSession(manager, policy)
    manager.appendMessage(result)
    return rows[0]
  },
}

describe('a door that observes', () => {
  it.each(Object.keys(doors))('%s hands back the value itself, unchanged, whatever it is', async (name) => {
    const door = doors[name] as (typeof doors)[string]
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...samples),
        fc.oneof(hostileText, fc.constant(`${NAMED}\n${'one more line\n'.repeat(500)}`)),
        fc.record({ redact: fc.boolean(), clean: fc.boolean(), inPlace: fc.constant(true) }),
        async ({ make }, text, { redact, clean }) => {
          const value = make(text)
          const before = structuredClone(value)
          const policy = { maxChars: 300, redact, clean, observe: true } as const
          const { made, events } = await heardOf(() => door(value, policy))
          expect(made).toBe(value)
          expect(value).toEqual(before)
          for (const event of events) expect(event).toMatchObject({ applied: false })
        },
      ),
      { numRuns: 400 },
    )
  })

  it.each(
    Object.keys(doors).filter((name) => !/thrown|Error/.test(name)),
  )('%s reports what it would have done', async (name) => {
    const door = doors[name] as (typeof doors)[string]
    for (const { make } of samples) {
      const text = `${NAMED}\n${'one more line\n'.repeat(500)}`
      const policy = { maxChars: 300, redact: true }
      const acted = await heardOf(() => door(make(text), policy))
      const observed = await heardOf(() => door(make(text), { ...policy, observe: true }))
      const without = acted.events.map(({ saved: _, ...event }) => ({ ...event, applied: false as const }))
      // The notice of a result that could not be saved takes room.
      const expected = name === 'wrapTool later' ? without.map(kindOf) : without
      expect(name === 'wrapTool later' ? observed.events.map(kindOf) : observed.events).toEqual(expected)
    }
  })

  it('changes no error, and reports its message', async () => {
    const error = new Error(`${NAMED}\n${'x'.repeat(5_000)}`, { cause: new Error('y'.repeat(5_000)) })
    const [{ message, stack }, { cause }] = [error, error]
    const { made, events } = await heardOf(() =>
      clampError(error, { maxChars: 300, redact: true, observe: true }),
    )
    expect(made).toBe(error)
    expect(error).toMatchObject({ message, stack })
    expect((error.cause as Error).message).toBe((cause as Error).message)
    expect(events.map(kindOf)).toEqual([
      ['cut', 'limits', false],
      ['redacted', 'secret', false],
    ])
  })

  it('cuts where one of two wrappers is meant to', () => {
    const watched = wrapTool(() => 'x'.repeat(900), { maxChars: 300, observe: true })
    expect(watched()).toHaveLength(900)
    expect(wrapTool(watched, { maxChars: 500 })().length).toBeLessThanOrEqual(300)
    expect(wrapTool(watched, { maxChars: 500, observe: true })()).toHaveLength(900)
  })
})

function kindOf({ action, reason, applied }: ClampEvent) {
  return [action, reason, applied]
}

describe('events', () => {
  it('count secrets by kind, and not those of an earlier redaction', async () => {
    const text = `${NAMED}\nBearer of news\n[redacted: password]\n`
    const { events } = await heardOf(() =>
      wrapTool(
        { name: 'env', execute: (_callId: string, ..._: unknown[]) => text },
        { redact: true },
      ).execute('c1', {}, undefined, undefined),
    )
    expect(events).toMatchObject([
      { action: 'redacted', reason: 'secret', tool: 'env', callId: 'c1', exceeded: [] },
    ])
    expect(Object.values(events[0]?.redacted ?? {})).toEqual([1])
    expect(JSON.stringify(events)).not.toContain('q7Wm2Zx9')
    const message = {
      role: 'toolResult',
      toolCallId: 'c2',
      toolName: 'cat',
      content: [{ type: 'text', text }],
    }
    const told = await heardOf(() => clampMessages([message, message], { redact: true }))
    expect(told.events).toMatchObject([
      { action: 'redacted', tool: 'cat', callId: 'c2' },
      { action: 'redacted', tool: 'cat', callId: 'c2' },
    ])
  })

  it('tell of a stream that passes', async () => {
    const stream = new ReadableStream()
    const { made, events } = await heardOf(() => wrapTool({ name: 'tail', execute: () => stream }).execute())
    expect(made).toBe(stream)
    expect(events).toMatchObject([{ action: 'skipped', reason: 'stream', tool: 'tail' }])
  })

  it('become lines that no tool can break', async () => {
    const lines: string[] = []
    const stop = logEvents((line) => lines.push(line))
    const tool = { name: 'bash\nroot', execute: () => `${NAMED}\n${'one more line\n'.repeat(500)}` }
    wrapTool(tool, { maxChars: 300, redact: true, observe: true }).execute()
    stop()
    wrapTool(tool, { maxChars: 300 }).execute()
    expect(lines).toEqual([
      expect.stringMatching(
        /^spillway: bash\\nroot would be cut from 7,\d{3} chars to \d+ \(limits: chars\)$/,
      ),
      expect.stringMatching(/^spillway: bash\\nroot would be redacted \(1 [\w ]+\)$/),
    ])
    expect(() => logEvents('x' as never)).toThrow(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
  })
})

/** A history of calls whose results fill a small window. */
const long = Array.from({ length: 12 }, (_, at) => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [{ id: `c${at}`, type: 'function', function: { name: 'read', arguments: '{}' } }],
  },
  { role: 'tool', tool_call_id: `c${at}`, content: `${at} ${'word '.repeat(2_000)}` },
]).flat()

describe('a history that is only observed', () => {
  it('is not cleared, and each clearing is reported once, with its tool', async () => {
    const options = {
      trigger: { type: 'input_tokens', value: 5_000 },
      requestsToCome: 50,
      observe: true,
    } as const
    const first = await heardOf(() => clearToolResults(long, { ...options, spill: store }))
    const made = first.made as ReturnType<typeof clearToolResults>
    expect(made.messages).toBe(long)
    expect(made.cleared).toBe(first.events.length)
    expect(first.events.length).toBeGreaterThan(5)
    for (const event of first.events)
      expect(event).toMatchObject({ action: 'cleared', reason: 'prices', tool: 'read', applied: false })
    const again = await heardOf(() => clearToolResults(long, { ...options, state: made.state }))
    expect(again.events).toEqual([])
    const { observe: _, ...acting } = options
    expect(clearToolResults(long, { ...acting, state: made.state })).toEqual(clearToolResults(long, acting))
  })

  it('is sent as it is by a context, which says what it would do and does not ask again', async () => {
    const options = { contextTokens: 8_000, reserveTokens: 500, observe: true, spill: store }
    const context = createContext(options)
    const sent: unknown[] = []
    const refusal = new Error('prompt is too long: 30000 tokens > 8000 maximum')
    const { made, events } = await heardOf(() =>
      context
        .run(long, async (messages) => {
          sent.push(messages)
          throw refusal
        })
        .catch((error: unknown) => error),
    )
    expect(made).toBe(refusal)
    expect(sent).toEqual([long])
    expect(events.length).toBeGreaterThan(5)
    for (const event of events) expect(event).toMatchObject({ tool: 'read', applied: false })
    const acting = createContext({ ...options, observe: false, spill: undefined, state: context.state })
    const fresh = createContext({ contextTokens: 8_000, reserveTokens: 500 })
    expect(await acting.prepare(long)).toEqual(await fresh.prepare(long))
  })

  it('is sent once by recovery, which says the step that it would take', async () => {
    const steps: unknown[] = []
    const refusal = new Error('prompt is too long: 30000 tokens > 8000 maximum')
    let sends = 0
    const { made, events } = await heardOf(() =>
      runWithRecovery({
        contextTokens: 8_000,
        reserveTokens: 500,
        observe: true,
        messages: () => long,
        truncate: () => Promise.reject(new Error('truncated')),
        compact: () => Promise.reject(new Error('compacted')),
        send: async (messages) => {
          sends += 1
          expect(messages).toBe(long)
          throw refusal
        },
        onEvent: ({ type, applied }) => steps.push([type, applied]),
      }).catch((error: unknown) => error),
    )
    expect([made, sends]).toEqual([refusal, 1])
    expect(steps).toEqual([
      ['precheck', false],
      ['truncate', false],
    ])
    expect(events.length).toBeGreaterThan(0)
    for (const event of events)
      expect(event).toMatchObject({ action: 'cut', reason: 'budget', applied: false })
  })
})

it('an MCP server that is only observed answers as it did', async () => {
  const answer = { content: [{ type: 'text', text: 'one more line\n'.repeat(9_000) }] }
  const sent: unknown[] = []
  const transport = {
    onmessage: undefined as ((message: object) => void) | undefined,
    send: async (message: object) => void sent.push(message),
  }
  const server = {
    async connect(given: typeof transport) {
      given.onmessage = ({ id, method }: { id?: number; method?: string }) => {
        const result = method === 'tools/list' ? { tools: [{ name: 'log', inputSchema: {} }] } : answer
        void given.send({ jsonrpc: '2.0', id, result })
      }
    },
  }
  wrapServer(server as never, { maxChars: 300, spill: store, observe: true })
  await server.connect(transport)
  const { events } = await heardOf(async () => {
    for (const [id, method] of ['tools/list', 'tools/call'].entries())
      transport.onmessage?.({ jsonrpc: '2.0', id, method, params: { name: 'log', arguments: {} } })
    await expect.poll(() => sent.length).toBe(2)
  })
  expect(sent).toEqual([
    { jsonrpc: '2.0', id: 0, result: { tools: [{ name: 'log', inputSchema: {} }] } },
    { jsonrpc: '2.0', id: 1, result: answer },
  ])
  expect(events).toMatchObject([{ action: 'cut', tool: 'log', applied: false }])
})

it.each([
  {},
  { redact: true },
])('a hook of the Claude Agent SDK that only observes leaves a result: %j', async (more) => {
  const event = {
    hook_event_name: 'PostToolUse',
    tool_name: 'Bash',
    tool_input: { command: 'make' },
    tool_response: { stdout: `${NAMED}\n${'one more line\n'.repeat(9_000)}`, stderr: '', interrupted: false },
  }
  const ask = (policy: WrapPolicy) => spillwayHooks({ ...more, ...policy }).PostToolUse[0]?.hooks[0]?.(event)
  const acted = await heardOf(() => ask({}))
  expect(acted.made).toHaveProperty('hookSpecificOutput.updatedToolOutput.stdout')
  const { made, events } = await heardOf(() => ask({ observe: true, spill: store }))
  expect(made).toEqual({})
  expect(events).toEqual(acted.events.map((event) => ({ ...event, applied: false })))
  expect(events[0]).toMatchObject({
    action: 'cut',
    reason: 'limits',
    tool: 'Bash',
    exceeded: ['bytes', 'lines'],
  })
})

describe('SPILLWAY in the environment', () => {
  const script = `
    const { subscribe } = require('node:diagnostics_channel')
    const { clampMessages, clampText, createContext, wrapTool } = require('spillway')
    let events = 0
    subscribe('spillway:clamp', () => { events += 1 })
    const big = 'x'.repeat(900)
    const tool = wrapTool(() => big, { maxChars: 300 })
    const message = { role: 'tool', tool_call_id: 'c', content: big }
    const lengths = [tool(), tool(), clampMessages([message], { maxChars: 300 }).messages[0].content].map((s) => s.length)
    createContext({ contextTokens: 10, reserveTokens: 0 }).prepare([message]).then(({ messages }) => {
      console.log(JSON.stringify([...lengths, messages[0].content.length, clampText(big, { maxChars: 300 }).length, events > 0]))
    })`
  const run = (SPILLWAY: string) => {
    const env = { ...process.env, SPILLWAY }
    const cwd = join(__dirname, '../..')
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', script], { cwd, env, encoding: 'utf8' })
    return { made: JSON.parse(stdout), stderr }
  }

  it.each([
    ['off', [900, 900, 900, 900, 300, false], /^spillway off \(SPILLWAY=off\): .*\n$/],
    ['observe', [900, 900, 900, 900, 300, true], /^spillway observing \(SPILLWAY=observe\): .*\n$/],
    ['of', [300, 300, 300, expect.any(Number), 300, true], /^spillway ignores SPILLWAY="of"; expected .*\n$/],
    ['', [300, 300, 300, expect.any(Number), 300, true], /^$/],
  ])(
    '%j reaches every door, is said once, and leaves functions over a text alone',
    { tags: 'long' },
    (value, made, said) => {
      const ran = run(value)
      expect(ran.made).toEqual(made)
      expect(ran.stderr).toMatch(said)
    },
  )

  const cli = join(__dirname, '../../dist/cli.js')
  const call = (SPILLWAY: string, args: readonly string[], input: string) =>
    execFileSync(process.execPath, [cli, ...args], {
      input,
      encoding: 'utf8',
      env: { ...process.env, SPILLWAY, SPILLWAY_STATS: '0' },
      stdio: ['pipe', 'pipe', 'ignore'],
    })

  it('reaches a hook, and no command that a person gives', () => {
    const event = {
      hook_event_name: 'PostToolUse',
      session_id: 's',
      tool_name: 'Bash',
      tool_input: { command: 'make' },
      tool_response: { stdout: 'one more line\n'.repeat(9_000), stderr: '' },
    }
    const hook = (value: string) => call(value, ['hook', 'claude-code'], JSON.stringify(event))
    expect(hook('')).toContain('updatedToolOutput')
    expect([hook('off'), hook('observe')]).toEqual(['', ''])
    expect(call('off', ['clamp', '--max-chars', '300'], 'x'.repeat(900)).length).toBeLessThanOrEqual(301)
  })
})

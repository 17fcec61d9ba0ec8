// biome-ignore-all lint/suspicious/noExplicitAny: what is stored is anything
import * as fc from 'fast-check'
import {
  type CacheTtlPruningConfig,
  type CacheTtlPruningParams,
  createToolResultPromptProjectionState,
  installSessionToolResultGuard,
  isContextOverflowError,
  isLikelyContextOverflowError,
  pruneExpiredCacheTtlToolResults,
  reconcileToolResultPromptProjectionState,
  resolveCacheTtlPruningSettings,
  resolveLiveToolResultAggregateMaxChars,
  toolResultWarningDedupe,
  truncateOversizedToolResultsInMessages,
  truncateOversizedToolResultsInSessionManager,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { getToolResultTextLength } from '../support/openclaw_tests.js'

// Calls of the run loop of 9.6.
const text = (text: string) => ({ type: 'text', text })
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' }
const user = { role: 'user', content: 'go' }
const calls = (id: string) => ({
  role: 'assistant',
  content: [{ type: 'toolCall', id, name: 'read', arguments: {} }],
})
const result = (id: string, ...content: object[]) => ({
  role: 'toolResult',
  toolCallId: id,
  toolName: 'read',
  content,
  isError: false,
})
const turns = (count: number, chars: number) =>
  Array.from({ length: count }, (_, at) => [
    calls(`c${at}`),
    result(`c${at}`, text(`${at}`.padEnd(chars, 'x'))),
  ]).flat()
const shown = ({ content }: any): string =>
  typeof content === 'string' ? content : content.map((block: any) => block.text ?? block.type).join()

describe('isLikelyContextOverflowError', () => {
  const said = 'Extra usage is required for long context requests.'
  const body = { status: 429, error: { type: 'error', error: { type: 'rate_limit_error', message: said } } }
  it.each<[unknown, boolean]>([
    [body, true],
    [said, true],
    [`429 ${said}`, true],
    [`429 ${JSON.stringify(body.error)}`, true],
    ['prompt is too long: 60000 tokens > 50000 maximum', true],
    [{ status: 413, message: 'Request too large' }, true],
    [{ status: 429, message: 'Too many requests' }, false],
    [`The docs say: ${said}`, false],
    ['I read a ticket about it', false],
    [undefined, false],
  ])('tells %j', (error, expected) => {
    expect(isLikelyContextOverflowError(error)).toBe(expected)
  })

  it('does not count a request over a rate limit, other than isContextOverflowError', () => {
    const over = {
      status: 429,
      message: 'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000',
    }
    expect(isContextOverflowError(over, { profile: 'latest' })).toBe(true)
    expect(isLikelyContextOverflowError(over)).toBe(false)
  })
})

describe('resolveLiveToolResultAggregateMaxChars', () => {
  it('takes the cap for the window if none is given', () => {
    for (const contextWindowTokens of [1_000, 16_000, 128_000, 1_000_000]) {
      const perResultMaxChars = Math.min(
        contextWindowTokens < 100_000 ? 16_000 : contextWindowTokens < 200_000 ? 32_000 : 64_000,
        Math.floor(contextWindowTokens * 0.3) * 4,
      )
      expect(resolveLiveToolResultAggregateMaxChars({ contextWindowTokens })).toBe(
        resolveLiveToolResultAggregateMaxChars({ contextWindowTokens, perResultMaxChars }),
      )
    }
  })
})

describe('toolResultWarningDedupe', () => {
  it('knows a key the second time, and forgets the oldest of too many', () => {
    const { promptPressure: seen, sessionRecovery: other } = toolResultWarningDedupe
    expect([seen.check('a'), seen.check('a'), seen.peek('a'), other.peek('a')]).toEqual([
      false,
      true,
      true,
      false,
    ])
    for (let at = 0; at < 1_023; at++) seen.check(`${at}`)
    seen.check('a')
    seen.check('new')
    expect([seen.size(), seen.peek('a'), seen.peek('0'), seen.peek('1')]).toEqual([1_024, true, false, true])
    seen.delete('a')
    expect([seen.check(undefined), seen.check(''), seen.peek('a'), seen.size()]).toEqual([
      false,
      false,
      false,
      1_023,
    ])
    seen.clear()
    expect(seen.size()).toBe(0)
  })
})

describe('reconcileToolResultPromptProjectionState', () => {
  const cut = (messages: object[], state: ReturnType<typeof createToolResultPromptProjectionState>) =>
    truncateOversizedToolResultsInMessages(messages, 128_000, 500, 1_000_000, state, { profile: 'latest' })

  it('forgets results that are gone or have other texts, and no others', () => {
    const state = createToolResultPromptProjectionState()
    const [first, gone, changed] = ['a', 'b', 'c'].map((id) => result(id, text(id.repeat(900)))) as [
      any,
      any,
      any,
    ]
    const whole = result('d', text('short'))
    const { messages } = cut([first, gone, changed, whole], state)
    expect([state.frozen.size, state.replacements.size]).toEqual([4, 3])
    const left = [first, { ...changed, content: [text('rewritten')] }, whole]
    reconcileToolResultPromptProjectionState(left, state)
    expect([state.frozen.size, state.replacements.size]).toEqual([2, 1])
    expect(cut(left, state).messages[0]).toEqual(messages[0])
    reconcileToolResultPromptProjectionState([], state)
    expect([state.frozen.size, state.replacements.size]).toEqual([0, 0])
  })

  it('refuses what is not a state', () => {
    expect(() => reconcileToolResultPromptProjectionState([], {} as never)).toThrow(/projectionState/)
  })
})

describe('resolveCacheTtlPruningSettings', () => {
  const on = (config: CacheTtlPruningConfig) =>
    resolveCacheTtlPruningSettings({ mode: 'cache-ttl', ...config })

  it('is off unless it is switched on', () => {
    expect([resolveCacheTtlPruningSettings(), resolveCacheTtlPruningSettings({ mode: 'off' })]).toEqual([
      undefined,
      undefined,
    ])
    expect(on({})).toMatchObject({
      ttlMs: 300_000,
      hardClear: true,
      placeholder: '[Old tool result content cleared]',
    })
    expect(on({ hardClear: { enabled: false, placeholder: ' gone ' } })).toMatchObject({
      hardClear: false,
      placeholder: 'gone',
    })
  })

  it.each([
    ['10', 600_000],
    ['5m', 300_000],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['250ms', 250],
    ['1.5h', 5_400_000],
    ['soon', 300_000],
    ['5 parsecs', 300_000],
    ['', 300_000],
    ['0', 0],
  ])('reads the duration %j', (ttl, expected) => {
    expect(on({ ttl })?.ttlMs).toBe(expected)
  })

  it('reads names of tools', () => {
    const prunable = (tools: CacheTtlPruningConfig['tools'], name: string) =>
      on(tools === undefined ? {} : { tools })?.isToolPrunable(name)
    expect(prunable(undefined, 'anything')).toBe(true)
    expect(prunable({ deny: ['Web*'] }, 'web_fetch')).toBe(false)
    expect(prunable({ deny: ['web*'] }, 'read')).toBe(true)
    expect(prunable({ allow: ['*'], deny: ['read'] }, ' READ ')).toBe(false)
    expect(prunable({ allow: ['exec', 'a.c'] }, 'abc')).toBe(false)
    expect(prunable({ allow: ['exec', 'a.c'] }, 'exec')).toBe(true)
  })
})

describe('pruneExpiredCacheTtlToolResults', () => {
  const settings = resolveCacheTtlPruningSettings({ mode: 'cache-ttl' }) as any
  const pruning = (messages: object[], more: Partial<CacheTtlPruningParams<object>> = {}) =>
    pruneExpiredCacheTtlToolResults({
      messages,
      settings,
      contextWindowTokens: 10_000,
      lastCacheTouchAt: 1,
      now: 400_000,
      projectionState: createToolResultPromptProjectionState(),
      pruneNewRounds: true,
      ...more,
    })

  it.each<[string, object[], Partial<CacheTtlPruningParams<object>>]>([
    ['the cache is warm', [user, ...turns(6, 9_000)], { now: 2 }],
    ['it was never written', [user, ...turns(6, 9_000)], { lastCacheTouchAt: null }],
    ['the provider clears results itself', [user, ...turns(6, 9_000)], { pruneNewRounds: false }],
    ['the window has room', [user, ...turns(6, 1_000)], {}],
    ['no answer is old', [user, ...turns(3, 20_000)], {}],
    ['nothing came from a user', turns(6, 9_000), {}],
    [
      'no tool may be pruned',
      [user, ...turns(6, 9_000)],
      { settings: { ...settings, isToolPrunable: () => false } },
    ],
  ])('leaves all as it is where %s', (_, messages, more) => {
    let count = 0
    expect(pruning(messages, { onPruned: () => count++, ...more })).toBe(messages)
    expect(count).toBe(0)
  })

  it('keeps both ends of old results, and sends them so again', () => {
    const projectionState = createToolResultPromptProjectionState()
    let count = 0
    const messages = [user, ...turns(5, 4_500)]
    const made = pruning(messages, { projectionState, onPruned: () => count++ }) as any[]
    expect(count).toBe(1)
    expect(made.map((message, at) => message === messages[at])).toEqual(
      messages.map((_, at) => at !== 2 && at !== 4),
    )
    expect(shown(made[2])).toBe(
      `${'0'.padEnd(1_500, 'x')}\n...\n${'x'.repeat(1_500)}\n\n[Tool result trimmed: kept first 1500 chars and last 1500 chars of 4500 chars.]`,
    )
    expect(messages).toEqual([user, ...turns(5, 4_500)])
    // Later, whatever the settings say by then.
    const more = [...messages, ...turns(1, 10).map((message) => ({ ...message }))]
    const again = pruning(more, { projectionState, pruneNewRounds: false }) as any[]
    expect(JSON.stringify(again.slice(0, messages.length))).toBe(JSON.stringify(made))
    // Further steps treat a pruned result like the original.
    expect(pruning(made, { projectionState, pruneNewRounds: false })).toEqual(made)
    const cap = [128_000, 100_000, 1_000_000] as const
    const sent = truncateOversizedToolResultsInMessages(messages, ...cap, projectionState, {
      profile: 'latest',
    })
    expect(JSON.stringify(sent.messages)).toBe(JSON.stringify(made))
    const short = truncateOversizedToolResultsInMessages(messages, 128_000, 500, 1_000_000, projectionState, {
      profile: 'latest',
    })
    for (const message of short.messages) expect(getToolResultTextLength(message)).toBeLessThanOrEqual(500)
  })

  it('clears the oldest where ends are too much', () => {
    const messages = [user, ...turns(40, 4_500)]
    const made = pruning(messages) as any[]
    const [cleared, kept] = [
      made.filter((message) => shown(message) === settings.placeholder),
      made.slice(-6),
    ]
    expect(cleared).toEqual(made.filter((message) => message.role === 'toolResult').slice(0, 36))
    expect(kept).toEqual(messages.slice(-6))
    const soft = pruning(messages, { settings: { ...settings, hardClear: false } }) as any[]
    expect(soft.filter((message) => shown(message).includes('trimmed: kept')).length).toBe(37)
  })

  it('names images that it removes', () => {
    const messages = [user, calls('c'), result('c', text('seen'), image), ...turns(3, 9_000)]
    expect(shown(pruning(messages)[2])).toBe('seen\n[image removed during context pruning]')
  })

  it('takes any messages, and sends what it sent', () => {
    const block = fc.oneof(hostileText.map(text), fc.constant(image), fc.anything() as fc.Arbitrary<object>)
    const message = fc.oneof(
      fc.constant(user),
      fc.array(block).map((content) => ({ role: 'assistant', content })),
      fc.tuple(fc.string(), fc.array(block)).map(([id, content]) => result(id, ...content)),
      fc.anything(),
    )
    fc.assert(
      fc.property(fc.array(message, { maxLength: 30 }), (messages) => {
        const projectionState = createToolResultPromptProjectionState()
        const made = pruning(messages as object[], { projectionState, contextWindowTokens: 10 })
        expect(made.length).toBe(messages.length)
        expect(pruning(messages as object[], { projectionState, pruneNewRounds: false })).toEqual(made)
      }),
      { numRuns: 1_000 },
    )
  })
})

/** A session manager as those of Pi and OpenClaw, in memory. */
class Manager {
  entries: any[] = []
  leaf: string | null = null

  add(type: string, rest: object): string {
    const id = `e${this.entries.length}`
    this.entries.push({ type, id, parentId: this.leaf, ...rest })
    this.leaf = id
    return id
  }
  appendMessage(message: any): string {
    return this.add('message', { message })
  }
  appendCompaction(summary: string, firstKeptEntryId: string, tokensBefore: number): string {
    return this.add('compaction', { summary, firstKeptEntryId, tokensBefore })
  }
  appendLabelChange(targetId: string, label: string): string {
    return this.add('label', { targetId, label })
  }
  branch(id: string): void {
    this.leaf = id
  }
  resetLeaf(): void {
    this.leaf = null
  }
  getBranch(): any[] {
    const branch: any[] = []
    for (let id = this.leaf; id; ) {
      const entry = this.entries.find((entry) => entry.id === id)
      branch.unshift(entry)
      id = entry.parentId
    }
    return branch
  }
}

describe('truncateOversizedToolResultsInSessionManager', () => {
  const filled = (...messages: object[]) => {
    const manager = new Manager()
    for (const message of messages) manager.appendMessage(message as any)
    return manager
  }
  const cutting = (sessionManager: Manager, more: object = {}) =>
    truncateOversizedToolResultsInSessionManager({ sessionManager, contextWindowTokens: 128_000, ...more })
  const messagesOf = (manager: Manager) => manager.getBranch().flatMap(({ message }) => message ?? [])
  const limits = { maxCharsOverride: 1_000, aggregateMaxCharsOverride: 100_000 }

  it('appends again what follows the first result that it cuts, behind the guard', async () => {
    const all = [user, calls('a'), result('a', text('a'.repeat(5_000))), calls('b'), result('b', text('ok'))]
    const manager = filled(...all)
    manager.appendLabelChange('e4', 'here')
    let hooked = 0
    const persisted: unknown[] = []
    installSessionToolResultGuard(manager, {
      beforeMessageWriteHook: () => {
        hooked += 1
        return { block: true }
      },
    })
    const answer = await cutting(manager, {
      ...limits,
      sessionKey: 's',
      onMessagePersisted: (...args: unknown[]) => persisted.push(args),
    })
    expect(answer).toEqual({ truncated: true, truncatedCount: 1 })
    const branch = manager.getBranch()
    expect(branch.map(({ type }) => type)).toEqual([...all.map(() => 'message'), 'label'])
    expect(branch.slice(0, 2)).toEqual(manager.entries.slice(0, 2))
    expect(branch.at(-1)).toMatchObject({ targetId: branch[4].id, label: 'here' })
    const [cut, ...rest] = messagesOf(manager).slice(2)
    expect(getToolResultTextLength(cut)).toBeLessThanOrEqual(1_000)
    expect(rest).toEqual(all.slice(3))
    expect([hooked, persisted]).toEqual([0, [[cut, { sessionKey: 's' }]]])
    expect(await cutting(manager, limits)).toMatchObject({
      truncated: false,
      reason: 'no oversized or aggregate tool results',
    })
  })

  it('rewrites what a manager prepares, and has it put in place', async () => {
    const manager = filled(calls('a'), result('a', text('a'.repeat(5_000))))
    const prepared = filled(...messagesOf(manager))
    const committed: unknown[] = []
    Object.assign(manager, {
      prepareTranscriptRewrite: () => ({
        sessionManager: prepared,
        commit: (ids: unknown) => committed.push(ids),
      }),
    })
    expect(await cutting(manager, limits)).toMatchObject({ truncated: true })
    expect(manager.entries.length).toBe(2)
    expect(committed).toEqual([new Map([['e1', 'e2']])])
    expect(getToolResultTextLength(messagesOf(prepared)[1])).toBeLessThanOrEqual(1_000)
  })

  it('leaves alone what was compacted, and what no model is sent', async () => {
    const big = (id: string) => result(id, text(id.repeat(5_000)))
    const manager = filled(calls('a'), big('a'), calls('b'), big('b'))
    manager.appendCompaction('summary', 'e2', 1)
    manager.appendMessage({ ...big('c'), excludeFromContext: true })
    expect(await cutting(manager, limits)).toEqual({ truncated: true, truncatedCount: 1 })
    expect(messagesOf(manager).map(getToolResultTextLength)).toEqual([0, 5_000, 0, expect.any(Number), 5_000])
    expect(
      manager
        .getBranch()
        .map(({ type }) => type)
        .indexOf('compaction'),
    ).toBe(4)
  })

  it('stores results as they were sent, and spares the last on request', async () => {
    const projectionState = createToolResultPromptProjectionState()
    const all = [
      calls('a'),
      result('a', text('a'.repeat(900))),
      calls('b'),
      result('b', text('b'.repeat(900))),
    ]
    const sent = truncateOversizedToolResultsInMessages(all, 128_000, 500, 1_000_000, projectionState, {
      profile: 'latest',
    })
    const manager = filled(...all)
    expect(await cutting(manager, { projectionState })).toEqual({ truncated: true, truncatedCount: 2 })
    expect(messagesOf(manager)).toEqual(sent.messages)
    expect(projectionState.replacements.size).toBe(0)
    const budget = {
      maxCharsOverride: 900,
      aggregateMaxCharsOverride: 1_000,
      protectTrailingToolResults: true,
    }
    const other = filled(...all)
    await cutting(other, budget)
    const [first, last] = messagesOf(other).map(getToolResultTextLength).filter(Boolean) as [number, number]
    expect(last).toBe(900)
    expect(first).toBeLessThanOrEqual(100)
  })

  it('says why it did nothing, and never rejects', async () => {
    expect(await cutting(filled())).toEqual({ truncated: false, truncatedCount: 0, reason: 'empty session' })
    const manager = filled(result('a', text('a'.repeat(5_000))))
    manager.add('hologram', {})
    expect(await cutting(manager, limits)).toMatchObject({ reason: expect.stringContaining('hologram') })
    expect(manager.entries.length).toBe(2)
    expect(await cutting(null as never)).toMatchObject({ truncated: false })
  })
})

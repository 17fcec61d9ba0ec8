/** Holds index.d.ts, which is written by hand, and the implementation to each other: `tsc --noEmit`
 *  is the test. */
type Typings = typeof import('spillway')
type Implementation = typeof import('../lib/index.js')

type PiTypings = typeof import('spillway/pi')
type PiImplementation = typeof import('../lib/compat/pi.js')
type PiExtensionTypings = typeof import('spillway/pi-extension')
type PiExtensionImplementation = typeof import('../lib/frameworks/pi_extension.js')
type DaycareTypings = typeof import('spillway/daycare')
type DaycareImplementation = typeof import('../lib/compat/daycare.js')
type OpenClawTypings = typeof import('spillway/openclaw')
type OpenClawImplementation = typeof import('../lib/compat/openclaw.js')
type AiSdkTypings = typeof import('spillway/ai-sdk')
type AiSdkImplementation = typeof import('../lib/frameworks/ai_sdk.js')
type ClaudeAgentTypings = typeof import('spillway/claude-agent')
type ClaudeAgentImplementation = typeof import('../lib/frameworks/claude_agent.js')
type LangchainTypings = typeof import('spillway/langchain')
type LangchainImplementation = typeof import('../lib/frameworks/langchain.js')
type MastraTypings = typeof import('spillway/mastra')
type MastraImplementation = typeof import('../lib/frameworks/mastra.js')
type OpenaiAgentsTypings = typeof import('spillway/openai-agents')
type OpenaiAgentsImplementation = typeof import('../lib/frameworks/openai_agents.js')
type McpTypings = typeof import('spillway/mcp')
type McpImplementation = typeof import('../lib/mcp/wrap_server.js')
type RemoteTypings = typeof import('spillway/remote')
type RemoteImplementation = typeof import('../lib/remote/remote_store.js')
type TestingTypings = typeof import('spillway/testing')
type TestingImplementation = typeof import('../lib/testing/testing.js')

export const aiSdk: [AiSdkTypings, AiSdkImplementation] = [{} as AiSdkImplementation, {} as AiSdkTypings]
export const claudeAgent: [ClaudeAgentTypings, ClaudeAgentImplementation] = [
  {} as ClaudeAgentImplementation,
  {} as ClaudeAgentTypings,
]
export const langchain: [LangchainTypings, LangchainImplementation] = [
  {} as LangchainImplementation,
  {} as LangchainTypings,
]
export const mastra: [MastraTypings, MastraImplementation] = [{} as MastraImplementation, {} as MastraTypings]
export const openaiAgents: [OpenaiAgentsTypings, OpenaiAgentsImplementation] = [
  {} as OpenaiAgentsImplementation,
  {} as OpenaiAgentsTypings,
]
export const mcp: [McpTypings, McpImplementation] = [{} as McpImplementation, {} as McpTypings]
export const remote: [RemoteTypings, RemoteImplementation] = [{} as RemoteImplementation, {} as RemoteTypings]
export const testing: [TestingTypings, TestingImplementation] = [
  {} as TestingImplementation,
  {} as TestingTypings,
]
export const pi: [PiTypings, PiImplementation] = [{} as PiImplementation, {} as PiTypings]
export const piExtension: [PiExtensionTypings, PiExtensionImplementation] = [
  {} as PiExtensionImplementation,
  {} as PiExtensionTypings,
]
export const daycare: [DaycareTypings, DaycareImplementation] = [
  {} as DaycareImplementation,
  {} as DaycareTypings,
]
export const openclaw: [OpenClawTypings, OpenClawImplementation] = [
  {} as OpenClawImplementation,
  {} as OpenClawTypings,
]
export const typingsAreMet: Typings = {} as Implementation
export const implementationIsTold: Implementation = {} as Typings

import { spawn } from 'node:child_process'
import {
  applyPlan,
  type CaptureResult,
  ContextOverflowError,
  clampResult,
  clampText,
  classifyProviderError,
  cleanText,
  createSpillStore,
  definePolicy,
  formatProcessOutput,
  type Guard,
  guardSession,
  inspectSession,
  OutputCapture,
  type Policy,
  type ProviderErrorKind,
  precheck,
  type RecoveryEvent,
  type RepairReport,
  repairSession,
  runWithRecovery,
  type SessionReport,
  type SpillRecord,
  spillReader,
  spillTool,
  type WrapPolicy,
  wrapTool,
  wrapTools,
} from 'spillway'

export const policy: Policy = definePolicy({
  maxLines: 10,
  keep: 'tail',
  notice: (cut) => `${cut.omittedLines}`,
})
export const asking: Policy[] = [
  definePolicy({ keep: 'relevant', query: 'words' }),
  definePolicy({ query: ['words', 'more'] as const }),
  definePolicy({ query: false }),
  definePolicy({ query: ([first]) => (typeof first === 'string' ? [first] : undefined) }),
]
export const text: string = clampText(new Uint8Array(), policy)
export const result: { content: { type: 'text'; text: string }[] } = clampResult({
  content: [{ type: 'text', text: '' }],
})
export const tool: { execute(a: number): Promise<string> } = wrapTool(
  { execute: async (a: number) => `${a}` },
  policy,
)
export const tools: [{ execute(): string }] = wrapTools([{ execute: () => '' }], (name) =>
  name ? policy : undefined,
)

interface Toolbox {
  read: { execute(): string }
  bash: { execute(): string }
}
declare const toolbox: Toolbox
export const wrapped: Toolbox = wrapTools(toolbox, (name, one) =>
  name === 'bash' ? { keep: 'tail', onClamp: ({ phase }) => [phase, one] } : undefined,
)
declare const common: WrapPolicy | ((name: string) => Policy | undefined)
wrapTools(toolbox, common)
// biome-ignore lint/suspicious/noExplicitAny: a caller may not know
wrapTools(toolbox, (): any => policy)
// @ts-expect-error no such option
wrapTools(toolbox, { kep: 'tail' })
// @ts-expect-error no such option
wrapTools(toolbox, (name) => (name === 'bash' ? { kep: 'tail' } : { keep: 'head' }))
// @ts-expect-error no such option
wrapTools(toolbox, () => ({ keep: 'head', maxByte: 1 }))
// @ts-expect-error no such choice
wrapTools(toolbox, () => ({ keep: 'middle' }))
// @ts-expect-error no tools
wrapTools(new Map([['read', toolbox.read]]))
// @ts-expect-error no tools yet
wrapTools(Promise.resolve([toolbox.read]))

export const refusal: ProviderErrorKind = classifyProviderError(new Error('no'), {
  patterns: [{ pattern: /no/, kind: 'rate_limit' }],
}).kind

const history: { role: string }[] = []
const budget = { contextTokens: 1, reserveTokens: 0 }
export const planned: { role: string }[] = applyPlan(history, precheck({ ...budget, messages: history }).plan)
export const recovered: Promise<number> = runWithRecovery({
  ...budget,
  messages: () => history,
  send: async ([first], { attempt }) => attempt + (first?.role.length ?? 0),
  compact: async ({ overflowTokens }) => overflowTokens > 5,
  truncate: async (plan) => plan.length > 0,
})
export const trail = (error: unknown): readonly RecoveryEvent[] =>
  error instanceof ContextOverflowError ? error.attempts : []
declare const signal: AbortSignal | undefined
export const awaited: Promise<string> = runWithRecovery({
  ...budget,
  systemPrompt: undefined,
  messages: () => history,
  send: (messages, context): PromiseLike<string> => {
    messages.push({ role: '' })
    return Promise.resolve(`${context.signal.aborted}`)
  },
  compact: undefined,
  signal,
})
// @ts-expect-error the history is asked for anew
runWithRecovery({ ...budget, messages: history, send: async () => 1 })
// @ts-expect-error a plan has steps
applyPlan(history, [{ index: 0 }])

export const clean: string = cleanText(new Uint8Array(), { repeats: false })

const store = createSpillStore({ dir: 'outputs', reference: 'id' })
/** Stores for testSpillStore are made with limits, or without regard to them. */
export const makers: Parameters<TestingTypings['testSpillStore']>[0][] = [
  () => store,
  async (limits) => createSpillStore({ dir: 'outputs', ...limits }),
  // @ts-expect-error
  ({ maxFiles }) => createSpillStore({ dir: 'outputs', maxFiles }),
]
export const saved: Promise<SpillRecord> = store.save(new Uint8Array(), { tool: 'bash' })
export const next: Promise<number | undefined> = store.read('', { line: 1 }).then(({ nextByte }) => nextByte)
export const lines: Promise<boolean> = spillReader(store)
  .read('', { exact: true })
  .then(({ exact }) => exact)
export const answer: Promise<string> = spillTool(store).execute({ id: '' })
export const schema: { type: 'object'; [name: string]: unknown } = spillTool(store).parameters

const capture = new OutputCapture({
  streams: 'separate',
  spill: store,
  keep: 'ends',
  clean: { repeats: false },
})
capture.stdout.write('x')
export const ended: Promise<CaptureResult> = capture.attach(spawn('true'), { graceMs: 5 })
export const partial: string = capture.snapshot().text
export const output: string = formatProcessOutput(
  { stdout: '', stderr: new Uint8Array(), exitCode: null },
  policy,
)

// @ts-expect-error no such choice
new OutputCapture({ streams: 'both' })
// @ts-expect-error a stream is not replaced
capture.stdout = capture.stderr
// @ts-expect-error a store needs a directory
createSpillStore({})
// @ts-expect-error a bound is a number
clampText('', { maxBytes: '50' })
// @ts-expect-error no such choice
clampText('', { keep: 'middle' })
// @ts-expect-error texts are strings
clampText('', { query: [5] })
// @ts-expect-error a function returns texts
wrapTool(() => '', { query: () => 5 })
// @ts-expect-error a choice is true or false
cleanText('', { ansi: 1 })
// @ts-expect-error checked limits stay as they are
policy.maxBytes = 5
// @ts-expect-error no such kind
classifyProviderError('', { patterns: [{ pattern: /x/, kind: 'overflow' }] })

class Manager {
  appendMessage(message: { role: string }, ...rest: number[]): string {
    return message.role + rest.length
  }
}
export const guard: Guard = guardSession(new Manager(), { beforeWrite: () => false, maxRowBytes: 1 })
export const other: Guard = guardSession({ store(_message: object) {} }, { method: 'store' })
// @ts-expect-error no such method
guardSession({ store(_message: object) {} })

export const repaired: Promise<RepairReport> = repairSession('session.jsonl', {
  aggregate: { maxChars: 1 },
  signal: new AbortController().signal,
})
export const inspected: Promise<SessionReport> = inspectSession('session.jsonl', { top: 3, maxBytes: 1 })
// @ts-expect-error a plan has steps
repairSession('session.jsonl', { plan: [{ index: 1 }] })

// @ts-expect-error a helper of the declarations is not exported
export type Helper = import('spillway').OnlyOptions<object>

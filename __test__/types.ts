/** Holds index.d.ts, which is written by hand, and the implementation to each other: `tsc --noEmit` is the test. */
type Typings = typeof import('spillway')
type Implementation = typeof import('../index.js')

type PiTypings = typeof import('spillway/pi')
type PiImplementation = typeof import('../lib/compat/pi.js')
type DaycareTypings = typeof import('spillway/daycare')
type DaycareImplementation = typeof import('../lib/compat/daycare.js')
type OpenClawTypings = typeof import('spillway/openclaw')
type OpenClawImplementation = typeof import('../lib/compat/openclaw.js')

export const pi: [PiTypings, PiImplementation] = [{} as PiImplementation, {} as PiTypings]
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
  type CaptureResult,
  clampResult,
  clampText,
  classifyProviderError,
  cleanText,
  createSpillStore,
  definePolicy,
  formatProcessOutput,
  type Guard,
  guardSession,
  OutputCapture,
  type Policy,
  type ProviderErrorKind,
  type SpillRecord,
  spillTool,
  wrapTool,
  wrapTools,
} from 'spillway'

export const policy: Policy = definePolicy({
  maxLines: 10,
  keep: 'tail',
  notice: (cut) => `${cut.omittedLines}`,
})
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

export const refusal: ProviderErrorKind = classifyProviderError(new Error('no'), {
  patterns: [{ pattern: /no/, kind: 'rate_limit' }],
}).kind

export const clean: string = cleanText(new Uint8Array(), { repeats: false })

const store = createSpillStore({ dir: 'outputs', reference: 'id' })
export const saved: Promise<SpillRecord> = store.save(new Uint8Array(), { tool: 'bash' })
export const next: Promise<number | undefined> = store.read('', { line: 1 }).then(({ nextByte }) => nextByte)
export const answer: Promise<string> = spillTool(store).execute({ id: '' })

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

import type { JsonReport, Policy, SpillRecord, SpillStore, WrapPolicy } from 'spillway'
import { clampJsonWithReport, estimateTokens, measureText } from '../../index.js'
import { isObject } from './message.js'

const NONE = Number.POSITIVE_INFINITY

/** Returns true for a schema that can be read. That of a validation library is no JSON schema. */
export function isSchema(schema: unknown): schema is Record<string, unknown> {
  return isObject(schema) && !('~standard' in schema)
}

/** Cuts structured content to the limits of a text, without those of lines, since it has none. */
export function cutStructured(
  content: unknown,
  { maxBytes, maxChars = NONE, maxTokens = NONE, needles = [], query }: Policy,
  schema: object | undefined,
  args: unknown,
): JsonReport {
  const asked = isObject(args) ? Object.values(args).map(textOf) : []
  return clampJsonWithReport(content, {
    maxBytes,
    maxChars,
    maxTokens,
    needles,
    query: Array.isArray(query) ? query : asked,
    ...(schema && { schema }),
  })
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The full content in a store, or the reason why it is not there. */
export type Saved = { readonly record?: SpillRecord; readonly reason?: unknown }

/** Saves the text of structured content. Never rejects: the content is cut even if it cannot be saved. */
export function savedIn(store: SpillStore, text: string, tool: string): Promise<Saved> {
  return store.save(text, { tool }).then(
    (record) => ({ record }),
    (reason: unknown) => ({ reason }),
  )
}

/** Returns the text by which structured content is saved: the only block, if it spells it, or lines that can be paged. */
export function spelled(content: unknown, blocks: unknown): string {
  const [block, ...others] = Array.isArray(blocks) ? blocks.filter(isObject) : []
  const line = JSON.stringify(content)
  return others.length === 0 && block?.['text'] === line ? line : JSON.stringify(content, null, 2)
}

/** Returns a store in which a text is saved already. */
export function holding(store: SpillStore, text: string, record: SpillRecord): SpillStore {
  return {
    reference: 'id',
    save: async (given, meta) => (given === text ? record : store.save(given, meta)),
    read: (id, range) => store.read(id, range),
    search: (id, pattern, options) => store.search(id, pattern, options),
    list: () => store.list(),
    sweep: (options) => store.sweep(options),
  }
}

/** Returns the notice of structured content that was cut. */
export function noticeOf(report: JsonReport, saved: Saved | undefined): string {
  const { kept, total, omittedElements, shortenedStrings, droppedMembers } = report
  const missing = [
    [omittedElements, 'element', 'omitted'],
    [droppedMembers, 'member', 'omitted'],
    [shortenedStrings, 'string', 'shortened'],
  ] as const
  const told = missing
    .filter(([count]) => count > 0)
    .map(([count, what, how]) => `${grouped(count)} ${what}${count > 1 ? 's' : ''} ${how}`)
  const sizes = `${grouped(kept.bytes)} of ${grouped(total.bytes)} bytes kept`
  return `[structured content truncated: ${[sizes, ...told].join(', ')}; ${adviceOf(saved)}]`
}

/** Like the advice of notices in src/notice/saved.rs. */
function adviceOf(saved: Saved | undefined): string {
  const ask = 'ask for less, or for specific sections'
  if (saved?.record) {
    const { id, complete } = saved.record
    return `${complete ? 'full output' : 'the start of it'} saved as ${id}, page or search it with read_output`
  }
  const { code = 'ERR_SPILLWAY_SPILL' } = isObject(saved?.reason) ? saved.reason : {}
  return saved ? `the rest could not be saved (${code}); ${ask}` : ask
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** Returns the limits that are left beside a text, undefined if it would take more than half of them. */
export function beside(text: string, policy: Policy): WrapPolicy | undefined {
  const { bytes, chars, lines } = measureText(text)
  const { maxBytes, maxLines, maxChars = NONE, maxTokens = NONE } = policy
  const limits = [
    ['maxBytes', maxBytes, bytes],
    ['maxLines', maxLines, lines],
    ['maxChars', maxChars, chars],
    ['maxTokens', maxTokens, estimateTokens(text)],
  ] as const
  if (limits.some(([, limit, taken]) => limit < 2 * taken)) return undefined
  return Object.fromEntries(limits.map(([name, limit, taken]) => [name, limit - taken]))
}

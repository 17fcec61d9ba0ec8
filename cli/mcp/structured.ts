import type { JsonReport, Policy, SpillRecord, SpillStore } from 'spillway'
import { clampJsonWithReport } from '../../index.js'
import { isObject } from './message.js'

const NONE = Number.POSITIVE_INFINITY
/** Chars of the code of an error that are told. */
const CODE = 64

/** Cuts the JSON of structured content to the limits of a text, without those of lines, since it has none. */
export function cutStructured(
  json: string,
  { maxBytes, maxChars = NONE, maxTokens = NONE, needles = [], query, redact = false }: Policy,
  schema?: object,
  args?: unknown,
): JsonReport {
  const asked = isObject(args) ? Object.values(args).map(textOf) : []
  return clampJsonWithReport(json, {
    maxBytes,
    maxChars,
    maxTokens,
    needles,
    redact,
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

/** Returns the text by which structured content is saved: that of the blocks if they repeat it, which would be saved
 *  too, or lines that can be paged. */
export function savedText(content: unknown, texts: readonly string[], isTwin: boolean): string {
  return isTwin ? texts.join('\n') : JSON.stringify(content, null, 2)
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

/** Returns the words in the place of structured content that cannot be cut. */
export function wordsFor({ total }: JsonReport, hasSchema: boolean, saved: Saved | undefined): string {
  const why = hasSchema ? 'less of it would not match its schema' : 'the limits leave no room for it'
  return `[structured content of ${grouped(total.bytes)} bytes left out: ${why}; ${adviceOf(saved)}]`
}

/** Like the advice of notices in src/notice/saved.rs. */
function adviceOf(saved: Saved | undefined): string {
  const ask = 'ask for less, or for specific sections'
  if (saved?.record) {
    const { id, complete } = saved.record
    return `${complete ? 'full output' : 'the start of it'} saved as ${id}, page or search it with read_output`
  }
  const { code = 'ERR_SPILLWAY_SPILL' } = isObject(saved?.reason) ? saved.reason : {}
  return saved ? `the rest could not be saved (${String(code).slice(0, CODE)}); ${ask}` : ask
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

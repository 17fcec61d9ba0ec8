import { CACHE_MARKS, type Draft } from '../dialect/edit.js'
import type { Result } from '../dialect/results.js'
import { isData } from '../dialect/slots.js'
import { native } from '../engine.js'
import { type Figures, sum } from '../result/clamp_slots.js'
import { sizeOf } from '../text/size.js'
import { get } from '../untrusted.js'
import { blocksOf, hasRuns, type MediaBlock, type MediaRun, runsIn } from './found.js'

/** Limits of all payloads of a result, or of a history. */
export interface MediaBudget {
  readonly maxBytes: number
  readonly maxItems: number
  /** True if the first stay rather than the latest. */
  readonly first: boolean
}

/** The payloads of a result, in blocks and then in texts. */
export class ResultMedia {
  readonly #result: Result
  readonly #blocks: readonly MediaBlock[]
  readonly #runs: readonly (readonly MediaRun[])[]

  /** `only`: payloads in blocks of their own, which a plan names. */
  constructor(result: Result, only?: 'blocks') {
    this.#result = result
    this.#blocks = blocksOf(result)
    this.#runs = only ? [] : result.slots.map((slot) => (hasRuns(slot) ? runsIn(slot.text) : []))
  }

  get sizes(): number[] {
    const runs = this.#runs.flat().map(({ bytes }) => bytes)
    return [...this.#blocks.map(({ medium }) => medium.bytes), ...runs]
  }

  /** Replaces payloads by words. `gone`: tells of each, in the order of `sizes`, if it goes. Returns the figures. */
  drop(gone: readonly boolean[], draft: Draft): () => Figures {
    const before = this.#result.slots.map(({ text }) => text)
    const after = [...before]
    let at = 0
    for (const block of this.#blocks) if (gone[at++]) dropBlock(block, draft)
    for (const [nth, runs] of this.#runs.entries()) {
      const left = runs.filter(() => gone[at++])
      const slot = this.#result.slots[nth]
      if (left.length === 0 || !slot) continue
      const text = withWords(slot.text, left)
      after[nth] = text
      draft.edit(
        this.#result,
        new Map([[slot, isData(slot) ? { value: JSON.parse(text) as unknown } : text]]),
      )
    }
    return () =>
      figuresOf(
        this.sizes.filter((_, at) => gone[at]),
        before,
        after,
      )
  }
}

/** Returns the figures of payloads that went from texts, or from beside them. */
function figuresOf(sizes: readonly number[], before: readonly string[], after: readonly string[]): Figures {
  const media = { items: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
  return { total: sum(before.map(sizeOf)), kept: sum(after.map(sizeOf)), exceeded: [], media }
}

/** Is told of payloads that went. */
type Tell = (figures: () => Figures, result?: Result) => void

/** Decides which payloads of all results together go. Returns undefined if none does. */
export function excess(
  all: readonly { sizes: readonly number[] }[],
  { maxBytes, maxItems, first }: MediaBudget,
): boolean[][] | undefined {
  const counts = all.map(({ sizes }) => sizes)
  const sizes = Float64Array.from(counts.flat())
  native.keepMedia(sizes, maxBytes, maxItems, first)
  if (!sizes.some((size) => size < 0)) return undefined
  let at = 0
  return counts.map((own) => own.map(() => (sizes[at++] as number) < 0))
}

/** Replaces the base64 in a text over a budget. Returns the same text if none is over it. */
export function lightText(text: string, budget: MediaBudget | undefined, tell: Tell): string {
  if (!budget) return text
  const runs = runsIn(text)
  const [gone] = excess([{ sizes: runs.map(({ bytes }) => bytes) }], budget) ?? []
  if (!gone) return text
  const going = runs.filter((_, at) => gone[at])
  const left = withWords(text, going)
  const sizes = going.map(({ bytes }) => bytes)
  tell(() => figuresOf(sizes, [text], [left]))
  return left
}

function withWords(text: string, runs: readonly MediaRun[]): string {
  const parts = runs.flatMap(({ start, words }, at) => [text.slice(runs[at - 1]?.end ?? 0, start), words])
  return [...parts, text.slice(runs.at(-1)?.end)].join('')
}

/** Makes blocks of words, as a row of src/dialects.json names them. */
const BLOCKS: Readonly<Record<string, (text: string, type: unknown) => object>> = {
  text: (text) => ({ type: 'text', text }),
  input: (text, type) => ({ type: String(type).startsWith('input_') ? 'input_text' : 'text', text }),
  bare: (text) => ({ text }),
  logs: (logs) => ({ type: 'logs', logs }),
}

/** Makes members that turn a payload into a file of words, where there are no blocks of text. */
const MEMBERS: Readonly<Record<string, (text: string) => object>> = {
  file: (text) => ({ mimeType: 'text/plain', data: Buffer.from(text).toString('base64') }),
  source: (data) => ({ type: 'text', media_type: 'text/plain', data }),
}

function dropBlock({ medium: { words }, end: { as, holder }, block }: MediaBlock, draft: Draft): void {
  const members = MEMBERS[as]?.(words)
  for (const [name, value] of Object.entries(members ?? {})) draft.set(holder, name, value)
  const made = BLOCKS[as]?.(words, get(block.value, 'type'))
  if (!made || !block.parent) return
  const marks = CACHE_MARKS.flatMap((mark) => {
    const value = get(block.value, mark)
    return value === undefined ? [] : [[mark, value] as const]
  })
  draft.set(block.parent, block.key, { ...made, ...Object.fromEntries(marks) })
}

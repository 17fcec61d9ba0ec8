import type { Figures } from '../clamp_event.js'
import { CACHE_MARKS, type Draft } from '../dialect/edit.js'
import type { Result } from '../dialect/results.js'
import { isData } from '../dialect/slots.js'
import { native } from '../engine.js'
import type { MediaBudget } from '../media_options.js'
import { sizeOf, sum } from '../text/size.js'
import { get } from '../untrusted.js'
import { blocksOf, hasRuns, type MediaBlock, type MediaRun, runsIn } from './found.js'

/** The payloads of a result, in blocks and then in texts. */
export class ResultMedia {
  readonly #result: Result
  readonly #blocks: readonly MediaBlock[]
  readonly #runs: readonly (readonly MediaRun[])[]

  /** `only`: the payloads that a plan names. Each has a block of its own. */
  constructor(result: Result, only?: 'blocks') {
    this.#result = result
    this.#blocks = blocksOf(result)
    this.#runs = only ? [] : result.slots.map((slot) => (hasRuns(slot) ? runsIn(slot.text) : []))
  }

  get sizes(): number[] {
    const runs = this.#runs.flat().map(({ bytes }) => bytes)
    return [...this.#blocks.map(({ medium }) => medium.bytes), ...runs]
  }

  /** Replaces payloads with words and returns the figures. `gone`: true for each payload to
   *  replace, in the order of `sizes`. */
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

/** Returns the figures of the payloads that were replaced. */
function figuresOf(sizes: readonly number[], before: readonly string[], after: readonly string[]): Figures {
  const media = { items: sizes.length, bytes: sizes.reduce((sum, size) => sum + size, 0) }
  return { total: sum(before.map(sizeOf)), kept: sum(after.map(sizeOf)), exceeded: [], media }
}

/** Called with the payloads that were replaced. */
type Tell = (figures: () => Figures, result?: Result) => void

/** Chooses the payloads to replace across all results. Returns undefined if all of them stay. */
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

/** Replaces the base64 over a budget. Returns the same text if all of it fits. */
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

/** Makes text blocks in the form that a row of src/dialects.json names. */
const BLOCKS: Readonly<Record<string, (text: string, type: unknown) => object>> = {
  text: (text) => ({ type: 'text', text }),
  input: (text, type) => ({ type: String(type).startsWith('input_') ? 'input_text' : 'text', text }),
  bare: (text) => ({ text }),
  logs: (logs) => ({ type: 'logs', logs }),
}

/** Makes the members that turn a payload into a text file, for formats without text blocks. */
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

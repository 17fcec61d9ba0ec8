import type { RefusedMedia } from 'spillway'
import type { Figures } from '../clamp_event.js'
import { CACHE_MARKS, type Draft } from '../dialect/edit.js'
import type { Result } from '../dialect/results.js'
import { isData } from '../dialect/slots.js'
import { native } from '../engine.js'
import type { MediaBudget } from '../media_options.js'
import { sizeOf, sum } from '../text/size.js'
import { get } from '../untrusted.js'
import { blocksOf, hasRuns, type MediaBlock, type MediaRun, runsIn } from './media_blocks.js'

/** The payloads of a result, in blocks and then in texts. */
export class ResultMedia {
  readonly #result: Result
  readonly #blocks: readonly MediaBlock[]
  readonly #runs: readonly (readonly MediaRun[])[]
  readonly #isFromUser: boolean

  /** `only`: the payloads that a plan names, each in a block of its own, or those of a message of
   *  the user. */
  constructor(result: Result, only?: 'blocks' | 'pasted') {
    this.#result = result
    this.#isFromUser = only === 'pasted'
    this.#blocks = blocksOf(result)
    this.#runs = only ? [] : result.slots.map((slot) => (hasRuns(slot) ? runsIn(slot.text) : []))
  }

  /** The payloads, as limits count them. A provider reads base64 in a text as text. */
  get items(): Item[] {
    const fromUser = this.#isFromUser
    const blocks = this.#blocks.map(({ medium: { bytes, width, height, kind } }) => {
      return { bytes, width, height, kind, fromUser }
    })
    return [...blocks, ...itemsOf(this.#runs.flat())]
  }

  /** Replaces payloads with words and returns the figures. `gone`: true for each payload to
   *  replace, in the order of `items`. */
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
        this.items.filter((_, at) => gone[at]).map(({ bytes }) => bytes),
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

/** A payload, as limits count it. */
export interface Item {
  readonly bytes: number
  readonly width: number
  readonly height: number
  readonly kind: number
  readonly fromUser: boolean
}

function itemsOf(runs: readonly MediaRun[]): Item[] {
  return runs.map(({ bytes }) => ({ bytes, width: 0, height: 0, kind: 0, fromUser: false }))
}

/** Names of the classes of payloads, as in src/media/item.rs. */
const KINDS = ['file', 'image', 'document', 'image'] as const

/** Describes a payload that goes. */
export function refusalOf(item: Item, reason: RefusedMedia['reason']): Omit<RefusedMedia, 'index'> {
  const { bytes, width, height, kind, fromUser } = item
  return {
    from: fromUser ? 'user' : 'tool',
    kind: KINDS[kind] ?? 'file',
    reason,
    bytes,
    ...(width > 0 && { width, height }),
  }
}

/** Members of an item in an array, as `judge_media` in bindings/src/media.rs reads them. */
const COLUMNS = 5

/** Returns for each payload the index of the reason in REASONS to replace it, 0 if it stays;
 *  undefined if all stay. */
export function judged(all: readonly (readonly Item[])[], budget: MediaBudget): number[][] | undefined {
  const packed = all
    .flat()
    .flatMap((item) => [...[item.bytes, item.width, item.height, item.kind], Number(item.fromUser)])
  const table = Float64Array.from(packed)
  native.judgeMedia(table, budget)
  let next = 0
  const reasonAt = (nth: number) => table[nth * COLUMNS] as number
  const reasons = all.map((own) => own.map(() => reasonAt(next++)))
  return reasons.some((own) => own.some((reason) => reason > 0)) ? reasons : undefined
}

/** Chooses the payloads to replace across all results. Returns undefined if all of them stay. */
export function excess(
  all: readonly { items: readonly Item[] }[],
  budget: MediaBudget,
): boolean[][] | undefined {
  const reasons = judged(
    all.map(({ items }) => items),
    budget,
  )
  return reasons?.map((own) => own.map((reason) => reason > 0))
}

/** Replaces the base64 over a budget. Returns the same text if all of it fits. */
export function lightText(text: string, budget: MediaBudget | undefined, tell: Tell): string {
  if (!budget) return text
  const runs = runsIn(text)
  const [gone] = excess([{ items: itemsOf(runs) }], budget) ?? []
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

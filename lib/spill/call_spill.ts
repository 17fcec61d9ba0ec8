import type { SpillRecord, SpillStore } from 'spillway'
import { type EnginePolicy, type SavedHow, saved } from '../compiled.js'
import { isId } from '../kinds.js'
import { get, isObject } from '../untrusted.js'
import { isPartIn } from './part.js'

/** Outcome of saving a full output: its path or id, or the code of an error. */
export type Whole = readonly [how: SavedHow, named: string]

/**
 * Saves the full texts that the clamp of one call cuts. The clamp runs twice: the first run finds
 * the texts to save, the second one names the saved files in notices. Texts are identified by their
 * order, which is the same in both runs.
 */
export class CallSpill {
  readonly #cut = new Map<number, readonly [texts: readonly string[], left: readonly string[]]>()
  readonly #wholes = new Map<number, Whole>()
  #next = 0

  /** Returns the number of the next text that may be cut. */
  next(): number {
    return this.#next++
  }

  /** Numbers texts from the first one, for another run. */
  restart(): void {
    this.#next = 0
  }

  /** Notes the texts of a result that was cut, and what is left of them. */
  cut(number: number, texts: readonly string[], left: readonly string[]): void {
    this.#cut.set(number, [texts, left])
  }

  /** Returns the policy of a text, whose notice names the saved file if there is one. */
  policyOf(number: number, policy: EnginePolicy): EnginePolicy {
    const whole = this.#wholes.get(number)
    return whole ? saved(policy, ...whole) : policy
  }

  /** Saves the texts that were cut, unless they name the saved output that they are a part of.
   *  Resolves to false if there are none. Never rejects: a text is clamped even if it cannot be
   *  saved. */
  async save(storing: () => SpillStore, meta: { tool?: string; callId?: string }): Promise<boolean> {
    if (this.#cut.size === 0) return false
    const store = storing()
    const known = new Map<string, Whole>()
    for (const [number, [texts, left]] of this.#cut) {
      if (await isPartIn(store, texts, left)) continue
      const text = texts.join('\n')
      const whole = known.get(text) ?? (await saveOnce(store, text, meta))
      known.set(text, whole)
      this.#wholes.set(number, whole)
    }
    this.restart()
    return true
  }
}

/** Used for a synchronous call, which cannot wait for a save. Notices say that the text could not
 *  be saved. */
export class UnsavedCallSpill extends CallSpill {
  override policyOf(_: number, policy: EnginePolicy): EnginePolicy {
    return saved(policy, 'failed', 'ERR_SPILLWAY_SPILL')
  }
}

/** Recent saves of each store, also those in progress, by call and text. A stored output that is
 *  converted to a message again, as by the AI SDK before each request, is not saved again. */
const saves = new WeakMap<SpillStore, Map<string, Promise<SaveRecord>>>()

interface SaveRecord {
  readonly whole: Whole
  /** Undefined if saving failed. */
  readonly id: string | undefined
}
const REMEMBERED = 256

/** Saves a text of a call, unless the store has it of this call. Never rejects. */
export async function saveOnce(
  store: SpillStore,
  text: string,
  meta: { tool?: string; callId?: string },
): Promise<Whole> {
  if (meta.callId === undefined) return (await save(store, text, meta)).whole
  const known = saves.get(store) ?? new Map<string, Promise<SaveRecord>>()
  saves.set(store, known)
  // Loaded on demand, since it takes a third of the load time of this package; an `import` takes as
  // long again.
  const { createHash } = require('node:crypto') as typeof import('node:crypto')
  const hash = createHash('sha256').update(text).digest('base64')
  const key = JSON.stringify([meta.tool, meta.callId, hash])
  for (let before = known.get(key); before; before = known.get(key)) {
    const saved = await before
    if (await isThere(store, saved)) return saved.whole
    // Another call may have started a new save.
    if (known.get(key) === before) known.delete(key)
  }
  const [oldest] = known.keys()
  if (known.size >= REMEMBERED && oldest !== undefined) known.delete(oldest)
  const saving = save(store, text, meta)
  known.set(key, saving)
  return (await saving).whole
}

/** Returns true if a text was saved and no sweep has removed it since. */
async function isThere(store: SpillStore, { id }: SaveRecord): Promise<boolean> {
  if (id === undefined) return false
  try {
    await store.read(id, { maxBytes: 1 })
    return true
  } catch {
    return false
  }
}

/** Saves a text. Never rejects. */
async function save(
  store: SpillStore,
  text: string,
  meta: { tool?: string; callId?: string },
): Promise<SaveRecord> {
  try {
    const record = recordOf(await store.save(text, meta))
    return { whole: wholeIn(store, record), id: record.id }
  } catch (error) {
    return { whole: ['failed', codeOf(error)], id: undefined }
  }
}

/** Rejects an invalid record: stores may be user-defined. */
export function recordOf(record: SpillRecord): SpillRecord {
  if (isObject(record) && typeof record.id === 'string' && isId(record.id) && typeof record.path === 'string')
    return record
  throw Object.assign(
    new Error('the store must resolve to a record with a path and an id of 16 hexadecimal digits'),
    { code: 'ERR_SPILLWAY_SPILL' },
  )
}

/** Returns the outcome of a successful save. */
export function wholeIn(store: SpillStore, record: SpillRecord): Whole {
  return store.reference !== 'path'
    ? [record.complete ? 'id' : 'partialId', record.id]
    : [record.complete ? 'path' : 'partialPath', record.path]
}

/** Returns the code of an error of a store. */
export function codeOf(error: unknown): string {
  const code = isObject(error) ? get(error, 'code') : undefined
  return typeof code === 'string' ? code : 'ERR_SPILLWAY_SPILL'
}

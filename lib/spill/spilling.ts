import { access } from 'node:fs/promises'
import type { SpillRecord, SpillStore } from 'spillway'
import { type Compiled, type SavedHow, saved } from '../compiled.js'
import { get } from '../reading.js'
import { isNamedById, isOurs } from './spill.js'

/** What became of a whole: where it is, or why it is nowhere. */
export type Whole = readonly [how: SavedHow, named: string]

/**
 * Saves the wholes of what one call's clamp cuts. The clamp runs twice: first it shows what it cuts, and after these were
 * saved it says so in the notices. Texts are told apart by their order, which is the same both times.
 */
export class Spilling {
  readonly #cut = new Map<number, string>()
  readonly #wholes = new Map<number, Whole>()
  #next = 0

  /** The number of the next text that may be cut. */
  next(): number {
    return this.#next++
  }

  cut(number: number, text: string): void {
    this.#cut.set(number, text)
  }

  /** The policy of a text, which says where the whole is once that was saved. */
  policyOf(number: number, policy: Compiled): Compiled {
    const whole = this.#wholes.get(number)
    return whole ? saved(policy, ...whole) : policy
  }

  /** Saves what was cut; false where nothing was. Never rejects: what was not saved is clamped all the same. */
  async save(store: SpillStore, meta: { tool?: string; callId?: string }): Promise<boolean> {
    for (const [number, text] of this.#cut) this.#wholes.set(number, await saveOnce(store, text, meta))
    this.#next = 0
    return this.#wholes.size > 0
  }
}

/** Stands for what comes at once, and cannot wait until it is saved: the notices say so. */
export class Unsaved extends Spilling {
  override policyOf(_: number, policy: Compiled): Compiled {
    return saved(policy, 'failed', 'ERR_SPILLWAY_SPILL')
  }
}

/** What was saved in a store lately, or is being saved, by call and text: a stored output that is turned into a message
 *  again, as the AI SDK does before each request, is the same one. */
const saves = new WeakMap<SpillStore, Map<string, Promise<Saved>>>()

interface Saved {
  readonly whole: Whole
  /** Where a store of ours has it. */
  readonly path: string | undefined
}
const REMEMBERED = 256

async function saveOnce(store: SpillStore, text: string, meta: { callId?: string }): Promise<Whole> {
  if (meta.callId === undefined) return (await save(store, text, meta)).whole
  const known = saves.get(store) ?? new Map<string, Promise<Saved>>()
  saves.set(store, known)
  // Loaded when it is needed: that takes a third as long as all of this package.
  const { createHash } = await import('node:crypto')
  const key = `${meta.callId} ${createHash('sha256').update(text).digest('base64')}`
  for (let before = known.get(key); before; before = known.get(key)) {
    const saved = await before
    if (await isThere(saved)) return saved.whole
    // Another call may have begun to save it anew.
    if (known.get(key) === before) known.delete(key)
  }
  const [oldest] = known.keys()
  if (known.size >= REMEMBERED && oldest !== undefined) known.delete(oldest)
  const saving = save(store, text, meta)
  known.set(key, saving)
  return (await saving).whole
}

/** Tells whether it was saved, and no sweep has removed it since. */
async function isThere({ whole, path }: Saved): Promise<boolean> {
  if (path === undefined) return whole[0] !== 'failed'
  return access(path).then(
    () => true,
    () => false,
  )
}

async function save(
  store: SpillStore,
  text: string,
  meta: { tool?: string; callId?: string },
): Promise<Saved> {
  try {
    const record = await store.save(text, meta)
    return { whole: wholeIn(store, record), path: isOurs(store) ? record.path : undefined }
  } catch (error) {
    return { whole: ['failed', codeOf(error)], path: undefined }
  }
}

/** What became of a whole that was saved. */
export function wholeIn(store: SpillStore, record: SpillRecord): Whole {
  return isNamedById(store)
    ? [record.complete ? 'wholeById' : 'partById', record.id]
    : [record.complete ? 'whole' : 'part', record.path]
}

/** The code of what a store failed with. */
export function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null ? get(error, 'code') : undefined
  return typeof code === 'string' ? code : 'ERR_SPILLWAY_SPILL'
}

import { type Ahead, type Answer, type HeldText, PENDING } from '../ahead.js'
import { native } from '../engine.js'
import { MOST_PER_CHAR, roomAfter } from '../json.js'
import { isObject, tryRead } from '../untrusted.js'
import { narrowness, pieces, READ_WHOLE } from './pieces.js'

/** Runs of a clamp. A run may ask threads for more: to clean a text, to redact it, to search it,
 *  and again for a text that the first cut made shorter. */
const ROUNDS = 8

/** Bytes that are copied before the event loop turns: some milliseconds. */
const COPIED = 4 * 1024 * 1024

/** Long work on a text. */
interface Work {
  ask(held: HeldText): Promise<unknown>
  /** The part of the text that the work does not read. */
  readonly unread: readonly [start: number, end: number]
}

/** Answers by the work. Undefined where a thread failed: the clamp does that work itself. */
type Answers = Map<unknown, Answer<unknown> | undefined>

const NOTHING = [0, 0] as const

/** The timer of the process. Tests of a caller may replace the global one, and never run it. */
const { setImmediate: nextTurn } = globalThis

/**
 * Has threads do the long work of a clamp, which itself is synchronous.
 *
 * A clamp decides step by step which text it cleans, redacts and searches, and a step depends on
 * the one before. So the clamp runs as a trial. Where it meets long work it takes note of it, goes
 * on with some answer, and what it makes is thrown away. Threads do the work that was noted, and
 * the clamp runs again with their answers, until it meets no more work. The last run is the same
 * code, on the same values, as a synchronous call, so its result is the same.
 *
 * The policy of the clamp carries the answers, so that a call which code of the user makes
 * meanwhile has none of them.
 */
export class Rounds implements Ahead {
  readonly #answers = new Map<string, Answers>()
  /** Values that are made once for all runs. */
  readonly #made = new Map<object, unknown>()
  /** Work that the last trial noted. */
  readonly #noted = new Map<string, Map<unknown, Work>>()
  #isTrial = false

  answer<T>(
    text: string,
    work: unknown,
    ask: (held: HeldText) => Promise<T>,
    unread: () => readonly [start: number, end: number] = () => NOTHING,
  ): Answer<T> | typeof PENDING | undefined {
    if (text.length <= READ_WHOLE) return undefined
    const answers = this.#answers.get(text)
    if (answers?.has(work) || !this.#isTrial) return answers?.get(work) as Answer<T> | undefined
    const noted = this.#noted.get(text) ?? new Map<unknown, Work>()
    this.#noted.set(text, noted)
    if (!noted.has(work)) noted.set(work, { ask, unread: unread() })
    return PENDING
  }

  once<T>(from: object, make: () => T): T {
    if (!this.#made.has(from)) this.#made.set(from, make())
    return this.#made.get(from) as T
  }

  /** Runs a clamp until it has all answers, and returns what the last run made. The runs must do
   *  nothing but return a value. */
  async settle<T>(run: () => T): Promise<T> {
    for (let round = 0; round < ROUNDS; round++) {
      const outcome = this.#tried(run)
      if (this.#noted.size === 0) return outcome()
      const texts = [...this.#noted]
      this.#noted.clear()
      await Promise.all(texts.map(([text, works]) => this.#work(text, works)))
    }
    return run()
  }

  #work(text: string, works: ReadonlyMap<unknown, Work>): Promise<void> {
    const answers: Answers = this.#answers.get(text) ?? new Map<unknown, Answer<unknown> | undefined>()
    this.#answers.set(text, answers)
    for (const work of works.keys()) answers.set(work, undefined)
    return inLane(() => workOn(text, works, answers))
  }

  /** Runs a trial. Returns its outcome as a function. */
  #tried<T>(run: () => T): () => T {
    this.#isTrial = true
    try {
      const made = run()
      return () => made
    } catch (error) {
      return () => {
        throw error
      }
    } finally {
      this.#isTrial = false
    }
  }
}

/** Returns true if a value may hold a text that is work for threads, or be written as one. */
export function mayBeLong(value: unknown): boolean {
  if (typeof value === 'string') return value.length > READ_WHOLE
  return isObject(value) && (tryRead(() => roomAfter(value, READ_WHOLE * MOST_PER_CHAR)) ?? -1) < 0
}

async function workOn(text: string, works: ReadonlyMap<unknown, Work>, answers: Answers): Promise<void> {
  const held = native.holdText()
  try {
    await copy(text, held, [...works.values()])
    for (const [work, { ask }] of works) answers.set(work, { value: await ask(held) })
  } finally {
    await native.releaseText(held)
  }
}

/** Copies a text, a part in each turn of the event loop. Measures what no work reads. */
async function copy(text: string, held: HeldText, works: readonly Work[]): Promise<void> {
  const isNarrow = narrowness(text)
  const start = Math.max(...works.map(({ unread }) => unread[0]))
  const end = Math.min(...works.map(({ unread }) => unread[1]))
  let [at, before, copied] = [0, 0, 0]
  for (const piece of pieces(text)) {
    const narrow = isNarrow(piece)
    // The first piece of the middle has the end of a line that is read.
    native.holdPiece(held, piece, narrow, before >= start && at < end)
    before = at
    at += piece.length
    copied += piece.length * (narrow ? 1 : 2)
    if (copied >= COPIED) {
      copied = 0
      await new Promise((resolve) => nextTurn(resolve))
    }
  }
}

/** Texts that are worked on at once. The threads, four by default, read files and look up names
 *  too. */
const lanes = [Promise.resolve(), Promise.resolve()]
let next = 0

/** Waits for a lane, and works. Never rejects. */
function inLane(work: () => Promise<void>): Promise<void> {
  const at = next++ % lanes.length
  const done = (lanes[at] as Promise<void>).then(work).catch(() => {})
  lanes[at] = done
  return done
}

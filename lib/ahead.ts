import type { native } from './engine.js'

/** A copy of a text for threads. */
export type HeldText = ReturnType<typeof native.holdText>

/** The answer of a thread about a text. */
export interface Answer<T> {
  readonly value: T
}

/** Stands for an answer that a thread is asked for. */
export const PENDING = Symbol('pending')

/** Long work that threads do before a clamp uses it. */
export interface Ahead {
  /** Returns the answer about a text, or PENDING in a trial. Returns undefined if the caller has to
   *  find it out. `work`: names the work, so that it is done once. `unread`: the part of the text
   *  that it does not read. */
  answer<T>(
    text: string,
    work: unknown,
    ask: (held: HeldText) => Promise<T>,
    unread?: () => readonly [start: number, end: number],
  ): Answer<T> | typeof PENDING | undefined
  /** Returns what is made of an object, the same in each run. */
  once<T>(from: object, make: () => T): T
}

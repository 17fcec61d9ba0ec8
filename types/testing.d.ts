/**
 * Tests of your own tools: a store in memory, and three assertions, also as matchers. Tests that a
 * SpillStore keeps its contract, for stores of your own. None needs a test framework: give them
 * yours. docs/testing.md.
 */

import type { Limits, SpillRecord, SpillStore } from 'spillway'

/** An output that a memory store has. */
export interface SavedOutput {
  readonly record: SpillRecord
  /** All that is kept of it. Invalid UTF-8 is U+FFFD. */
  readonly text: string
  readonly tool?: string
  readonly callId?: string
}

/** Creates a store in memory. The same output of the same call has the same id in every process. */
export function createMemoryStore(limits?: StoreLimits): SpillStore & {
  /** Outputs that were saved and not swept, in the order of their first saves. */
  readonly saved: readonly SavedOutput[]
}

/**
 * Throws an AssertionError unless a line of `result` contains `line`, or matches it. A string with
 * newlines may be anywhere. `result` is a text, a tool result or message of any dialect, or data,
 * which counts as its JSON.
 */
export function assertKeeps(result: unknown, line: string | RegExp): void
/** Throws an AssertionError unless all texts of `result` together are within the limits that are
 *  given. `maxLineBytes` counts for each line. */
export function assertWithin(result: unknown, limits: Limits): void
/** Throws an AssertionError unless `result` has a notice of this package, or a mark of a gap or a
 *  long line. A template or function of your own as `notice` is not recognized. */
export function assertSaysWhatIsMissing(result: unknown): void

/** Outcome of a matcher. */
export interface Matched {
  pass: boolean
  message: () => string
}
/** The assertions for `expect.extend` of vitest and Jest. */
export const matchers: {
  toKeepLine(result: unknown, line: string | RegExp): Matched
  toBeWithin(result: unknown, limits: Limits): Matched
  toSayWhatIsMissing(result: unknown): Matched
}
/** The matchers as members of an assertion, to declare them for your framework: docs/testing.md. */
export interface SpillwayMatchers<R = void> {
  toKeepLine(line: string | RegExp): R
  toBeWithin(limits: Limits): R
  toSayWhatIsMissing(): R
}

/** A framework's function that defines a test, such as those of vitest, jest or node:test. */
export interface TestRunner {
  test(name: string, run: () => Promise<void>): void
}

/** Limits that a store is made with, by the names of those of createSpillStore. */
export interface StoreLimits {
  /** Bytes kept of an output. */
  maxFileBytes?: number | undefined
  /** Bytes of all outputs, and milliseconds since an output ended, beyond which a sweep removes
   *  outputs. */
  maxTotalBytes?: number | undefined
  maxAge?: number | undefined
}

/**
 * Defines the tests of a store: what is saved, in texts, bytes and chunks; pages by line and by
 * byte; searches; lists; quotas; sweeps by size and by age; saves at once, beside sweeps.
 *
 * Of failures they try those that a caller can bring about: chunks that end in an error, before the
 * first one and after several, also beside another save; ids that are not ids; reads and searches
 * of what a sweep removed; texts, ranges, patterns and options that are wrong. Engines that are
 * away, slow or full are yours to try.
 *
 * `make` is called by each test, and returns a store without outputs, or with those of earlier
 * tests. Some tests call it with limits. A store may disregard them: it then keeps the whole output
 * and says so, and its sweeps remove nothing. One that regards them sets no least age. What is left
 * by a killed process differs from store to store and is not tested.
 */
export function testSpillStore(
  make: (limits: StoreLimits) => SpillStore | Promise<SpillStore>,
  runner: TestRunner,
): void

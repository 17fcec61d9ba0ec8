/**
 * Tests that a SpillStore keeps its contract, for stores of your own. They need no test framework:
 * give them yours.
 */

import type { SpillStore } from 'spillway'

/** A framework's function that defines a test, such as those of vitest, jest or node:test. */
export interface TestRunner {
  test(name: string, run: () => Promise<void>): void
}

/** Limits that a store is made with, by the names of those of createSpillStore. */
export interface StoreLimits {
  /** Bytes kept of an output. */
  maxFileBytes?: number
  /** Bytes of all outputs, and milliseconds since an output ended, beyond which a sweep removes
   *  outputs. */
  maxTotalBytes?: number
  maxAge?: number
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

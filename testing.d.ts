/**
 * Tests that a SpillStore keeps its contract, for stores of your own. They need no test framework: give them yours.
 */

import type { SpillStore } from 'spillway'

/** A framework's function that defines a test, such as those of vitest, jest or node:test. */
export interface TestRunner {
  test(name: string, run: () => Promise<void>): void
}

/**
 * Defines the tests of a store: what is saved, in texts, bytes and chunks; pages by line and by byte; searches; lists
 * and sweeps; saves at once; chunks that fail; ids that are not ids.
 *
 * `make` is called by each test, and returns a store without outputs, or with those of earlier tests. Quotas, ages and
 * what is left by a killed process differ from store to store and are not tested.
 */
export function testSpillStore(make: () => SpillStore | Promise<SpillStore>, runner: TestRunner): void

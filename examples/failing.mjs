// A test run as agents meet them: thousands of passes, and the failure at the very end.
import assert from 'node:assert/strict'
import { test } from 'node:test'

for (let id = 1; id <= 3_000; id++) test(`invoice ${id} adds up`, () => assert.equal(id + id, 2 * id))

test('invoice 3001 adds up', () => assert.equal(0.1 + 0.2, 0.3))

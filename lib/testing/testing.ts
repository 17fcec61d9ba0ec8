export { assertKeeps, assertSaysWhatIsMissing, assertWithin, matchers } from './assertions.js'
export { createMemoryStore } from './memory_store.js'
export { testSpillStore } from './spill_store.js'

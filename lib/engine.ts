import type * as engine from '../native.js'

/** The native engine. Loaded with `require`: from an import, a bundler makes a getter call for each function. */
export const native: typeof engine = require('../native.js')

export type { CapturedCut, CapturedTexts, Cut, SpillFailure } from '../native.js'

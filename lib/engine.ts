import type * as engine from '../native.js'

/** The engine. Required as it is: what a bundler makes of an import reads each function through a getter. */
export const native: typeof engine = require('../native.js')

export type { CapturedCut, Cut, SpillFailure } from '../native.js'

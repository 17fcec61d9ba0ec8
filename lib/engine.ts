import type * as engine from '../native.js'
import { here, loadEngine } from './loader/loader.js'

/** The native engine, typed by napi. Bound to one name: from an import, a bundler makes a getter
 *  call for each function. */
export const native = loadEngine(here) as typeof engine

export type { CapturedCut, CapturedTexts, Cut, ShapedJson, SpillFailure } from '../native.js'

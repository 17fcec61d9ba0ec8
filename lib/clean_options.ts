import type { CleanOptions } from 'spillway'
import { checkNames, checkNamesWithin, flag, optionError } from './validate.js'

/** Steps of cleaning, in the order of bindings/src/clean.rs. */
export type CleanSteps = readonly [
  ansi: boolean,
  carriageReturns: boolean,
  control: boolean,
  repeats: boolean,
  html: boolean,
]

export const ALL: CleanSteps = [true, true, true, true, false]
export const NONE: CleanSteps = [false, false, false, false, false]

/** Checks the options of a cleaning. `within`: the option that contains them, if any. */
export function checkCleaning(options: CleanOptions | undefined, within = ''): CleanSteps {
  if (options === undefined) return ALL
  if (within === '') checkNames('clean', 'options', options)
  const field = (name: string) => (within === '' ? name : `${within}.${name}`)
  return [
    flag(field('ansi'), options.ansi, true),
    flag(field('carriageReturns'), options.carriageReturns, true),
    flag(field('control'), options.control, true),
    flag(field('repeats'), options.repeats, true),
    flag(field('html'), options.html, false),
  ]
}

/** Checks the `clean` option of a policy. Returns undefined if it does not clean. */
export function checkClean(clean: boolean | CleanOptions | undefined): CleanSteps | undefined {
  if (clean === undefined || clean === false) return undefined
  if (clean === true) return ALL
  if (typeof clean !== 'object' || clean === null)
    throw optionError(TypeError, 'clean', 'true, false or an object', clean)
  return checkCleaning(checkNamesWithin('clean', clean), 'clean')
}

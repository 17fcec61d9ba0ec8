import { byType, FLAG, mapped } from './kinds.js'
import { objectOf, option, Table, type Values } from './option_table.js'

/** Steps of cleaning, in the order of bindings/src/clean.rs. */
export type CleanSteps = readonly [
  ansi: boolean,
  carriageReturns: boolean,
  control: boolean,
  repeats: boolean,
  html: boolean,
]

export const CLEAN = new Table({
  ansi: option(FLAG, true),
  carriageReturns: option(FLAG, true),
  control: option(FLAG, true),
  repeats: option(FLAG, true),
  html: option(FLAG, false),
})

/** Returns the steps of a cleaning in their order. */
export function stepsOf(values: Values<typeof CLEAN.rows>): CleanSteps {
  return Object.values(values) as unknown as CleanSteps
}

const ALL = stepsOf(CLEAN.values({}))

/** The steps of a policy, undefined if it does not clean. */
export const CLEANING = byType<CleanSteps | undefined>('true, false or an object', {
  boolean: mapped(FLAG, (cleans) => (cleans ? ALL : undefined)),
  object: mapped(objectOf(CLEAN), stepsOf),
})

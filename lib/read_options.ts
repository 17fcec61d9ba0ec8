import type { Table, Values } from './option_table.js'
import { POLICY, TABLES } from './options.js'
import { checkHolder, checkOptions, coded, isEverywhere, unknownName } from './validate.js'

/** A function or an option that takes options. */
export type Taker = keyof typeof TABLES
/** The checked options of a taker. */
export type OptionsOf<T extends Taker> = Values<(typeof TABLES)[T]['rows']>

const WITH_POLICY: ReadonlySet<Taker> = new Set(['messages', 'capture', 'guard', 'repair', 'inspect'])

/** Names of all options, by taker, its own first. */
export const OPTIONS = Object.fromEntries(
  Object.entries(TABLES).map(([taker, { names }]) => [
    taker,
    WITH_POLICY.has(taker as Taker) ? [...names, ...POLICY.names] : names,
  ]),
) as Readonly<Record<Taker, readonly string[]>>

/** Options whose values are objects with options of their own, which no function takes beside
 *  them. */
const HOLDERS: readonly Taker[] = ['media', 'sideData', 'aggregate']

/** Names that every function accepts, since one object of options may serve all functions of this
 *  package. */
const KNOWN: ReadonlySet<string> = new Set(
  Object.entries(OPTIONS).flatMap(([taker, names]) => (HOLDERS.includes(taker as Taker) ? [] : names)),
)

/** Names whose plural or singular is a name too. Each function has one of the two. */
const TWINS: ReadonlySet<string> = new Set([...KNOWN].filter((name) => KNOWN.has(twinOf(name))))

function twinOf(name: string): string {
  return name.endsWith('s') ? name.slice(0, -1) : `${name}s`
}

/** Returns true for the plural or the singular of a taker's own name, which is not given. */
function isTwin(name: string, own: readonly string[], given: object): boolean {
  return !own.includes(name) && own.includes(twinOf(name)) && !(twinOf(name) in given)
}

/** Rejects values other than objects, and unknown names. Inherited names and undefined values
 *  count: they are misspelt all the same. */
export function checkNames<T extends object>(taker: Taker, field: string, value: T): T {
  let isEmpty = true
  for (const name in checkOptions(field, value)) {
    isEmpty = false
    const isKnown = KNOWN.has(name) && !(TWINS.has(name) && isTwin(name, OPTIONS[taker], value))
    if (isKnown || isEverywhere(name)) continue
    checkHolder(field, value)
    const own = OPTIONS[taker]
    const holder = HOLDERS.find((option) => own.includes(option) && OPTIONS[option].includes(name))
    const [near, far] = holder === undefined ? [own, [...KNOWN]] : [[], [`${holder}.${name}`]]
    throw coded(new TypeError(unknownName('option', name, near, far)))
  }
  if (isEmpty) checkHolder(field, value)
  return value
}

/** Returns the options of a taker, checked, without those of a policy. */
export function optionsOf<T extends Taker>(taker: T, field: string, given: object): OptionsOf<T> {
  checkNames(taker, field, given)
  return ownOptionsOf(taker, given)
}

/** Like `optionsOf`, if the names are checked with a policy. */
export function ownOptionsOf<T extends Taker>(taker: T, given: object): OptionsOf<T> {
  const table = TABLES[taker] as unknown as Table<(typeof TABLES)[T]['rows']>
  const values = table.values(given)
  table.checkNeeds(values)
  return values
}

// All options of the package. A row says what an option takes, its default, its unit, what it needs
// to have an effect, and for a policy the functions that it reaches. From the rows come the checks
// of values and names, the flags of the command line (cli/option_flags.ts) and the table of
// docs/options.md; the sentence of an option is the comment in index.d.ts. A new option is a row
// here, a member there, and the code that uses its value.
import { types } from 'node:util'
import type { ClearOptions, DialectName } from 'spillway'
import type { RemoteSpillOptions } from 'spillway/remote'
import { CLEAN, CLEANING } from './clean_options.js'
import { dialectNames } from './dialects.js'
import {
  ANY,
  byType,
  COUNT,
  FLAG,
  FUNCTION,
  ID,
  type Kind,
  kind,
  listOf,
  mapped,
  oneOf,
  SHARE,
  SIGNAL,
  STORE,
  STRING,
  STRINGS,
  WHOLE,
  withMethods,
} from './kinds.js'
import { BUDGET, MEDIA } from './media_options.js'
import { HINT, NOTICE } from './notice.js'
import {
  type Option,
  objectOf,
  option,
  partsOf,
  type Rows,
  required,
  Table,
  type Values,
} from './option_table.js'
import { QUERY } from './query.js'
import { SCHEMA } from './schema.js'
import { KEPT, SIDE, SIDE_DATA } from './side_data_options.js'
import { checkHolder, checkOptions, coded, isEverywhere, optionError, unknownName } from './validate.js'

export const SYNC = 'a function that answers at once'

const NONE = Number.POSITIVE_INFINITY
const MIB = 1024 * 1024
const HOUR = 60 * 60 * 1000

/** Forms of JSON, of values of `json`. */
const JSONED = ['data', 'keep-shape']

const JSONS = ['clampJson', 'clampJsonWithReport']
const TEXTS = ['clampText', 'clampTextWithReport', ...JSONS]
export const RESULTS = ['clampError', 'clampResult', 'clampMessages', 'applyPlan', 'wrapTool']
/** The functions that cut. One policy may serve all, so each accepts all of their options and
 *  ignores those of the others. */
export const ALL = [...TEXTS, ...RESULTS] as const
const but = (all: readonly string[], ...names: readonly string[]) => all.filter((one) => !names.includes(one))

/** Read when one is given: the table of dialects is long. */
const DIALECT: Kind<DialectName> = {
  rule: 'a name of docs/frameworks.md',
  take: (field, value) => oneOf(...dialectNames()).take(field, value),
}
/** The key of the ids of a store. The error does not show the value. */
const SECRET: Kind<string> = {
  rule: 'a string of at least 16 chars',
  take(field, value) {
    if (typeof value !== 'string') throw optionError(TypeError, field, this.rule, typeof value)
    if (value.length < 16) throw optionError(RangeError, field, this.rule, `${value.length} chars`)
    return value.toWellFormed()
  },
}
/** A text, made well-formed. */
const TEXT = mapped(STRING, (text) => text.toWellFormed())
/** Names joined by ":". */
const PREFIX = kind<string>('names joined by ":"', 'string', (prefix) =>
  /^(?:[\w-][\w.-]*(?::[\w-][\w.-]*)*)?$/.test(prefix),
)
const METHODS = ['getItemRaw', 'setItemRaw', 'removeItem', 'getKeys']
const STORAGE = withMethods<RemoteSpillOptions['storage']>(`an object with ${METHODS.join(', ')}`, ...METHODS)
const PATH = kind<string>('the path of a directory', 'string', (path) => path !== '' && !path.includes('\0'))
const PRICE = kind<number>('a number from 0 up', 'number', (value) => value >= 0 && value < NONE)
const FACTOR = kind<number>('a number over 0', 'number', (value) => value > 0 && value < NONE)
const WORDS = kind<string>('a text with words', 'string', (text) => text.trim() !== '')
/** A hook whose answer is needed at once: a message is written where it is appended. */
// biome-ignore lint/suspicious/noExplicitAny: the type of each option says which function it takes
const HOOK = kind<any>(
  SYNC,
  'any object',
  (value) => typeof value === 'function' && !types.isAsyncFunction(value),
)
const PLACEHOLDER = byType<ClearOptions['placeholder']>('a string or a function', {
  string: STRING,
  function: FUNCTION,
})

/** Letters, digits, blanks, "_" and "-": no format finds a text of these alone. */
const NAME = kind<string>('up to 64 letters, digits, blanks, _ and -', 'string', (name) =>
  /^[\w -]{1,64}$/.test(name),
)
const PATTERN = objectOf(new Table({ kind: required(NAME), pattern: required(STRING) }))
const REDACT = new Table({
  kinds: option(STRINGS),
  patterns: option(listOf('an array of objects', PATTERN)),
})

/** What a policy redacts, undefined for nothing. */
const REDACTED = byType<Values<typeof REDACT.rows> | undefined>('true, false or an object', {
  boolean: mapped(FLAG, (redacts) => (redacts ? REDACT.values({}) : undefined)),
  object: objectOf(REDACT),
})

/** The options of a policy, by the function of index.d.ts that first takes them. */
export const POLICY = new Table({
  maxBytes: option(WHOLE, 51_200, { unit: 'bytes', reaches: ALL }),
  maxLines: option(WHOLE, 2_000, { unit: 'lines', reaches: ALL }),
  maxChars: option(WHOLE, NONE, { unit: 'chars', reaches: ALL }),
  maxTokens: option(WHOLE, NONE, { unit: 'tokens', reaches: ALL }),
  maxLineBytes: option(WHOLE, NONE, { unit: 'bytes', reaches: ALL }),
  keep: option(oneOf('head', 'tail', 'ends', 'findings', 'relevant', 'auto'), 'auto', { reaches: ALL }),
  headShare: option(SHARE, 0.5, { reaches: ALL, needs: { keep: ['ends'] } }),
  needles: option(STRINGS, [], { reaches: ALL }),
  query: option(QUERY, undefined, { reaches: ALL, needs: { keep: ['auto', 'findings', 'relevant'] } }),
  isError: option(FLAG, false, { reaches: but(ALL, 'clampError') }),
  snap: option(oneOf('line', 'char'), 'line', { reaches: ALL }),
  notice: option(NOTICE, HINT, { reaches: ALL }),
  source: option(TEXT, 'output', { reaches: ALL }),
  clean: option(CLEANING, undefined, { reaches: ALL }),
  redact: option(REDACTED, undefined, { reaches: ALL }),
  share: option(oneOf('fair', 'order', 'each'), 'fair', { reaches: RESULTS }),
  dialect: option(DIALECT, undefined, { reaches: RESULTS }),
  sideData: option(SIDE_DATA, KEPT, { reaches: RESULTS }),
  structured: option(oneOf('both', 'text', 'structured'), 'both', { reaches: but(RESULTS, 'applyPlan') }),
  json: option(oneOf('data', 'text', 'keep-shape'), 'data', { reaches: RESULTS }),
  schema: option(SCHEMA, undefined, { reaches: [...JSONS, ...RESULTS], needs: { json: JSONED } }),
  media: option(BUDGET, undefined, { reaches: but(RESULTS, 'applyPlan') }),
  observe: option(FLAG, false, { reaches: RESULTS }),
  method: option(STRING, undefined, { reaches: ['wrapTool'] }),
  onClamp: option(FUNCTION, undefined, { reaches: ['wrapTool'] }),
  spill: option(STORE, undefined, { reaches: ['wrapTool'] }),
  explain: option(FLAG, false, { reaches: ['clampTextWithReport'] }),
})

const ORDER = oneOf('oldest', 'newest')
export const AGGREGATE = new Table({
  maxChars: required(WHOLE, { unit: 'chars' }),
  order: option(ORDER, 'oldest'),
  protectNewest: option(FLAG, true),
  minKeepChars: option(WHOLE, 2_000, { unit: 'chars' }),
})
const OF_PROMPT = new Table({
  ...AGGREGATE.rows,
  maxChars: option(WHOLE, undefined, { unit: 'chars' }),
  order: option(ORDER),
  minKeepChars: option(WHOLE, 0, { unit: 'chars' }),
})

const STEP = {
  index: required(WHOLE),
  callId: option(STRING),
  chars: required(WHOLE),
  maxChars: required(WHOLE),
  media: option(WHOLE),
}
/** The steps of a plan, of which one that is applied may leave `maxChars` out. */
export const PLAN = listOf('an array of steps', objectOf(new Table(STEP)))
export const OPEN_PLAN = listOf(
  'an array of steps',
  objectOf(new Table({ ...STEP, maxChars: option(WHOLE, NONE) })),
)

export const PRICES = new Table({ write: option(PRICE), read: option(PRICE), input: option(PRICE, 1) })

/** An amount with its unit, as Anthropic writes it. */
function amount<T extends string>(value: number, ...units: readonly [T, ...T[]]) {
  const rows = { type: option<T>(oneOf(...units), units[0]), value: option(WHOLE, value) }
  return objectOf(new Table(rows))
}

const PROMPT = {
  messages: option(ANY),
  systemPrompt: option(STRING, ''),
  prompt: option(STRING, ''),
  tools: option(ANY),
  contextTokens: required(WHOLE, { unit: 'tokens' }),
  reserveTokens: required(WHOLE, { unit: 'tokens' }),
  safetyMargin: option(FACTOR, 1.1),
  countTokens: option(FUNCTION),
  lastUsage: option(partsOf(new Table({ inputTokens: required(WHOLE), messages: required(WHOLE) }))),
  perResultMaxChars: option(WHOLE, undefined, { unit: 'chars' }),
  aggregate: option(objectOf(OF_PROMPT), OF_PROMPT.values({})),
  maxRequestBytes: option(WHOLE, undefined, { unit: 'bytes' }),
  provider: option(oneOf('anthropic', 'openai', 'gemini')),
  media: option(BUDGET),
  prices: option(objectOf(PRICES)),
}

const CLEAR = {
  trigger: option(amount(100_000, 'input_tokens', 'tool_uses'), { type: 'input_tokens', value: 100_000 }),
  keep: option(amount(3, 'tool_uses', 'input_tokens'), { type: 'tool_uses', value: 3 }),
  clearAtLeast: option(amount(0, 'input_tokens'), { type: 'input_tokens', value: 0 }),
  excludeTools: option(STRINGS, []),
  clearToolInputs: option(
    byType<boolean | string[]>('true, false or an array of strings', { boolean: FLAG, object: STRINGS }),
    false,
  ),
  keepUsed: option(FLAG, false),
  dedupe: option(
    byType<'exact' | 'near' | false>("'exact', 'near' or false", {
      string: oneOf('exact', 'near'),
      boolean: kind<false>("'exact', 'near' or false", 'boolean', (value) => !value),
    }),
    false,
  ),
  prices: option(objectOf(PRICES), PRICES.values({})),
  requestsToCome: option(COUNT),
  state: option(ANY),
  spill: option(STORE),
  placeholder: option(PLACEHOLDER),
  observe: option(FLAG, false),
}

/** The options of each function, without those of a policy that it takes too. */
export const TABLES = {
  policy: POLICY,
  media: MEDIA,
  sideData: SIDE,
  clean: CLEAN,
  redact: REDACT,
  display: new Table({
    maxChars: option(WHOLE, 8_000, { unit: 'chars' }),
    maxErrorChars: option(WHOLE, 400, { unit: 'chars' }),
    // Checked with the policy that they become.
    clean: option(ANY, false),
    redact: option(ANY, false),
  }),
  messages: new Table({ aggregate: option(objectOf(AGGREGATE), undefined, { reaches: ['clampMessages'] }) }),
  aggregate: AGGREGATE,
  capture: new Table({
    streams: option(oneOf('merged', 'separate'), 'merged'),
    tool: option(STRING),
    callId: option(STRING),
  }),
  attach: new Table({ graceMs: option(WHOLE, 2_000, { unit: 'ms' }), signal: option(SIGNAL) }),
  store: new Table({
    dir: required(PATH),
    reference: option(oneOf('path', 'id'), 'path'),
    secret: option(SECRET),
    maxFileBytes: option(WHOLE, 64 * MIB, { unit: 'bytes' }),
    maxTotalBytes: option(WHOLE, 512 * MIB, { unit: 'bytes' }),
    maxAge: option(WHOLE, 7 * 24 * HOUR, { unit: 'ms' }),
    minAge: option(WHOLE, HOUR, { unit: 'ms' }),
  }),
  remote: new Table({
    storage: required(STORAGE),
    prefix: option(PREFIX, 'spillway'),
    secret: option(SECRET),
    maxFileBytes: option(WHOLE, 64 * MIB, { unit: 'bytes' }),
    maxTotalBytes: option(WHOLE, NONE, { unit: 'bytes' }),
    maxAge: option(WHOLE, 7 * 24 * HOUR, { unit: 'ms' }),
    timeout: option(COUNT, 5_000, { unit: 'ms' }),
  }),
  save: new Table({ tool: option(STRING), callId: option(STRING) }),
  read: new Table({
    line: option(COUNT, 1),
    byte: option(WHOLE),
    lines: option(COUNT, NONE, { unit: 'lines' }),
    maxBytes: option(COUNT, 40_960, { unit: 'bytes' }),
    exact: option(FLAG, false),
  }),
  search: new Table({
    regex: option(FLAG, false),
    ignoreCase: option(FLAG, false),
    context: option(WHOLE, 0, { unit: 'lines' }),
    max: option(COUNT, 100),
    line: option(COUNT, 1),
    exact: option(FLAG, false),
  }),
  sweep: new Table({ retain: option(listOf('an array of ids', ID), []) }),
  pairs: new Table({
    dialect: option(DIALECT),
    orphans: option(oneOf('drop', 'text'), 'drop'),
    missing: option(WORDS, '[No result: the call was interrupted, or its result was removed]'),
  }),
  precheck: new Table(PROMPT),
  recovery: new Table({
    ...PROMPT,
    observe: option(FLAG, false),
    send: required(FUNCTION),
    compact: option(FUNCTION),
    truncate: option(FUNCTION),
    maxCompactions: option(WHOLE, 3),
    onEvent: option(FUNCTION),
    signal: option(SIGNAL),
  }),
  classify: new Table({ patterns: option(ANY, []) }),
  clear: new Table(CLEAR),
  context: new Table({
    contextTokens: required(WHOLE, { unit: 'tokens' }),
    reserveTokens: option(WHOLE, 16_384, { unit: 'tokens' }),
    safetyMargin: option(FACTOR, 1.1),
    prices: CLEAR.prices,
    requestsToCome: CLEAR.requestsToCome,
    keep: option(amount(0, 'tool_uses', 'input_tokens')),
    excludeTools: CLEAR.excludeTools,
    spill: option(STORE),
    placeholder: CLEAR.placeholder,
    policy: option(ANY),
    state: option(ANY),
    observe: option(FLAG, false),
  }),
  guard: new Table({
    transform: option(HOOK),
    beforeWrite: option(HOOK),
    maxRowBytes: option(WHOLE, 262_144, { unit: 'bytes' }),
    inPlace: option(FLAG, true),
  }),
  repair: new Table({
    aggregate: option(objectOf(AGGREGATE)),
    plan: option(PLAN),
    backup: option(FLAG, true),
    dryRun: option(FLAG, false),
    lock: option(FLAG, true),
    lockTimeout: option(WHOLE, 10_000, { unit: 'ms', needs: { lock: [true] } }),
    signal: option(SIGNAL),
    onProgress: option(FUNCTION),
    damaged: option(oneOf('keep', 'mend'), 'keep'),
    pairs: option(FLAG, false),
  }),
  inspect: new Table({ signal: option(SIGNAL), top: option(WHOLE, 10) }),
} satisfies Record<string, Table<Rows>>

/** Returns the options that reach a function that cuts. */
export function reaching(name: string): string[] {
  const rows = Object.entries<Option<unknown>>({ ...TABLES.messages.rows, ...POLICY.rows })
  return rows.filter(([, { reaches }]) => reaches?.includes(name)).map(([option]) => option)
}

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

/** Names that every function accepts, since one object of options may serve all functions of this
 *  package. */
const KNOWN: ReadonlySet<string> = new Set(Object.values(OPTIONS).flat())

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
    throw coded(new TypeError(unknownName('option', name, OPTIONS[taker], [...KNOWN])))
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

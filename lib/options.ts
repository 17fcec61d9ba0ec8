// All options of the package. A row states the kind of an option, its default, its unit, the
// options that it needs to have an effect, and for a policy the functions that it reaches. From the
// rows come the checks of values and names, the flags of the command line (cli/option_flags.ts) and
// the table of docs/options.md; the sentence of an option is the comment in index.d.ts. A new
// option is a row here, a member there, and the code that uses its value.
import type { DialectName } from 'spillway'
import { CLEAN, CLEANING } from './clean_options.js'
import { dialectNames } from './dialects.js'
import * as is from './kinds.js'
import { byType, type Kind, kind, listOf, mapped, oneOf, some } from './kinds.js'
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
/** Letters, digits, blanks, "_" and "-": no format finds a text of these alone. */
const NAME = some(is.STRING, 'up to 64 letters, digits, blanks, _ and -', (name) =>
  /^[\w -]{1,64}$/.test(name),
)
const PATTERN = objectOf(new Table({ kind: required(NAME), pattern: required(is.STRING) }))
const REDACT = new Table({
  kinds: option(is.STRINGS),
  patterns: option(listOf('an array of objects', PATTERN)),
})

/** The secrets that a policy redacts, undefined for none. */
const REDACTED = byType<Values<typeof REDACT.rows> | undefined>('true, false or an object', {
  boolean: mapped(is.FLAG, (redacts) => (redacts ? REDACT.values({}) : undefined)),
  object: objectOf(REDACT),
})

/** Side data: its treatment, and the bytes of JSON that 'cap' keeps of each copy. */
type SideData = { readonly sideData: 'whole' | 'cap' | 'drop'; readonly maxSideBytes: number }
const CAP = 8_192
const SIDE = new Table({ maxBytes: required(is.WHOLE, { unit: 'bytes' }) })
const SIDE_DATA = byType<SideData>("'whole', 'cap', 'drop' or { maxBytes }", {
  string: mapped(oneOf('whole', 'cap', 'drop'), (sideData) => ({ sideData, maxSideBytes: CAP })),
  object: mapped(objectOf(SIDE), ({ maxBytes }) => ({ sideData: 'cap', maxSideBytes: maxBytes })),
})

/** The options of a policy, by the function of index.d.ts that first takes them. */
export const POLICY = new Table({
  maxBytes: option(is.WHOLE, 51_200, { unit: 'bytes', reaches: ALL }),
  maxLines: option(is.WHOLE, 2_000, { unit: 'lines', reaches: ALL }),
  maxChars: option(is.WHOLE, NONE, { unit: 'chars', reaches: ALL }),
  maxTokens: option(is.WHOLE, NONE, { unit: 'tokens', reaches: ALL }),
  maxLineBytes: option(is.WHOLE, NONE, { unit: 'bytes', reaches: ALL }),
  keep: option(oneOf('auto', 'head', 'tail', 'ends', 'findings', 'relevant'), 'auto', { reaches: ALL }),
  headShare: option(is.SHARE, 0.5, { reaches: ALL, needs: { keep: ['ends'] } }),
  needles: option(is.STRINGS, [], { reaches: ALL }),
  query: option(QUERY, undefined, { reaches: ALL, needs: { keep: ['auto', 'findings', 'relevant'] } }),
  isError: option(is.FLAG, false, { reaches: but(ALL, 'clampError') }),
  snap: option(oneOf('line', 'char'), 'line', { reaches: ALL }),
  notice: option(NOTICE, HINT, { reaches: ALL }),
  source: option(is.TEXT, 'output', { reaches: ALL }),
  clean: option(CLEANING, undefined, { reaches: ALL }),
  redact: option(REDACTED, undefined, { reaches: ALL }),
  share: option(oneOf('fair', 'order', 'each'), 'fair', { reaches: RESULTS }),
  dialect: option(DIALECT, undefined, { reaches: RESULTS }),
  sideData: option(SIDE_DATA, { sideData: 'whole', maxSideBytes: CAP }, { reaches: RESULTS }),
  structured: option(oneOf('both', 'text', 'structured'), 'both', { reaches: but(RESULTS, 'applyPlan') }),
  json: option(oneOf('data', 'text', 'keep-shape'), 'data', { reaches: RESULTS }),
  schema: option(SCHEMA, undefined, { reaches: [...JSONS, ...RESULTS], needs: { json: JSONED } }),
  media: option(BUDGET, undefined, { reaches: but(RESULTS, 'applyPlan') }),
  observe: option(is.FLAG, false, { reaches: RESULTS }),
  method: option(is.STRING, undefined, { reaches: ['wrapTool'] }),
  onClamp: option(is.FUNCTION, undefined, { reaches: ['wrapTool'] }),
  spill: option(is.STORE, undefined, { reaches: ['wrapTool'] }),
  explain: option(is.FLAG, false, { reaches: ['clampTextWithReport'] }),
})

const ORDER = oneOf('oldest', 'newest')
export const AGGREGATE = new Table({
  maxChars: required(is.WHOLE, { unit: 'chars' }),
  order: option(ORDER, 'oldest'),
  protectNewest: option(is.FLAG, true),
  minKeepChars: option(is.WHOLE, 2_000, { unit: 'chars' }),
})
const OF_PROMPT = new Table({
  ...AGGREGATE.rows,
  maxChars: option(is.WHOLE, undefined, { unit: 'chars' }),
  order: option(ORDER),
  minKeepChars: option(is.WHOLE, 0, { unit: 'chars' }),
})

const STEP = {
  index: required(is.WHOLE),
  callId: option(is.STRING),
  chars: required(is.WHOLE),
  maxChars: required(is.WHOLE),
  media: option(is.WHOLE),
}
/** The steps of a plan. Those that applyPlan takes may leave `maxChars` out. */
export const PLAN = listOf('an array of steps', objectOf(new Table(STEP)))
export const OPEN_PLAN = listOf(
  'an array of steps',
  objectOf(new Table({ ...STEP, maxChars: option(is.WHOLE, NONE) })),
)

export const PRICES = new Table({
  write: option(is.PRICE),
  read: option(is.PRICE),
  input: option(is.PRICE, 1),
})

/** An amount with its unit, as Anthropic writes it. */
function amount<T extends string>(value: number, ...units: readonly [T, ...T[]]) {
  const rows = { type: option<T>(oneOf(...units), units[0]), value: option(is.WHOLE, value) }
  return objectOf(new Table(rows))
}

const PROMPT = {
  messages: option(is.ANY),
  systemPrompt: option(is.STRING, ''),
  prompt: option(is.STRING, ''),
  tools: option(is.ANY),
  contextTokens: required(is.WHOLE, { unit: 'tokens' }),
  reserveTokens: required(is.WHOLE, { unit: 'tokens' }),
  safetyMargin: option(is.FACTOR, 1.1),
  countTokens: option(is.FUNCTION),
  lastUsage: option(partsOf(new Table({ inputTokens: required(is.WHOLE), messages: required(is.WHOLE) }))),
  perResultMaxChars: option(is.WHOLE, undefined, { unit: 'chars' }),
  aggregate: option(objectOf(OF_PROMPT), OF_PROMPT.values({})),
  maxRequestBytes: option(is.WHOLE, undefined, { unit: 'bytes' }),
  provider: option(oneOf('anthropic', 'openai', 'gemini')),
  media: option(BUDGET),
  prices: option(objectOf(PRICES)),
}

const CLEAR = {
  trigger: option(amount(100_000, 'input_tokens', 'tool_uses'), { type: 'input_tokens', value: 100_000 }),
  keep: option(amount(3, 'tool_uses', 'input_tokens'), { type: 'tool_uses', value: 3 }),
  clearAtLeast: option(amount(0, 'input_tokens'), { type: 'input_tokens', value: 0 }),
  excludeTools: option(is.STRINGS, []),
  clearToolInputs: option(
    byType<boolean | string[]>('true, false or an array of strings', {
      boolean: is.FLAG,
      object: is.STRINGS,
    }),
    false,
  ),
  keepUsed: option(is.FLAG, false),
  dedupe: option(
    byType<'exact' | 'near' | false>("'exact', 'near' or false", {
      string: oneOf('exact', 'near'),
      boolean: kind<false>("'exact', 'near' or false", 'boolean', (value) => !value),
    }),
    false,
  ),
  prices: option(objectOf(PRICES), PRICES.values({})),
  requestsToCome: option(is.COUNT),
  state: option(is.ANY),
  spill: option(is.STORE),
  placeholder: option(is.PLACEHOLDER),
  observe: option(is.FLAG, false),
}

/** The options of each function, without those of a policy that it takes too. */
export const TABLES = {
  policy: POLICY,
  media: MEDIA,
  sideData: SIDE,
  clean: CLEAN,
  redact: REDACT,
  display: new Table({
    maxChars: option(is.WHOLE, 8_000, { unit: 'chars' }),
    maxErrorChars: option(is.WHOLE, 400, { unit: 'chars' }),
    // Checked with the policy that they become.
    clean: option(is.ANY, false),
    redact: option(is.ANY, false),
  }),
  messages: new Table({ aggregate: option(objectOf(AGGREGATE), undefined, { reaches: ['clampMessages'] }) }),
  aggregate: AGGREGATE,
  capture: new Table({
    streams: option(oneOf('merged', 'separate'), 'merged'),
    tool: option(is.STRING),
    callId: option(is.STRING),
  }),
  attach: new Table({ graceMs: option(is.WHOLE, 2_000, { unit: 'ms' }), signal: option(is.SIGNAL) }),
  store: new Table({
    dir: required(is.PATH),
    reference: option(oneOf('path', 'id'), 'path'),
    secret: option(is.SECRET),
    maxFileBytes: option(is.WHOLE, 64 * MIB, { unit: 'bytes' }),
    maxTotalBytes: option(is.WHOLE, 512 * MIB, { unit: 'bytes' }),
    maxAge: option(is.WHOLE, 7 * 24 * HOUR, { unit: 'ms' }),
    minAge: option(is.WHOLE, HOUR, { unit: 'ms' }),
  }),
  remote: new Table({
    storage: required(is.STORAGE),
    prefix: option(is.PREFIX, 'spillway'),
    secret: option(is.SECRET),
    maxFileBytes: option(is.WHOLE, 64 * MIB, { unit: 'bytes' }),
    maxTotalBytes: option(is.WHOLE, NONE, { unit: 'bytes' }),
    maxAge: option(is.WHOLE, 7 * 24 * HOUR, { unit: 'ms' }),
    timeout: option(is.COUNT, 5_000, { unit: 'ms' }),
  }),
  save: new Table({ tool: option(is.STRING), callId: option(is.STRING) }),
  read: new Table({
    line: option(is.COUNT, 1),
    byte: option(is.WHOLE),
    lines: option(is.COUNT, NONE, { unit: 'lines' }),
    maxBytes: option(is.COUNT, 40_960, { unit: 'bytes' }),
    exact: option(is.FLAG, false),
  }),
  search: new Table({
    regex: option(is.FLAG, false),
    ignoreCase: option(is.FLAG, false),
    context: option(is.WHOLE, 0, { unit: 'lines' }),
    max: option(is.COUNT, 100),
    line: option(is.COUNT, 1),
    exact: option(is.FLAG, false),
  }),
  sweep: new Table({ retain: option(listOf('an array of ids', is.ID), []) }),
  pairs: new Table({
    dialect: option(DIALECT),
    orphans: option(oneOf('drop', 'text'), 'drop'),
    missing: option(is.WORDS, '[No result: the call was interrupted, or its result was removed]'),
  }),
  precheck: new Table(PROMPT),
  recovery: new Table({
    ...PROMPT,
    observe: option(is.FLAG, false),
    send: required(is.FUNCTION),
    compact: option(is.FUNCTION),
    truncate: option(is.FUNCTION),
    maxCompactions: option(is.WHOLE, 3),
    onEvent: option(is.FUNCTION),
    signal: option(is.SIGNAL),
  }),
  classify: new Table({ patterns: option(is.ANY, []) }),
  clear: new Table(CLEAR),
  context: new Table({
    contextTokens: required(is.WHOLE, { unit: 'tokens' }),
    reserveTokens: option(is.WHOLE, 16_384, { unit: 'tokens' }),
    safetyMargin: option(is.FACTOR, 1.1),
    prices: CLEAR.prices,
    requestsToCome: CLEAR.requestsToCome,
    keep: option(amount(0, 'tool_uses', 'input_tokens')),
    excludeTools: CLEAR.excludeTools,
    spill: option(is.STORE),
    placeholder: CLEAR.placeholder,
    policy: option(is.ANY),
    state: option(is.ANY),
    observe: option(is.FLAG, false),
  }),
  guard: new Table({
    transform: option(is.HOOK),
    beforeWrite: option(is.HOOK),
    maxRowBytes: option(is.WHOLE, 262_144, { unit: 'bytes' }),
    inPlace: option(is.FLAG, true),
  }),
  repair: new Table({
    aggregate: option(objectOf(AGGREGATE)),
    plan: option(PLAN),
    backup: option(is.FLAG, true),
    dryRun: option(is.FLAG, false),
    lock: option(is.FLAG, true),
    lockTimeout: option(is.WHOLE, 10_000, { unit: 'ms', needs: { lock: [true] } }),
    signal: option(is.SIGNAL),
    onProgress: option(is.FUNCTION),
    damaged: option(oneOf('leave', 'mend'), 'leave'),
    pairs: option(is.FLAG, false),
  }),
  inspect: new Table({ signal: option(is.SIGNAL), top: option(is.WHOLE, 10) }),
} satisfies Record<string, Table<Rows>>

/** Returns the options that reach a function that cuts. */
export function reaching(name: string): string[] {
  const rows = Object.entries<Option<unknown>>({ ...TABLES.messages.rows, ...POLICY.rows })
  return rows.filter(([, { reaches }]) => reaches?.includes(name)).map(([option]) => option)
}

import { types } from 'node:util'
import type { ProviderError, ProviderErrorKind } from 'spillway'
import { kind, listOf, oneOf } from '../kinds.js'
import { objectOf, required, Table } from '../option_table.js'
import { optionsOf } from '../read_options.js'
import { tryRead } from '../untrusted.js'
import { type Layer, layersOf } from './error_layers.js'
import type { Figures } from './figures.js'
import { limitedPart } from './limited_part.js'
import { findPhrase, type Match, type Numbers, type Phrase, PhraseText, phrasesOf } from './phrases.js'
import table from './table.json'
import { ErrorText, kindOfName } from './verdict.js'

const KINDS = oneOf<ProviderErrorKind>(
  'context_overflow',
  'payload_too_large',
  'media_too_large',
  'field_too_long',
  'request_exceeds_rate_limit',
  'rate_limit',
  'malformed_unicode',
  'other',
)

const REGEXP = kind<RegExp>('a RegExp', 'any', types.isRegExp)
const PATTERNS = listOf('an array', objectOf(new Table({ pattern: required(REGEXP), kind: required(KINDS) })))
type Pattern = ReturnType<typeof PATTERNS.take>[number]

const statuses = new Map(Object.entries(table.statuses)) as ReadonlyMap<string, ProviderErrorKind>
const codes = new Map(Object.entries(table.codes)) as ReadonlyMap<string, ProviderErrorKind>
/** Compiled phrases. Made on first use, since most runs never see an error. */
let phrases: Readonly<Record<'exclusions' | 'fields' | 'errors', readonly Phrase[]>> | undefined

/**
 * Classifies an error of a provider, however it reaches us.
 *
 * An error is read from the outside in, as layers: the thrown object, the body of its answer, its
 * causes (`error_layers`). The outermost layer that says anything decides. What a layer says has
 * four sources, and `classifyLayer` has their order:
 *
 * - its status and codes, which name a class but no numbers, and often the wrong class: gateways
 *   send 400 and 500 for everything;
 * - the phrases of `table.json`, for sentences that are not of any grammar, and for those that only
 *   look like a refusal for size (`exclusions`);
 * - a grammar of sentences (`oversize`, `oversize_media`): something that is measured, that it is
 *   too much, and the numbers. It reads wordings that nobody has listed, in any order of the three;
 * - a limit on one part of the request (`limited_part`), which a smaller history may not obey.
 *
 * The same sentences stand in conversations about errors, in answers of models and in saved logs. A
 * text that no answer of a provider holds therefore counts only where it opens and ends as an error
 * does (`statement`), or where it states two numbers of one unit, the first one larger: prose does
 * not say that. A classification that is wrong costs a needless cut; one that is missed costs the
 * run.
 */
export function classifyProviderError(
  error: unknown,
  options: { patterns?: readonly Pattern[] | undefined } = {},
): ProviderError {
  const patterns = PATTERNS.take('patterns', optionsOf('classify', 'options', options).patterns)
  const layers = layersOf(error)
  const status = layers.find((layer) => layer.status !== undefined)?.status
  const found = byPatterns(layers, patterns) ?? byLayers(layers)
  return { kind: 'other', ...found, ...(status !== undefined && { status }) }
}

/** Classifies by the caller's own patterns. */
function byPatterns(layers: readonly Layer[], patterns: readonly Pattern[]): ProviderError | undefined {
  if (patterns.length === 0) return undefined
  const texts = layers.flatMap(({ texts }) => texts)
  // Unlike `test`, `search` ignores the `lastIndex` of a global pattern.
  const matches = (text: string, pattern: RegExp) => Number(tryRead(() => text.search(pattern))) >= 0
  const found = patterns.find(({ pattern }) => texts.some((text) => matches(text, pattern)))
  return found && { kind: found.kind }
}

/** Classifies by the outermost layer that gives an answer. */
function byLayers(layers: readonly Layer[]): ProviderError | undefined {
  for (const layer of layers) {
    const found = classifyLayer(layer)
    if (found) return found
  }
  return undefined
}

/**
 * Classifies one layer. A sentence with both of its numbers decides before a status, since nobody
 * else says that. Then come statuses and codes, phrases that rule an overflow out, phrases of the
 * table, and what the sentences say.
 */
function classifyLayer(layer: Layer): ProviderError | undefined {
  phrases ??= {
    exclusions: phrasesOf(table.exclusions),
    fields: phrasesOf(table.fields),
    errors: phrasesOf(table.errors),
  }
  const { exclusions, fields, errors } = phrases
  const texts = layer.texts.map((text) => new PhraseText(text))
  const readings = texts.map(({ text }) => new ErrorText(text))
  const part = limitedPart(
    texts.map(({ text }) => text),
    layer.path,
  )
  if (part?.kind === 'other') return { kind: 'other' }
  const named: Match | undefined =
    part?.field !== undefined && layer.isAnswer
      ? { kind: 'field_too_long', numbers: {}, isSentence: true }
      : undefined
  const field = findPhrase(texts, fields, layer.isAnswer) ?? named
  const sure =
    field || layer.status === 402 ? undefined : firstOf(readings, (one) => one.sure(layer.isThrown))
  if (sure) return { kind: sure.kind, ...numbersOf(sure) }
  const coded = kindByCode(layer)
  if (layer.isAnswer && layer.status !== 402 && readings.some((one) => one.needsPlan()))
    return { kind: 'request_exceeds_rate_limit' }
  if (coded === undefined || coded === 'rate_limit') {
    const rule = findPhrase(texts, exclusions, true)
    if (rule && !(rule.isSentence || layer.isAnswer || coded))
      return readings.some((one) => one.exceedsRate()) ? { kind: 'rate_limit' } : undefined
    if (rule?.kind === 'other') return { kind: rule.kind }
    if (rule || coded) return rateLimit(rule?.numbers, () => firstOf(readings, (one) => one.exceedsQuota()))
  }
  const phrase = field ?? findPhrase(texts, errors, layer.isAnswer)
  const said = firstOf(readings, (one) => (layer.isAnswer ? one.anywhere() : one.stated()))
  // A plan that takes less than the model does answers 401 or 403.
  if (
    coded === 'other' &&
    said?.kind === 'context_overflow' &&
    said.limit !== undefined &&
    layer.status !== 402
  )
    return { kind: said.kind, ...numbersOf(said) }
  const kind = coded ?? phrase?.kind ?? said?.kind ?? statuses.get(String(layer.status))
  if (kind === undefined) return undefined
  const where = kind === 'field_too_long' && part?.field !== undefined ? { field: part.field } : {}
  if (phrase?.kind === kind && phrase.numbers.limit !== undefined)
    return { kind, ...layer.numbers, ...phrase.numbers, ...where }
  return {
    kind,
    ...(said?.kind === kind && numbersOf(said)),
    ...layer.numbers,
    ...(phrase?.kind === kind && phrase.numbers),
    ...where,
  }
}

function firstOf<T, R>(all: readonly T[], find: (one: T) => R | undefined): R | undefined {
  for (const one of all) {
    const found = find(one)
    if (found !== undefined) return found
  }
  return undefined
}

function numbersOf({
  actual,
  limit,
  unit,
  index,
}: Figures & { index?: number }): Omit<ProviderError, 'kind'> {
  return {
    ...(actual !== undefined && { actual }),
    ...(limit !== undefined && { limit }),
    ...((unit === 'characters' || unit === 'pixels') &&
      (actual !== undefined || limit !== undefined) && { unit }),
    ...(index !== undefined && { index }),
  }
}

/** Classifies by codes and status. For a 413, the text has to say if it means tokens or bytes. */
function kindByCode({ status, codes: all }: Layer): ProviderErrorKind | undefined {
  const byCode = all
    .map((code) => codes.get(code.toLowerCase()) ?? kindOfName(code))
    .find((kind) => kind !== undefined)
  const byStatus = status === 413 ? undefined : statuses.get(String(status))
  return byStatus === 'other' || byCode === 'other' ? 'other' : (byStatus ?? byCode)
}

/** Classifies a rate limit. A single request above the limit never succeeds, however long one
 *  waits. */
function rateLimit(rule: Numbers = {}, single: () => Numbers | undefined): ProviderError {
  const { actual, limit } = rule
  if (actual === undefined || limit === undefined) {
    const said = single()
    return said ? { kind: 'request_exceeds_rate_limit', ...said } : { kind: 'rate_limit' }
  }
  return { kind: actual > limit ? 'request_exceeds_rate_limit' : 'rate_limit', actual, limit }
}

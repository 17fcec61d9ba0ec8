import { types } from 'node:util'
import type { ProviderError, ProviderErrorKind } from 'spillway'
import { checkNames, optionError } from '../option.js'
import { quietly } from '../reading.js'
import { type Layer, layersOf } from './error_layers.js'
import { find, leadOf, type Numbers, phrasesOf, Words } from './phrases.js'
import table from './table.json'

interface Pattern {
  readonly pattern: RegExp
  readonly kind: ProviderErrorKind
}

const KINDS: readonly ProviderErrorKind[] = [
  'context_overflow',
  'payload_too_large',
  'field_too_long',
  'request_exceeds_rate_limit',
  'rate_limit',
  'malformed_unicode',
  'other',
]

const statuses = new Map(Object.entries(table.statuses)) as ReadonlyMap<string, ProviderErrorKind>
const codes = new Map(Object.entries(table.codes)) as ReadonlyMap<string, ProviderErrorKind>
const members = [...table.numbers.actual, ...table.numbers.limit]

/** Compiled tables. Made on first use, since most runs never see an error. */
class Book {
  readonly exclusions = phrasesOf(table.exclusions)
  readonly errors = phrasesOf(table.errors)
  readonly lead = leadOf([...table.lead, ...providers()])
}
let book: Book | undefined

export function classifyProviderError(
  error: unknown,
  options?: { patterns?: readonly Pattern[] },
): ProviderError {
  const patterns = checkPatterns(options)
  book ??= new Book()
  const layers = layersOf(error, members, book.lead)
  const status = layers.find((layer) => layer.status !== undefined)?.status
  const found = own(layers, patterns) ?? judged(layers, book)
  return { kind: 'other', ...found, ...(status !== undefined && { status }) }
}

/** Classifies by the caller's own patterns. */
function own(layers: readonly Layer[], patterns: readonly Pattern[]): ProviderError | undefined {
  // Unlike `test`, `search` ignores the `lastIndex` of a global pattern.
  for (const { pattern, kind } of patterns)
    for (const { texts } of layers)
      for (const text of texts) if (Number(quietly(() => text.search(pattern))) >= 0) return { kind }
  return undefined
}

/** Classifies by the outermost layer that gives an answer. */
function judged(layers: readonly Layer[], book: Book): ProviderError | undefined {
  for (const layer of layers) {
    const found = judge(layer, book)
    if (found) return found
  }
  return undefined
}

/** Classifies one layer: by its status and codes, then by phrases that rule out an overflow, then by its text. */
function judge(layer: Layer, { exclusions, errors, lead }: Book): ProviderError | undefined {
  const texts = layer.texts.map((text) => new Words(text, lead))
  const told = toldBy(layer)
  if (told === undefined || told === 'rate_limit') {
    const rule = find(texts, exclusions, true)
    if (rule && !(rule.stands || layer.isAnswer || told)) return undefined
    if (rule?.kind === 'other') return { kind: rule.kind }
    if (rule || told) return ofRate(rule)
  }
  const said = find(texts, errors, layer.isAnswer)
  const kind = told ?? said?.kind ?? statuses.get(String(layer.status))
  if (kind === undefined) return undefined
  // The kind is known, so numbers may come from a phrase of that kind anywhere.
  const ofKind = errors.filter((phrase) => phrase.kind === kind)
  const telling = said?.kind === kind && said.limit !== undefined ? said : find(texts, ofKind, true)
  return { kind, ...numbersOf(layer), ...numbersIn(telling ?? {}) }
}

/** Classifies by codes and status. For a 413, the text has to say if it means tokens or bytes. */
function toldBy({ status, codes: all }: Layer): ProviderErrorKind | undefined {
  const byCode = all.map((code) => codes.get(code)).find((kind) => kind !== undefined)
  const byStatus = status === 413 ? undefined : statuses.get(String(status))
  return byStatus === 'other' || byCode === 'other' ? 'other' : (byStatus ?? byCode)
}

/** Classifies a rate limit. A single request above the limit never succeeds, however long one waits. */
function ofRate(rule: Numbers = {}): ProviderError {
  const { actual, limit } = rule
  if (actual === undefined || limit === undefined) return { kind: 'rate_limit' }
  return { kind: actual > limit ? 'request_exceeds_rate_limit' : 'rate_limit', actual, limit }
}

function numbersIn({ actual, limit }: Numbers): Numbers {
  return { ...(actual !== undefined && { actual }), ...(limit !== undefined && { limit }) }
}

function numbersOf(layer: Layer): Numbers {
  const member = (names: readonly string[]) => names.map((name) => layer.members.get(name)).find(isCount)
  const [actual, limit] = [member(table.numbers.actual), member(table.numbers.limit)]
  return { ...(actual !== undefined && { actual }), ...(limit !== undefined && { limit }) }
}

/** Returns true for a whole number from 0 up. */
function isCount(number: number | undefined): boolean {
  return Number.isSafeInteger(number) && Number(number) >= 0
}

function providers(): string[] {
  return [...table.exclusions, ...table.errors].flatMap(({ provider }) => provider.split(/,? /))
}

function checkPatterns(options: { patterns?: readonly Pattern[] } | undefined): Pattern[] {
  if (options === undefined) return []
  const { patterns = [] } = checkNames('classify', 'options', options)
  if (!Array.isArray(patterns)) throw optionError(TypeError, 'patterns', 'an array', patterns)
  return Array.from(patterns as readonly Partial<Pattern>[], (one, at) => {
    const { pattern, kind } = one ?? {}
    if (!types.isRegExp(pattern)) throw optionError(TypeError, `patterns[${at}].pattern`, 'a RegExp', pattern)
    if (!KINDS.includes(kind as ProviderErrorKind)) {
      const rule = `one of ${KINDS.map((name) => `'${name}'`).join(', ')}`
      throw optionError(typeof kind === 'string' ? RangeError : TypeError, `patterns[${at}].kind`, rule, kind)
    }
    return { pattern, kind: kind as ProviderErrorKind }
  })
}

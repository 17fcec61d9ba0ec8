import { types } from 'node:util'
import type { ProviderError, ProviderErrorKind } from 'spillway'
import { tryRead } from '../untrusted.js'
import { checkNames, optionError } from '../validate.js'
import { type Layer, layersOf } from './error_layers.js'
import { findPhrase, type Numbers, type Phrase, PhraseText, phrasesOf } from './phrases.js'
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
/** Compiled phrases. Made on first use, since most runs never see an error. */
let phrases: Readonly<Record<'exclusions' | 'errors', readonly Phrase[]>> | undefined

export function classifyProviderError(
  error: unknown,
  options?: { patterns?: readonly Pattern[] | undefined },
): ProviderError {
  const patterns = checkPatterns(options)
  const layers = layersOf(error)
  const status = layers.find((layer) => layer.status !== undefined)?.status
  const found = byPatterns(layers, patterns) ?? byLayers(layers)
  return { kind: 'other', ...found, ...(status !== undefined && { status }) }
}

/** Classifies by the caller's own patterns. */
function byPatterns(layers: readonly Layer[], patterns: readonly Pattern[]): ProviderError | undefined {
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

/** Classifies one layer: by its status and codes, then by phrases that rule out an overflow, then by its text. */
function classifyLayer(layer: Layer): ProviderError | undefined {
  phrases ??= { exclusions: phrasesOf(table.exclusions), errors: phrasesOf(table.errors) }
  const { exclusions, errors } = phrases
  const texts = layer.texts.map((text) => new PhraseText(text))
  const coded = kindByCode(layer)
  if (coded === undefined || coded === 'rate_limit') {
    const rule = findPhrase(texts, exclusions, true)
    if (rule && !(rule.isSentence || layer.isAnswer || coded)) return undefined
    if (rule?.kind === 'other') return { kind: rule.kind }
    if (rule || coded) return rateLimit(rule?.numbers)
  }
  const phrase = findPhrase(texts, errors, layer.isAnswer)
  const kind = coded ?? phrase?.kind ?? statuses.get(String(layer.status))
  if (kind === undefined) return undefined
  // The kind is known, so numbers may come from a phrase of that kind anywhere.
  const ofKind = errors.filter((phrase) => phrase.kind === kind)
  const numbered =
    phrase?.kind === kind && phrase.numbers.limit !== undefined ? phrase : findPhrase(texts, ofKind, true)
  return { kind, ...layer.numbers, ...numbered?.numbers }
}

/** Classifies by codes and status. For a 413, the text has to say if it means tokens or bytes. */
function kindByCode({ status, codes: all }: Layer): ProviderErrorKind | undefined {
  const byCode = all.map((code) => codes.get(code)).find((kind) => kind !== undefined)
  const byStatus = status === 413 ? undefined : statuses.get(String(status))
  return byStatus === 'other' || byCode === 'other' ? 'other' : (byStatus ?? byCode)
}

/** Classifies a rate limit. A single request above the limit never succeeds, however long one waits. */
function rateLimit(rule: Numbers = {}): ProviderError {
  const { actual, limit } = rule
  if (actual === undefined || limit === undefined) return { kind: 'rate_limit' }
  return { kind: actual > limit ? 'request_exceeds_rate_limit' : 'rate_limit', actual, limit }
}

function checkPatterns(options: { patterns?: readonly Pattern[] | undefined } | undefined): Pattern[] {
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

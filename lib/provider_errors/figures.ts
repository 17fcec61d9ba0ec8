import type { Span, Token } from './sentences.js'
import { SORT } from './words.js'

/** Unit of a number. */
export type NumberUnit = 'tokens' | 'characters' | 'bytes' | 'pixels'

/** The numbers of a refusal: how much was sent, how much is allowed, and the room that was asked
 *  for the answer. */
export interface Figures {
  readonly actual?: number | undefined
  readonly limit?: number | undefined
  readonly output?: number | undefined
  readonly unit?: NumberUnit | undefined
}

/** A number of a text and its part in the sentence. */
export interface Figure {
  readonly at: number
  readonly value: number
  readonly unit: NumberUnit | undefined
  readonly role: 'actual' | 'limit' | 'output' | 'excess' | 'code'
}

const { prompt, context, request, token, char, byte, measure, limit, output, exceed, too, large, compare } =
  SORT
const { rest } = SORT
const NOUN = prompt | context | request | token | char | byte | measure | limit | output
const UNITS: readonly [number, NumberUnit][] = [
  [token, 'tokens'],
  [char, 'characters'],
  [byte, 'bytes'],
]
/** Verbs whose object is what was sent. */
const SENT =
  /^(?:has|have|had|contains?|contained|received|given|got|requested|requests|resulted|results|passed|sent|used|provided|supplied|current|currently|actual|value|keep|实际)$/

const NONE: Figures = {}

/**
 * Reads the numbers of some sentences.
 *
 * The words next to a number say what it is: those of the noun before it ("maximum context length
 * is 8192", "your prompt contains 9000"), a comparison ("9000 > 8192", "longer than 8192"), or the
 * noun after it ("8192 maximum", "512 output tokens"). Of two numbers that both look like limits
 * with a word of excess among them, the larger was sent. An output and a prompt that are stated
 * apart count together, as providers count them.
 */
export function figuresOf(tokens: readonly Token[], all: readonly Figure[], { from, to }: Span): Figures {
  const figures = all.filter(({ at }) => from <= at && at < to)
  if (figures.length === 0) return NONE
  const outputs = valuesOf(figures, 'output')
  // A number in parentheses behind a bare "limit" is a code where nothing else is counted: "exceeds
  // limit (2013)".
  const isCounted = figures.some(({ role }) => role === 'actual')
  const limits = figures.filter(({ role }) => role === 'limit' || (role === 'code' && isCounted))
  let allowed = limits[0]
  const sent = figures.filter(
    ({ role, value, unit }) =>
      role === 'actual' &&
      !outputs.includes(value) &&
      (unit === undefined || !allowed?.unit || unit === allowed.unit),
  )
  const room = outputs.length > 0 ? Math.max(...outputs) : undefined
  const values = [...new Set(sent.map(({ value }) => value))]
  let actual = values.length > 0 ? Math.max(...values) : undefined
  // Of several numbers the largest is the sum that the provider made itself.
  const inTokens = (sent[0]?.unit ?? 'tokens') === 'tokens'
  if (actual !== undefined && room !== undefined && values.length === 1 && inTokens) actual += room
  if (
    actual === undefined &&
    limits.length > 1 &&
    tokens.slice(from, to).some(({ sorts }) => sorts & (exceed | compare | too))
  ) {
    const [first, second] = limits as [Figure, Figure]
    const between = tokens.slice(first.at, second.at)
    const isOne = !between.some(({ text }) => /^[.;\n。；]$/.test(text)) && first.unit === second.unit
    if (isOne && first.value !== second.value) {
      allowed = first.value < second.value ? first : second
      actual = Math.max(first.value, second.value)
    }
  }
  const unit = allowed?.unit ?? sent.find(({ value }) => value === actual)?.unit
  return { actual, limit: allowed?.value, output: room, unit }
}

/** Reads the part of each number of a text. */
export function figuresIn(tokens: readonly Token[]): Figure[] {
  const figures: Figure[] = []
  tokens.forEach(({ number }, at) => {
    const figure = number === undefined ? undefined : figureAt(tokens, at)
    if (figure) figures.push(figure)
  })
  return figures
}

function valuesOf(figures: readonly Figure[], role: Figure['role']): number[] {
  return figures.filter((one) => one.role === role).map(({ value }) => value)
}

function figureAt(tokens: readonly Token[], at: number): Figure | undefined {
  const value = tokens[at]?.number ?? 0
  // An id, not a count.
  if (/^0\d/.test(tokens[at]?.text ?? '')) return undefined
  const after = nounAfter(tokens, at)
  const before = nounBefore(tokens, at)
  const unit = unitOf(after.sorts) ?? unitOf(before.sorts)
  const figure = (role: Figure['role']): Figure => ({
    at,
    value: value * scaleAfter(tokens[at + 1]),
    unit,
    role,
  })
  // A sum counts once, by its last number.
  const isAdded = tokens[at + 1]?.text === '+' && tokens[at + 2]?.number !== undefined
  if (isAdded) return undefined
  const added = tokens[at - 1]?.text === '+' ? (tokens[at - 2]?.number ?? 0) : 0
  if (added > 0) return { at, value: value + added, unit, role: 'actual' }
  if (/^[<>≤≥]=?$/.test(tokens[at - 1]?.text ?? '')) return figure('limit')
  const next = tokens[at + after.length + 1]?.text ?? ''
  // What is left is neither sent nor allowed.
  if ((tokens[at + after.length + 1]?.sorts ?? 0) & rest) return undefined
  const isOutput = (sorts: number) => (sorts & output) !== 0 && !(sorts & (prompt | context | request))
  if (isOutput(after.sorts) || isOutput(before.sorts)) return figure('output')
  if (/^[>≥]=?$/.test(next)) return figure('actual')
  // 131,500 / 131,072 tokens
  if (beyond(tokens, at, 1)) return figure('actual')
  if (beyond(tokens, at, -1)) return figure('limit')
  if (before.isExcess) return figure('excess')
  if (unit === undefined && !before.isLimit && value >= 400 && value < 600) return undefined
  const isCode =
    /^[(（]$/.test(tokens[at - 1]?.text ?? '') && unit === undefined && !(before.sorts & (measure | context))
  if (after.sorts & limit || before.isLimit || isContextSize(after.sorts))
    return figure(isCode ? 'code' : 'limit')
  return before.isSent || after.sorts & (prompt | token | char | byte) ? figure('actual') : undefined
}

/** Returns true if a number and another are written as a fraction. */
function beyond(tokens: readonly Token[], at: number, step: 1 | -1): boolean {
  return tokens[at + step]?.text === '/' && tokens[at + 2 * step]?.number !== undefined
}

/** Returns true for the length of a context, which is a limit without more words. */
function isContextSize(sorts: number): boolean {
  return (sorts & context) !== 0 && (sorts & measure) !== 0
}

/** Returns how many bytes one of the unit has. A megabyte has a million, so that a limit is rather
 *  too low. */
function scaleAfter(unit: Token | undefined): number {
  const scales: Readonly<Record<string, number>> = {
    kb: 1e3,
    mb: 1e6,
    gb: 1e9,
    kib: 2 ** 10,
    mib: 2 ** 20,
    gib: 2 ** 30,
  }
  return scales[unit?.text ?? ''] ?? 1
}

function unitOf(sorts: number): NumberUnit | undefined {
  return UNITS.find(([sort]) => sorts & sort)?.[1]
}

/** Reads the noun after a number: "8192 maximum context length", "1024 for the completion". */
function nounAfter(tokens: readonly Token[], at: number): { sorts: number; length: number } {
  let sorts = 0
  let length = 0
  for (const { sorts: own, text, number } of tokens.slice(at + 1, at + 7)) {
    if (number !== undefined) break
    if (own & NOUN) sorts |= own
    else if (!(sorts === 0 && /^(?:of|in|for|the|your|draft|total|text|到)$/.test(text))) break
    length += 1
  }
  return { sorts, length }
}

/** Reads the noun before a number, and the verb or the comparison before that. */
function nounBefore(
  tokens: readonly Token[],
  at: number,
): { sorts: number; isLimit?: boolean; isSent?: boolean; isExcess?: boolean } {
  let sorts = 0
  let isSent = false
  for (let back = at - 1; back >= Math.max(0, at - 12); back--) {
    const { sorts: own, text, number, isName } = tokens[back] as Token
    if (number !== undefined || /^[.;\n。；]$/.test(text)) break
    if (own & NOUN) {
      sorts |= own
      // n_ctx names a limit.
      if (isName && own & context) return { sorts, isLimit: true }
    } else if (sorts !== 0) {
      if (/^(?:of|and|or|\+|an?|the|this|your|its|model's?|的)$/.test(text)) continue
      const isLimit = isLimitNoun(sorts) || (own & exceed) !== 0 || text === 'than'
      return isSent && !isLimit ? { sorts, isSent } : { sorts, isLimit: isLimit && !isSent, isSent: true }
    } else if (own & exceed || text === 'than' || text === 'to' || text === '至')
      return { sorts, isLimit: text !== 'to' || isBound(tokens, back) }
    else if (text === 'by' && tokens.slice(Math.max(0, back - 6), back).some((one) => one.sorts & exceed))
      return { sorts, isExcess: true }
    else if (own & (too | large | compare)) isSent = true
    else if (SENT.test(text)) return { sorts, isSent: true }
    else if (own === 0 && /^\p{L}+$/u.test(text)) break
  }
  if (isSent || sorts === 0) return { sorts, isSent }
  return { sorts, isLimit: isLimitNoun(sorts), isSent: true }
}

function isLimitNoun(sorts: number): boolean {
  return (sorts & limit) !== 0 || isContextSize(sorts)
}

/** Returns true for the "to" of "up to". */
function isBound(tokens: readonly Token[], at: number): boolean {
  return tokens[at - 1]?.text === 'up' || ((tokens[at - 1]?.sorts ?? 0) & limit) !== 0
}

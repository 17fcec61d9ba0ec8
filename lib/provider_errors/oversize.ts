import type { ProviderErrorKind } from 'spillway'
import { type Figure, type Figures, figuresOf } from './figures.js'
import type { Span, Token } from './sentences.js'
import { SORT } from './words.js'

const { prompt, context, request, token, char, byte, measure, limit, exceed, compare, too, large, oversize } =
  SORT
const { fit, not, remedy, output, rate, money, plan, thing, field } = SORT

/** A refusal for size, as its sentence states it. */
export interface Oversize extends Figures {
  readonly kind: ProviderErrorKind
  /** Both numbers are stated in one unit, and the first is larger. Prose does not say that. */
  readonly isSure: boolean
}

/** Sentences after the one that names the excess in which its numbers may stand. */
const AFTER = 2

const WHOLE = prompt | context
const MEASURED = WHOLE | request | token

/** The words of a text, and its numbers. */
export interface Words {
  readonly tokens: readonly Token[]
  readonly numbers: readonly Figure[]
}

/**
 * Reads a refusal for size from a sentence, by three things near each other: what is measured
 * (input, prompt, request; tokens, bytes, length), that it is too much (exceeds, longer than, at
 * most, too long, reduce), and which of the numbers are the size and the limit. Returns undefined
 * for everything else that is too large: answers (max_tokens, thinking), requests per minute,
 * money, and single things (an image, a file, a list of tools, a header).
 */
export function oversizeIn(words: Words, spans: readonly Span[], at: number): Oversize | undefined {
  const { tokens } = words
  const span = spans[at] as Span
  const { from, to } = span
  let all = 0
  for (let one = from; one < to; one++) all |= tokens[one]?.sorts ?? 0
  // Most sentences of an error measure nothing.
  if (!(all & MEASURED) || all & money) return undefined
  const sentence = tokens.slice(from, to)
  if (isRate(sentence, all)) return undefined
  const { numbers } = words
  const own = figuresOf(tokens, numbers, span)
  const until = spans[Math.min(at + AFTER, spans.length - 1)]?.to ?? to
  const subject = excessOf(sentence, all) ?? comparedIn(words, all, own, { from, to: until })
  // Too many messages, whatever their tokens.
  if (all & thing && all & prompt && all & too && sentence.some(({ text }) => text === 'array'))
    return { kind: 'context_overflow', isSure: false }
  if (subject === undefined) return undefined
  const full = figuresOf(tokens, numbers, { from: spans[at - 1]?.from ?? from, to: until })
  const isAll = (one: Figures) => isWhole(one) && one.output === full.output
  const wide = isAll(own) ? own : figuresOf(tokens, numbers, { from, to: until })
  const figures = isAll(wide) ? wide : full
  const { actual, limit: most, output: room } = figures
  // No history is small enough for an answer that leaves no room for it.
  if (room !== undefined && most !== undefined && room >= most) return { kind: 'other', isSure: true }
  const kind = kindOf(all, subject, figures)
  const isSure =
    actual !== undefined && most !== undefined && actual > most && (figures.unit ?? 'tokens') === 'tokens'
  return kind && { ...figures, kind, isSure: isSure && kind === 'context_overflow' }
}

function isWhole({ actual, limit: most }: Figures): boolean {
  return actual !== undefined && most !== undefined
}

/** Returns true for rates and quotas: so much in a time. */
export function isRate(sentence: readonly Token[], all: number): boolean {
  if (!(all & rate)) return false
  return sentence.some(({ text, sorts }, at) => {
    if (!(sorts & rate)) return false
    // A second counts after "per" or as a bound, a rate before "limit".
    const [bound, before, after] = [sentence[at - 2], sentence[at - 1], sentence[at + 1]]
    const isBound = ((bound?.sorts ?? 0) & (exceed | limit)) !== 0 || bound?.text === 'than'
    const isTime = (before?.number !== undefined && isBound) || /^(?:per|each|an?)$/.test(before?.text ?? '')
    return /^(?:rates?|seconds?|s|ms|minutes?|min|timeouts?)$/.test(text)
      ? isTime || after?.text === 'limit'
      : true
  })
}

/** Finds the word of excess, and returns the classes of what it says is too much. */
function excessOf(sentence: readonly Token[], all: number): number | undefined {
  const sorts = (at: number) => sentence[at]?.sorts ?? 0
  const text = (at: number) => sentence[at]?.text ?? ''
  for (let at = 0; at < sentence.length; at++) {
    const own = sorts(at)
    const next = sorts(at + 1)
    // too long, too many tokens
    if (own & oversize || (own & too && next & large))
      return /^(?:many|much)$/.test(text(at + 1))
        ? measured(nounRight(sentence, at + 1) || nounLeft(sentence, at), 0, all)
        : measured(nounLeft(sentence, at) || nounRight(sentence, at + 1), 0, all)
    const hasBound =
      (all & (limit | measure | token | char | byte | fit)) !== 0 ||
      (nounRight(sentence, at) & context) !== 0 ||
      sentence.some((one) => one.number !== undefined)
    const isOver = own & exceed && (text(at) !== 'over' || isBoundAt(sentence, at + 1))
    const isMore = own & compare && text(at + 1) === 'than'
    const isLess =
      own & not && (next & exceed || (text(at + 1) === 'be' && sorts(at + 2) & compare) || next & fit)
    if ((isOver || isMore || isLess) && hasBound) {
      // A floor, as in "must be greater than", is not an excess.
      if (
        isMore &&
        /^(?:must|should|be)$/.test(text(at - 1)) &&
        !sentence.slice(0, at).some((one) => one.sorts & not)
      )
        continue
      return measured(nounLeft(sentence, at), nounRight(sentence, at), all)
    }
    if (/^[>≥]=?$/.test(text(at)) && (sentence[at + 1]?.number !== undefined || next !== 0))
      return measured(nounLeft(sentence, at) || all, 0, all)
  }
  if (statesLimit(sentence)) return measured(all & ~output, 0, all)
  // reduce the length of the messages
  const verb = sentence.findIndex((one) => one.sorts & remedy)
  const rest = verb < 0 ? 0 : sentence.slice(verb).reduce((sum, one) => sum | one.sorts, 0)
  const isObject = sentence.slice(verb + 1, verb + 4).some((one) => one.sorts & WHOLE)
  return (rest & measure || isObject) && rest & WHOLE && !(rest & thing) ? rest & ~output : undefined
}

/** Finds two numbers of tokens, the one of a prompt above the one that is allowed, whatever the
 *  verbs between them. */
function comparedIn({ tokens, numbers }: Words, all: number, own: Figures, wide: Span): number | undefined {
  if (!(all & (token | char))) return undefined
  const { actual = 0, limit: most = 0, output: room } = isWhole(own) ? own : figuresOf(tokens, numbers, wide)
  if (room !== undefined || most === 0 || actual <= most) return undefined
  let near = 0
  for (let one = wide.from; one < wide.to; one++) near |= tokens[one]?.sorts ?? 0
  return near & WHOLE && !(near & (thing | field | rate)) ? near : undefined
}

/** Drops what is measured if it is not the request: the answer, or one thing in it. */
function measured(left: number, right: number, beside: number): number | undefined {
  const both = left | right
  if (left === 0 && right === 0) return undefined
  const isOfContext = (right & context) !== 0
  if (left & thing && !(left & (token | context)) && !isOfContext) return undefined
  if (left & field && !(left & thing) && beside & request) return left | request
  if ((left || right) & output && !((left || right) & (WHOLE | request))) return undefined
  if (left & token && left & limit && !(left & (WHOLE | request)) && !isOfContext) return undefined
  return both & (WHOLE | request | token) ? both : undefined
}

/** The limit of a context by itself: "maximum context length is 8192", "supports only 256K
 *  context". */
function statesLimit(sentence: readonly Token[]): boolean {
  return sentence.some(({ number }, at) => {
    if (number === undefined) return false
    const near = sentence.slice(Math.max(0, at - 8), at + 5)
    const sorts = near.reduce((sum, one) => sum | one.sorts, 0)
    const bounds = (sorts & limit) !== 0 || near.some(({ text }) => /^(?:[<≤]=?|up)$/.test(text))
    if (sorts & context) return (bounds || (sorts & measure) !== 0) && !(sorts & thing)
    const counts = (sorts & (token | measure | byte)) !== 0
    const isInput = (sorts & prompt) !== 0 || ((sorts & request) !== 0 && !(sorts & output))
    return bounds && counts && isInput && !(sorts & (thing | field))
  })
}

function isBoundAt(sentence: readonly Token[], at: number): boolean {
  const near = sentence.slice(at, at + 3)
  return near.some(({ sorts, number }) => sorts & (limit | measure) || number !== undefined)
}

/** Returns the classes of the noun before a word, with the nouns that it is joined to: "prompt +
 *  max_tokens". */
function nounLeft(sentence: readonly Token[], at: number): number {
  return nounBeside(sentence.slice(0, at).reverse())
}

function nounRight(sentence: readonly Token[], at: number): number {
  return nounBeside(sentence.slice(at + 1))
}

/** Reads up to a verb behind the first noun. Prepositions and "and" join nouns. */
function nounBeside(words: readonly Token[]): number {
  const noun = WHOLE | request | token | char | byte | measure | limit | output | thing | field
  const whole = WHOLE | request | token | output | thing | field
  let sum = 0
  for (const [at, { sorts, text, number, isName }] of words.entries()) {
    // One token is a credential, unless it counts: "token count", "32768 token limit".
    const counted = limit | measure | WHOLE | request
    if (
      text === 'token' &&
      ![words[at - 1], words[at + 1]].some((one) => one?.number !== undefined || (one?.sorts ?? 0) & counted)
    )
      continue
    if (sorts & (exceed | compare | too) && sum) break
    if (sorts & noun) {
      sum |= sorts & noun
      continue
    }
    const joins =
      number !== undefined ||
      isName ||
      /^(?:of|in|for|the|and|your|this|to|from|\+|\(|\)|total|的)$/.test(text)
    if (sum & whole && !joins) break
  }
  return sum
}

/** Tokens and contexts are the model's; bytes, and requests without a unit, are the server's. */
function kindOf(all: number, subject: number, { unit }: Figures): ProviderErrorKind | undefined {
  if (unit === 'bytes' || (all & byte && !(all & (token | char))))
    return subject & (WHOLE | request) ? 'payload_too_large' : undefined
  if (all & (context | token)) return 'context_overflow'
  if (subject & field) return all & request ? 'payload_too_large' : undefined
  if (subject & prompt) return 'context_overflow'
  return subject & request ? 'payload_too_large' : undefined
}

/** Reads a code or the name of an error, which says the same in one word: context_length_exceeded,
 *  InputTooLong. */
export function oversizeOfName(
  words: readonly string[],
  sortsOf: (word: string) => number,
): ProviderErrorKind | undefined {
  const sorts = words.map(sortsOf)
  const all = sorts.reduce((sum, one) => sum | one, 0)
  if (all & (rate | money | plan | field | output) || (all & thing && !words.includes('payload')))
    return undefined
  const isTooLarge = sorts.some((one, at) => one & too && (sorts[at + 1] ?? 0) & large)
  const isOver = (all & exceed) !== 0 || words.includes('reached')
  const isBound = (all & (limit | measure)) !== 0 || (all & context) !== 0
  if (!isTooLarge && !(isOver && isBound)) return undefined
  const isPrompt =
    (words.includes('content') && words.includes('length')) ||
    ((all & (WHOLE | token)) !== 0 && !(words.includes('reached') && !(all & token)))
  if (isPrompt) return 'context_overflow'
  return all & request || words.includes('entity') ? 'payload_too_large' : undefined
}

import type { Figure, Figures } from './figures.js'
import type { Span, Token } from './sentences.js'
import { SORT } from './words.js'

const { media, token, context, rate, money, byte, exceed, compare, too, large, oversize, limit } = SORT

/** A refusal of one image, document or sound, with the limit that it breaks. */
export interface OversizeMedia extends Figures {
  readonly kind: 'media_too_large'
  /** True if both numbers are stated, the first larger. Prose does not say that. */
  readonly isSure: boolean
  /** The index of its message in the request. */
  readonly index?: number
}

/** Path of a message in a request: "messages.12.content.3", "input[4].content". */
const PLACE = /(?:^|[^\w.])(?:messages|input|contents)(?:\.|\[)(\d{1,7})(?=[.\]])/

/**
 * Reads the refusal of one payload from a sentence: a payload is the subject (image, document,
 * dimensions of an image), a word of excess follows, and numbers count bytes or pixels. Returns
 * undefined for everything else, such as too many images, or tokens of images.
 */
export function oversizeMediaIn(
  text: string,
  tokens: readonly Token[],
  numbers: readonly Figure[],
  { from, to }: Span,
): OversizeMedia | undefined {
  const sentence = tokens.slice(from, to)
  const all = sentence.reduce((sum, { sorts }) => sum | sorts, 0)
  if (!(all & media) || all & (token | context | rate | money)) return undefined
  const verb = sentence.findIndex((one, at) => isExcess(one, sentence[at + 1]))
  const isSubject = sentence.slice(0, verb).some(({ sorts }) => sorts & media)
  if (verb < 0 || !isSubject || isNumber(sentence)) return undefined
  const figures = figuresOf(tokens, numbers, { from, to })
  if (figures === undefined) return undefined
  const { actual, limit: most } = figures
  const place = PLACE.exec(text)?.[1]
  return {
    kind: 'media_too_large',
    ...figures,
    isSure: actual !== undefined && most !== undefined && actual > most,
    ...(place !== undefined && { index: Number(place) }),
  }
}

function isExcess({ sorts }: Token, next: Token | undefined): boolean {
  if (sorts & (exceed | oversize)) return true
  if (sorts & compare) return next?.text === 'than'
  return (
    (sorts & too) !== 0 && ((next?.sorts ?? 0) & large) !== 0 && !/^(?:many|much)$/.test(next?.text ?? '')
  )
}

/** Returns true for a number of payloads, rather than the size of one. */
function isNumber(sentence: readonly Token[]): boolean {
  return sentence.some(({ text }) => /^(?:number|count|amount|total)$/.test(text))
}

/** Returns the size and the limit, undefined if neither counts bytes or pixels. */
function figuresOf(
  tokens: readonly Token[],
  numbers: readonly Figure[],
  { from, to }: Span,
): Figures | undefined {
  const inside = numbers.filter(({ at }) => from <= at && at < to)
  // Two numbers around ">" are exact. Words beside them round: "5 MB maximum".
  const sent = inside.find(({ at }) => /^[>≥]=?$/.test(tokens[at + 2]?.text ?? ''))
  const allowed = sent && inside.find(({ at }) => at === sent.at + 3)
  if (allowed?.unit === 'bytes') return { actual: sent?.value, limit: allowed.value }
  for (let at = from; at < to; at++) {
    const { number, text } = tokens[at] as Token
    if (number === undefined) continue
    const unit = tokens[at + 1]
    const isPixels = /^(?:px|pixels?)$/.test(unit?.text ?? '')
    const isBounded = tokens
      .slice(Math.max(from, at - 6), at + 4)
      .some(({ sorts }) => sorts & (limit | exceed | compare))
    if (!isBounded || /^0\d/.test(text)) continue
    if (isPixels) return { limit: number, unit: 'pixels' }
    if ((unit?.sorts ?? 0) & byte) {
      const found = inside.find((one) => one.at === at)
      return { limit: found?.value ?? number }
    }
  }
  return undefined
}

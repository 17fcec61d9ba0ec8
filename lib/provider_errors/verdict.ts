import type { ProviderErrorKind } from 'spillway'
import { type Figure, figuresIn, figuresOf } from './figures.js'
import { isRate, type Oversize, oversizeIn, oversizeOfName, type Words } from './oversize.js'
import { type OversizeMedia, oversizeMediaIn } from './oversize_media.js'
import type { Numbers } from './phrases.js'
import { clausesOf, type Span, sentencesOf, type Token, tokensOf } from './sentences.js'
import { isEnd, isProse, opens } from './statement.js'
import { measures, SORT, sortsOf, wordsOfName } from './words.js'

/** Longest name of a model. */
const LONGEST = 64

/** A text of an error, read word by word on first use. */
export class ErrorText implements Words {
  #tokens: readonly Token[] | undefined
  #numbers: readonly Figure[] | undefined
  #found: Oversize | OversizeMedia | null | undefined

  constructor(readonly text: string) {}

  get tokens(): readonly Token[] {
    this.#tokens ??= measures(this.text) ? tokensOf(this.text) : []
    return this.#tokens
  }

  get numbers(): readonly Figure[] {
    this.#numbers ??= figuresIn(this.tokens)
    return this.#numbers
  }

  /** Finds a refusal for size in any sentence, one with both numbers first. */
  anywhere(): Oversize | OversizeMedia | undefined {
    this.#found ??= this.#search() ?? null
    return this.#found ?? undefined
  }

  #search(): Oversize | OversizeMedia | undefined {
    const spans = sentencesOf(this.tokens, this.text)
    let first: Oversize | OversizeMedia | undefined
    for (let at = 0; at < spans.length; at++) {
      const found = this.#oversize(spans, at)
      if (found?.isSure) return found
      first ??= found
    }
    return first ?? this.#byName()
  }

  /** Reads one payload that is too large before a request that is: its words are a part of the
   *  other's. */
  #oversize(spans: readonly Span[], at: number): Oversize | OversizeMedia | undefined {
    return this.#mediaIn(spans[at]) ?? oversizeIn(this, spans, at)
  }

  #mediaIn(span: Span | undefined): OversizeMedia | undefined {
    return span && oversizeMediaIn(this.text, this.tokens, this.numbers, span)
  }

  /** Finds a refusal for size that states both numbers. Prose has none, or says that a person
   *  speaks. */
  sure(isThrown: boolean): Oversize | OversizeMedia | undefined {
    if (!isThrown && isProse(this.tokens)) return undefined
    const found = this.anywhere()
    return found?.isSure ? found : undefined
  }

  /** Finds a refusal for size that is a statement of its own: it begins behind labels, says nothing
   *  else, and ends. */
  stated(): Oversize | OversizeMedia | undefined {
    const sentences = sentencesOf(this.tokens, this.text)
    for (const clause of [...clausesOf(this.tokens), ...clausesOf(this.tokens, true)]) {
      if (!this.#isStatement(clause)) continue
      const at = sentences.findIndex(({ from, to }) => from <= clause.from && clause.to <= to)
      const found = oversizeIn(this, [clause], 0) ?? this.#byName(clause)
      if (!found && !this.#mediaIn(sentences[at])) continue
      // Its numbers may stand in the rest of the sentence, and in the next ones.
      return this.#oversize(sentences, at) ?? found
    }
    return undefined
  }

  /** Finds a request that only a larger plan takes: "Extra usage is required for long context
   *  requests". */
  needsPlan(): boolean {
    const { prompt, context, large, plan, rate } = SORT
    return sentencesOf(this.tokens, this.text).some(({ from, to }) => {
      const all = this.tokens.slice(from, to).reduce((sum, { sorts }) => sum | sorts, 0)
      return (all & (prompt | context)) !== 0 && (all & large) !== 0 && (all & plan) !== 0 && !(all & rate)
    })
  }

  /** Returns true if a sentence that begins with a request, or tokens, says that they exceed a
   *  rate. */
  exceedsRate(): boolean {
    if (isProse(this.tokens)) return false
    const { request, prompt, token, rate, exceed, plain } = SORT
    return sentencesOf(this.tokens, this.text).some(({ from, to }) => {
      const words = this.tokens.slice(from, to)
      const all = words.reduce((sum, { sorts }) => sum | sorts, 0)
      const subject = words.find(({ sorts, text }) => !(sorts & plain) && /\p{L}/u.test(text))
      return (
        isRate(words, all) &&
        (all & exceed) !== 0 &&
        ((subject?.sorts ?? 0) & (request | prompt | token | rate)) !== 0
      )
    })
  }

  /** Finds a single request that is over the quota of a time by itself: "This request exceeds the
   *  limit of 30000 tokens per minute". A request that "would exceed" it has to wait. */
  exceedsQuota(): Numbers | undefined {
    const { request, prompt, token, exceed, compare } = SORT
    const span = sentencesOf(this.tokens, this.text).find(({ from, to }) => {
      const words = this.tokens.slice(from, to)
      const all = words.reduce((sum, { sorts }) => sum | sorts, 0)
      if (!(all & token) || !isRate(words, all)) return false
      return words.some(({ text, sorts }, at) => {
        const noun = words[at - 1]
        const isOver = sorts & exceed && /s$/.test(text)
        const isMore = text === 'is' && (words[at + 1]?.sorts ?? 0) & compare
        return (isOver || isMore) && (noun?.sorts ?? 0) & (request | prompt) && !/s$/.test(noun?.text ?? '')
      })
    })
    if (!span) return undefined
    const { actual, limit } = figuresOf(this.tokens, this.numbers, span)
    return { ...(actual !== undefined && { actual }), ...(limit !== undefined && { limit }) }
  }

  /** Finds a code: anywhere, or as all that a clause says. */
  #byName(clause?: Span): Oversize | undefined {
    const tokens = clause ? this.tokens.slice(clause.from, clause.to) : this.tokens
    if (clause && tokens.length > 1) return undefined
    for (const { text, isName, start, end } of tokens) {
      const kind =
        isName && text !== '' ? kindOfName(this.text.slice(start, end).replace(/^.*[.:]/, '')) : undefined
      if (kind) return { kind, isSure: false }
    }
    return undefined
  }

  #isStatement({ from, to }: Span): boolean {
    const words = this.tokens.slice(from, to)
    const [first, last] = [words[0], words.at(-1)]
    const isPure = words.every(
      ({ sorts, text, isName, number }) =>
        number !== undefined ||
        (isName && text.length <= LONGEST) ||
        (sorts !== 0 ? isWordOfRefusal(sorts) : !/\p{L}/u.test(text)),
    )
    return isPure && first && last ? isEnd(this.text, last.end) && opens(this.text, first.start) : false
  }
}

/** Returns true for words that a refusal consists of. Of things, these are payloads. */
function isWordOfRefusal(sorts: number): boolean {
  return !(sorts & SORT.person) && (!(sorts & SORT.thing) || (sorts & SORT.media) !== 0)
}

/** Returns the kind that a code or the name of an error states. */
export function kindOfName(name: string): ProviderErrorKind | undefined {
  return oversizeOfName(wordsOfName(name), sortsOf)
}

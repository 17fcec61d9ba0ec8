import type { ProviderError, ProviderErrorKind } from 'spillway'
import { isEnd, opens } from './statement.js'

/**
 * A phrase of a provider error, from lib/provider_errors/table.json. Case is ignored. Its words may
 * contain:
 * - `{actual}`, `{limit}`, `{more}`: a number to extract; `{more}` is added to `{actual}`;
 * - `{n}`: a number to ignore;
 * - `{model}`: the name of a model;
 * - `{a|b|}`: one of several alternatives;
 * - `...`: up to 200 chars of the same line;
 * - `~`: the rest of a clause in a script without spaces, unless it only mentions the phrase.
 */
export interface Phrase {
  readonly kind: ProviderErrorKind
  readonly words: RegExp
  /** A part of every text with the phrase, in lower case. Searched first, it rules out nearly all
   *  texts. */
  readonly needle: string
  /** True if the phrase counts only by itself, not amid other words, even in a provider's
   *  answer. */
  readonly alone: boolean
}

/** Numbers of an error. */
export type Numbers = Pick<ProviderError, 'actual' | 'limit'>

export interface Match {
  readonly kind: ProviderErrorKind
  readonly numbers: Numbers
  /** True if the phrase follows only words that introduce an error, and ends a sentence. */
  readonly isSentence: boolean
}

const NUMBER = String.raw`(\d+(?:[,_]\d+)*(?: ?k\b)?)`
const PARTS: Readonly<Record<string, string>> = {
  '{n}': NUMBER.replace('(', '(?:'),
  '{actual}': NUMBER.replace('(', '(?<actual>'),
  '{more}': NUMBER.replace('(', '(?<more>'),
  '{limit}': NUMBER.replace('(', '(?<limit>'),
  // Unlike a word, it has a digit or several parts.
  '{model}': String.raw`["']?(?=[\w.:/@-]*[\d:/@-])[\w.:/@-]*\w["']?`,
  '...': '[^\\n]{0,200}?',
  '~': String.raw`(?:(?![的吗呢怎])\p{L}|\d){0,20}`,
  '{': '(?:',
  '|': '|',
  '}': ')',
}

export function phrasesOf(
  rows: readonly { kind: string; says: readonly string[]; alone?: boolean }[],
): Phrase[] {
  return rows.flatMap(({ kind, says, alone = false }) =>
    says.map((words) => ({
      kind: kind as ProviderErrorKind,
      words: compiled(words),
      needle: needleOf(words),
      alone,
    })),
  )
}

function compiled(words: string): RegExp {
  const parts = words.match(/\{(?:actual|more|limit|n|model)\}|\.\.\.|[\s\S]/gu) ?? []
  const source = parts.map((part) => PARTS[part] ?? part.replace(/[\\^$.*+?()[\]/]/, '\\$&'))
  // Not part of a longer word or of a path.
  return new RegExp(`(?<![a-z0-9_/-])${source.join('')}(?![a-z0-9_/]|[.-][a-z0-9_])`, 'iu')
}

/** Returns the longest part of a phrase without alternatives. */
function needleOf(words: string): string {
  let plain = words.replace(/\.\.\.|~/g, '\n')
  for (let before = ''; before !== plain; ) [before, plain] = [plain, plain.replace(/\{[^{}]*\}/g, '\n')]
  const [longest = ''] = plain.split('\n').sort((a, b) => b.length - a.length)
  return longest.toLowerCase()
}

/** A text to search for phrases. */
export class PhraseText {
  readonly text: string
  readonly #lower: string

  constructor(text: string) {
    // Quotes and emphasis vary. Line ends are kept, since a phrase never spans one.
    this.text = text
      .replace(/[`*]/g, '')
      .replace(/[\u2018\u2019]/g, "'")
      .replace(/[^\S\n]+/g, ' ')
    this.#lower = this.text.toLowerCase()
  }

  find({ kind, words, needle }: Phrase): Match | undefined {
    const found = this.#lower.includes(needle) ? words.exec(this.text) : undefined
    if (!found) return undefined
    const end = found.index + found[0].length
    const isSentence = (/[.:]$/.test(found[0]) || isEnd(this.text, end)) && opens(this.text, found.index)
    return { kind, isSentence, numbers: numbersIn(found.groups) }
  }
}

/** Finds the first phrase in any of the texts. `mentioned`: also amid other words. */
export function findPhrase(
  texts: readonly PhraseText[],
  phrases: readonly Phrase[],
  mentioned: boolean,
): Match | undefined {
  for (const phrase of phrases)
    for (const text of texts) {
      const found = text.find(phrase)
      if (found && (found.isSentence || (mentioned && !phrase.alone))) return found
    }
  return undefined
}

function numbersIn(groups: Record<string, string | undefined> = {}): Numbers {
  const [actual, more, limit] = [groups['actual'], groups['more'], groups['limit']].map(numberOf)
  return {
    ...(actual !== undefined && { actual: actual + (more ?? 0) }),
    ...(limit !== undefined && { limit }),
  }
}

/** Parses a number such as "213,462", "200_000", "128k". */
function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text.replace(/[^\d]/g, '')) * (/k$/i.test(text) ? 1_000 : 1)
  return Number.isSafeInteger(number) ? number : undefined
}

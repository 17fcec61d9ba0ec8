import type { ProviderErrorKind } from 'spillway'

/**
 * Phrases of provider errors, as src/provider_errors.json has them: words, with `{actual}`, `{limit}` and `{more}` (which
 * is added to the actual one) for numbers that are read out, `{n}` for one that is not, `{model}` for the name of a model,
 * `{a|b|}` for one of several, `...` for up to 200 chars of the same line, `~` for the rest of a clause in a script without spaces that does not talk
 * about the phrase. Upper and lower case are the same.
 */
export interface Phrase {
  readonly kind: ProviderErrorKind
  readonly words: RegExp
  /** What any text that has the phrase has, in lower case: looking for that comes first and tells nearly all. */
  readonly needle: string
  /** Tells nothing amid other words, not even in what is certainly an answer. */
  readonly alone: boolean
}

export interface PhraseData {
  readonly kind: string
  readonly says: readonly string[]
  readonly alone?: boolean
}

/** Numbers that a phrase tells. */
export interface Numbers {
  actual?: number
  limit?: number
}

export interface Match extends Numbers {
  readonly kind: ProviderErrorKind
  /** Whether the text is nothing but the phrase, after words that lead an error and before the end of a sentence. */
  readonly stands: boolean
}

const NUMBER = String.raw`(\d+(?:[,_]\d+)*(?: ?k\b)?)`
const PARTS: Readonly<Record<string, string>> = {
  '{n}': NUMBER.replace('(', '(?:'),
  '{actual}': NUMBER.replace('(', '(?<actual>'),
  '{more}': NUMBER.replace('(', '(?<more>'),
  '{limit}': NUMBER.replace('(', '(?<limit>'),
  // Unlike a word, it has a digit or is of several parts.
  '{model}': String.raw`["']?(?=[\w.:/@-]*[\d:/@-])[\w.:/@-]*\w["']?`,
  '...': '[^\\n]{0,200}?',
  '~': String.raw`(?:(?![的吗呢怎])\p{L}|\d){0,20}`,
  '{': '(?:',
  '|': '|',
  '}': ')',
}

export function phrasesOf(rows: readonly PhraseData[]): Phrase[] {
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
  // No part of a longer word or of a path.
  return new RegExp(`(?<![a-z0-9_/-])${source.join('')}(?![a-z0-9_/]|[.-][a-z0-9_])`, 'iu')
}

/** The longest part of a phrase that has no alternatives. */
function needleOf(words: string): string {
  let plain = words.replace(/\.\.\.|~/g, '\n')
  for (let before = ''; before !== plain; ) [before, plain] = [plain, plain.replace(/\{[^{}]*\}/g, '\n')]
  const [longest = ''] = plain.split('\n').sort((a, b) => b.length - a.length)
  return longest.toLowerCase()
}

/** A text in which phrases are looked for. */
export class Words {
  readonly #text: string
  readonly #lower: string
  /** Up to where there are only words that lead an error. */
  readonly #lead: number

  constructor(text: string, lead: RegExp) {
    // Quotes and emphasis differ from writer to writer; line ends are kept, since a phrase never goes over one.
    this.#text = text
      .replace(/[`*]/g, '')
      .replace(/[\u2018\u2019]/g, "'")
      .replace(/[^\S\n]+/g, ' ')
    this.#lower = this.#text.toLowerCase()
    this.#lead = leadsTo(lead, this.#text)
  }

  find({ kind, words, needle }: Phrase): Match | undefined {
    const found = this.#lower.includes(needle) ? words.exec(this.#text) : undefined
    if (!found) return undefined
    const end = found.index + found[0].length
    const stands = found.index <= this.#lead && (/[.:]$/.test(found[0]) || ends(this.#text, end))
    return { kind, stands, ...numbers(found.groups) }
  }
}

/** The first phrase of which one of the texts speaks. `mentioned`: also amid others. */
export function find(
  texts: readonly Words[],
  phrases: readonly Phrase[],
  mentioned: boolean,
): Match | undefined {
  for (const phrase of phrases)
    for (const text of texts) {
      const found = text.find(phrase)
      if (found && (found.stands || (mentioned && !phrase.alone))) return found
    }
  return undefined
}

/** Whether a sentence ends here, and what was quoted is not talked about. */
function ends(text: string, at: number): boolean {
  return /^(?:["'”]+(?! ?\p{L})|(?![ ]?\p{L}|["'”]))/u.test(text.slice(at, at + 8))
}

function numbers(groups: Record<string, string | undefined> = {}): Numbers {
  const [actual, more, limit] = [groups['actual'], groups['more'], groups['limit']].map(numberOf)
  return {
    ...(actual !== undefined && { actual: actual + (more ?? 0) }),
    ...(limit !== undefined && { limit }),
  }
}

/** "213,462", "200_000", "128k". */
function numberOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text.replace(/[^\d]/g, '')) * (/k$/i.test(text) ? 1_000 : 1)
  return Number.isSafeInteger(number) ? number : undefined
}

/** Up to where a text has nothing but words that lead an error. */
export function leadsTo(lead: RegExp, text: string): number {
  lead.lastIndex = 0
  return lead.exec(text)?.[0].length ?? 0
}

/** What may stand before a status, a body or a phrase: words of a list, numbers, names as programs have them, and
 *  punctuation. */
export function leadOf(words: readonly string[]): RegExp {
  const escaped = words.map((word) => word.replace(/[.\\/]/g, '\\$&'))
  const listed = (word: string) => (/^\p{ASCII}+$/u.test(word) ? `${caseless(word)}(?!'?\\w)` : word)
  const names = [
    // gpt-4o, req_01abc, 400, v1.2
    String.raw`[\w.@/:-]*\d[\w.@/:-]*`,
    // context_length, litellm.BadRequestError
    String.raw`\w+(?:[._/]\w+)+`,
    // BadRequestError, APIError, HTTP; a repeated group of capitals would try every way to part them
    String.raw`[A-Z]+[a-z\d]+[A-Z][A-Za-z\d]*(?!\w)`,
    String.raw`[A-Z]{2,}(?:[a-z]\w*)?(?!'?\w)`,
  ]
  const all = [String.raw`[\s"'{}[\]()<>:;,.|=#\-–—/\\!_：，。；！（）“”]+`, ...escaped.map(listed), ...names]
  return new RegExp(`(?:${all.join('|')})*`, 'uy')
}

function caseless(word: string): string {
  return word.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}

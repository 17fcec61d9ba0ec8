import { hanWords, SORT, sortsOf, wordsOfName } from './words.js'

/** A word, a number or a sign of a sentence. */
export interface Token {
  /** Classes of the word as bits of SORT. */
  readonly sorts: number
  readonly text: string
  /** Value of a number. */
  readonly number?: number
  /** True for an identifier, a model, a path or a URL: nothing that prose consists of. */
  readonly isName?: boolean
  readonly start: number
  readonly end: number
}

/** Longest part of a text that is read word by word. */
const READ = 4_096

/** URL; number with separators and k or M; identifier; run of Han; word; sign of a comparison or
 *  the end of a sentence. */
const TOKEN =
  /(https?:\/\/[^\s"'<>]+)|(?<![\w.])(\d{1,3}(?:[,_]\d{3})+|\d+)(\.\d+)?( ?[kKM](?![\w]))?(?![\w.]*[A-Za-z_])|(\p{sc=Han}+)|([\p{L}\d_$@][\p{L}\d_]*(?:[-.:/@\\'’=][\p{L}\d_]+)*)|([<>≤≥]=?|(?<=\()'|[.!?;\n。！？；,，:：()（）+/\]["“”])/gu

/** Returns the words, numbers and signs of a text. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (const found of text.slice(0, READ).matchAll(TOKEN)) {
    const [all, url, digits, fraction = '', thousands, han, word] = found
    const start = found.index
    const end = start + all.length
    if (url !== undefined) tokens.push({ sorts: 0, text: '', isName: true, start, end })
    else if (digits !== undefined)
      tokens.push({ sorts: 0, text: all, number: amountOf(digits + fraction, thousands), start, end })
    else if (han !== undefined) pushHan(tokens, han, start)
    else if (word !== undefined) pushWord(tokens, word, start)
    else tokens.push({ sorts: 0, text: all, start, end })
  }
  return tokens
}

function pushHan(tokens: Token[], run: string, start: number): void {
  for (const word of hanWords(run)) {
    tokens.push({ sorts: sortsOf(word), text: word, start, end: start + word.length })
    start += word.length
  }
}

/** Reads a word, or the words of an identifier. `max_tokens=9` is a name and a number. */
function pushWord(tokens: Token[], word: string, start: number): void {
  const lower = word.toLowerCase().replace('’', "'")
  const sorts = sortsOf(lower) || sortsOf(lower.replace(/'s?$/, ''))
  const end = start + word.length
  if (sorts !== 0) return void tokens.push({ sorts, text: lower, start, end })
  const equals = /^([A-Za-z_]+)[=:](\d+)$/.exec(word)
  if (equals?.[1] && equals[2]) {
    pushWord(tokens, equals[1], start)
    tokens.push({ sorts: 0, text: equals[2], number: Number(equals[2]), start: end - equals[2].length, end })
    return
  }
  tokens.push({ ...nameOf(word), text: lower, start, end })
}

/** Reads an identifier by its words. A path of members says where the provider looked, not what it
 *  measured. */
function nameOf(word: string): Pick<Token, 'sorts' | 'isName'> {
  const isName = /[\d_@/\\$]|\p{L}[.:=]|[a-z][A-Z]/u.test(word)
  if (!isName && !word.includes('-')) return { sorts: 0 }
  if (/[./:@]/.test(word)) return { sorts: 0, isName: true }
  const words = wordsOfName(word)
  const sorts = words.reduce((all, part) => all | sortsOf(part), 0)
  // max_tokens bounds the output. Only max_input_tokens and its like bound the prompt.
  const bounds = SORT.limit | SORT.token
  const isOutput = (sorts & bounds) === bounds && !(sorts & (SORT.prompt | SORT.request | SORT.measure))
  const isThought = words.includes('budget') && words.includes('tokens')
  return { sorts: (isOutput || isThought ? SORT.output : sorts) & ~SORT.plain, isName }
}

function amountOf(digits: string, thousands = ''): number {
  const scale = { k: 1_000, m: 1_000_000 }[thousands.trim().toLowerCase()] ?? 1
  return Number(digits.replace(/[,_]/g, '')) * scale
}

/** A sentence of a text, or a clause of one: a range of its tokens. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Splits tokens at the ends of sentences. */
export function sentencesOf(tokens: readonly Token[], text: string): Span[] {
  return split(tokens, ({ text: sign, end }) =>
    sign === '.' ? /^["')\]]*(?:\s|$)/.test(text.slice(end, end + 4)) : /^[!?;\n。！？；]$/.test(sign),
  )
}

/** Splits tokens at whatever ends a clause. `joined`: clauses that a comma joins are one. */
export function clausesOf(tokens: readonly Token[], joined = false): Span[] {
  const ends = joined ? /^[.!?;\n。！？；:：["“”\]']$/ : /^[.!?;\n。！？；,，:：["“”\]']$/
  return split(tokens, ({ text }) => ends.test(text))
}

function split(tokens: readonly Token[], ends: (token: Token) => boolean): Span[] {
  const spans: Span[] = []
  let from = 0
  tokens.forEach((token, at) => {
    if (!ends(token)) return
    if (at > from) spans.push({ from, to: at })
    from = at + 1
  })
  if (from < tokens.length) spans.push({ from, to: tokens.length })
  return spans
}

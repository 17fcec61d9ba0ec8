import table from './table.json'

/** Words, numbers, identifiers and punctuation that may precede a status, a body or a phrase. */
let lead: RegExp | undefined

/** Returns the length of the words at the start of a text that introduce an error. */
export function leadLength(text: string): number {
  // Compiled on first use, since most runs never see an error.
  lead ??= compiled()
  lead.lastIndex = 0
  return lead.exec(text)?.[0].length ?? 0
}

function compiled(): RegExp {
  const providers = [...table.exclusions, ...table.errors].flatMap(({ provider }) => provider.split(/,? /))
  const words = [...table.lead, ...providers].map((word) => {
    const escaped = word.replace(/[.\\/]/g, '\\$&')
    return /^\p{ASCII}+$/u.test(escaped) ? `${caseless(escaped)}(?!'?\\w)` : escaped
  })
  const names = [
    // gpt-4o, req_01abc, 400, v1.2
    String.raw`[\w.@/:-]*\d[\w.@/:-]*`,
    // context_length, litellm.BadRequestError
    String.raw`\w+(?:[._/]\w+)+`,
    // BadRequestError, APIError, HTTP; a repeated group of capitals would backtrack exponentially
    String.raw`[A-Z]+[a-z\d]+[A-Z][A-Za-z\d]*(?!\w)`,
    String.raw`[A-Z]{2,}(?:[a-z]\w*)?(?!'?\w)`,
  ]
  const all = [String.raw`[\s"'{}[\]()<>:;,.|=#\-–—/\\!_：，。；！（）“”]+`, ...words, ...names]
  return new RegExp(`(?:${all.join('|')})*`, 'uy')
}

function caseless(word: string): string {
  return word.replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}

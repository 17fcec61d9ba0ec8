/** Chars above which a name is not a misspelt option. */
const LONGEST = 40

/** Chars below which a part of a name does not identify it, and the beginning of a word does not
 *  abbreviate it. */
const PART = 4
const START = 3

/** Returns the name most similar to a misspelt one, the first of several, or undefined if none is
 *  similar. */
export function closest(misspelt: string, names: readonly string[]): string | undefined {
  if (misspelt.length > LONGEST) return undefined
  const given = normalized(misspelt)
  let found: string | undefined
  let least = Math.floor(given.length / 3) + 1
  for (const name of names) {
    const apart = distance(given, normalized(name))
    if (apart >= least) continue
    found = name
    least = apart
  }
  return (
    found ??
    names.find((name) => sayTheSame(wordsOf(misspelt), wordsOf(name))) ??
    names.find((name) => holds(normalized(name), given) || holds(given, normalized(name)))
  )
}

/** Returns the words of a name such as maxChars or max-chars, without the endings of plurals. */
function wordsOf(name: string): string[] {
  const words = name.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/)
  return words.filter(Boolean).map((word) => word.toLowerCase().replace(/s$/, ''))
}

/** Returns true if two names have the same words, some of them abbreviated. */
function sayTheSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((word, at) => abbreviates(word, other[at] as string))
}

function abbreviates(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return short === long || (short.length >= START && long.startsWith(short))
}

/** Normalises a name: case and punctuation are ignored. */
function normalized(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '')
}

function holds(whole: string, part: string): boolean {
  return part.length >= PART && whole.includes(part)
}

/** Returns the edit distance of two names: letters inserted, deleted, replaced, or swapped with the
 *  next. */
function distance(one: string, other: string): number {
  let before: number[] = []
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      const same = one[i - 1] === other[j - 1]
      const swapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]
      next[j] = Math.min(
        (row[j] as number) + 1,
        (next[j - 1] as number) + 1,
        (row[j - 1] as number) + Number(!same),
        swapped ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY,
      )
    }
    before = row
    row = next
  }
  return row[other.length] as number
}

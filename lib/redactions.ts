/** A mark in the place of a secret, with its kind. */
const MARK = /\[redacted: ([^\]\n]{1,200})\]/g

/** Marks by kind. */
export type Kinds = Map<string, number>

/** The count that is kept now. */
let counts: Kinds | undefined

/** Counts the marks that a redaction put into a text, if someone counts. */
export function countMarks(before: string, after: string): void {
  if (!counts) return
  for (const [, kind = ''] of after.matchAll(MARK)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  // Marks of an earlier redaction.
  for (const [, kind = ''] of before.matchAll(MARK)) counts.set(kind, (counts.get(kind) ?? 0) - 1)
}

/** Runs work, and returns what it made with the secrets that it replaced, by kind. Work within it
 *  that counts by itself does not count here. */
export function countingMarks<T>(work: () => T): { readonly made: T; readonly kinds: Kinds } {
  const outer = counts
  const kinds: Kinds = new Map()
  counts = kinds
  try {
    const made = work()
    for (const [kind, count] of kinds) if (count <= 0) kinds.delete(kind)
    return { made, kinds }
  } finally {
    counts = outer
  }
}

/** Runs of code points that OpenClaw's later releases count as several chars, and the chars added
 *  for each UTF-16 code unit of a run. The middle dot has a pattern of its own: no other can match
 *  in a string of one byte a char. */
const HEAVY: readonly (readonly [RegExp, number])[] = [
  [/\xb7/g, 3],
  [/[\u2e80-\u33ff\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60\uffe0-\uffe6]+/gu, 3],
  [/[\u{1d300}-\u{1d311}]+/gu, 5],
  [/[\uff61-\uffdc\u{1b000}-\u{1b16f}\u{20000}-\u{3ffff}]+/gu, 7],
  [/[\u1100-\u11ff\u3400-\u4dbf\ua000-\ua4cf\ua960-\ua97f\ud7b0-\ud7ff\uf900-\ufaff]+/gu, 11],
]

/** Counts the chars of a text, with Chinese, Japanese and Korean weighted by their tokens. `least`:
 *  the weight of any other char. */
export function weightOf(text: unknown, least = 1): number {
  if (typeof text !== 'string') return 0
  let weight = least * text.length
  for (const [run, added] of HEAVY)
    for (const { length } of text.match(run) ?? []) weight += Math.max(0, added + 1 - least) * length
  return weight
}

/**
 * Cuts to `most` in another measure than the chars of the cut: tries the cut with fewer and fewer
 * chars, by halves. `cut` gets the chars that it may keep, `measure` its result.
 */
export function fitted<T>(most: number, cut: (chars: number) => T, measure: (made: T) => number): T {
  const made = cut(most)
  if (measure(made) <= most) return made
  let [least, over] = [0, most]
  while (over - least > 1) {
    const chars = Math.floor((least + over) / 2)
    if (measure(cut(chars)) <= most) least = chars
    else over = chars
  }
  return cut(least)
}

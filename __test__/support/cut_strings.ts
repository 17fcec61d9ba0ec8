/** Marks of a cut, and its notices. */
const MARKS =
  /\[\.\.\. [\d,]+ (?:lines?|chars|more characters)[^\]]*\]|\[\.\.\.\]|\[tool output truncated: [^\]]*\]|\[\+\d+ chars\]|\.\.\. \([\d,]+ chars truncated from [^)\n]*\)/

/** Returns the first line of a text that is not in another behind the lines before it, undefined if
 *  the text is a cut of the other. */
export function foreignLine(cut: string, whole: string): string | undefined {
  const pieces = (text: string) =>
    text
      .toWellFormed()
      .split(MARKS)
      .flatMap((part) => part.split('\n'))
  const given = whole.toWellFormed()
  let at = 0
  for (const piece of pieces(cut)) {
    const line = piece.trim()
    const next = given.indexOf(line, at)
    if (next < 0) return line
    at = next + line.length
  }
  return undefined
}

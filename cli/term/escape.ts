/** Chars that a terminal acts on: controls, line ends, and controls of text direction. */
const ACTIVE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** Escapes all chars that break a line, move a cursor or change the direction of text. */
export function oneLine(text: string): string {
  return text.replace(ACTIVE, escaped)
}

/** Escapes all chars that move a cursor or change the direction of text. Tabs and line breaks
 *  stay. */
export function inLines(text: string): string {
  return text.replace(ACTIVE, (char) => (char === '\t' || char === '\n' ? char : escaped(char)))
}

/** Most chars of a name in a message. */
const LONGEST = 80

/** Quotes the name of a tool, which a model or a server chooses, for a message. A long one is
 *  truncated. */
export function quoted(name: string): string {
  const shown = name.length > LONGEST ? `${name.slice(0, LONGEST - 3)}...` : name
  return oneLine(JSON.stringify(shown))
}

/** Formats a value as a line of JSON. Names of tools and files in it are not trusted. */
export function jsonLine(value: unknown): string {
  return `${oneLine(JSON.stringify(value))}\n`
}

/** Escapes chars that change the direction of text. */
export function inOrder(text: string): string {
  return text.replace(/\p{Bidi_Control}/gu, escaped)
}

/** Formats a char as a \u escape. */
export function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

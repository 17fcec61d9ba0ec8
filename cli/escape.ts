/** Chars that a terminal acts on: controls, ends of lines, and those that turn the order of others around. */
const ACTIVE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** A text that neither breaks a line nor moves a cursor. */
export function oneLine(text: string): string {
  return text.replace(ACTIVE, escaped)
}

/** A line of JSON. Names of tools and of files come from anywhere. */
export function jsonLine(value: unknown): string {
  return `${oneLine(JSON.stringify(value))}\n`
}

/** A text without chars that turn the order of others around. */
export function inOrder(text: string): string {
  return text.replace(/\p{Bidi_Control}/gu, escaped)
}

/** A char by its number. */
export function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

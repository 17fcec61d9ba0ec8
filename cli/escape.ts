/** Chars that a terminal acts on: controls, line ends, and controls of text direction. */
const ACTIVE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

/** Escapes all chars that break a line, move a cursor or change the direction of text. */
export function oneLine(text: string): string {
  return text.replace(ACTIVE, escaped)
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

import { escaped, inOrder } from '../term/escape.js'

/** Markup that is safe to place in a page. Only `html` makes it. */
export class Markup {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

export type MarkupContent = string | number | Markup | readonly MarkupContent[]

/** Makes markup from a template, in which all values but markup are text: in an element or in a
 *  quoted attribute. */
export function html(parts: TemplateStringsArray, ...values: readonly MarkupContent[]): Markup {
  return new Markup(parts.map((part, at) => part + markupOf(values[at] ?? '')).join(''))
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function markupOf(content: MarkupContent): string {
  if (content instanceof Markup) return content.markup
  if (Array.isArray(content)) return content.map(markupOf).join('')
  return shownOf(String(content)).replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
}

/** Escapes what a page cannot show as it is: controls, chars that change the direction of text,
 *  lone surrogates. */
function shownOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: to be escaped
  return inOrder(text.toWellFormed()).replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, escaped)
}

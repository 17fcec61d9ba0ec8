/**
 * JSON as plainly as its readers take it.
 *
 * A proxy that measures what `JSON.parse` read and forwards the bytes of its server measures one
 * text and forwards another: an integer of 4,000 digits is read as `null`, a float of 2,000 digits
 * as 17, and of two members with one name the last alone is read. A server could lift any limit
 * that way. An answer over the limits is therefore written plainly first, then measured and sent
 * in that form: without blanks between tokens, with one member of each name, the last, and with
 * numbers that are no longer than JavaScript writes them. An integer of 64 bits keeps its digits.
 */

import { stringEnd } from './parts.js'

/** Maximum chars of a number that keep their spelling: JavaScript writes none that are longer. */
const LONGEST = 24
const SCALAR = /[^\s,\]}]+/y

export interface Plain {
  readonly text: string
  /** Members and elements, at all levels. */
  readonly parts: number
  /** Some other reader could take more from the text than JavaScript does. */
  readonly isOdd: boolean
}

/** A container whose end has not come yet. */
interface Open {
  readonly members: Map<string, string> | undefined
  readonly elements: string[]
  name: string | undefined
}

/** Writes valid JSON plainly, in one pass and without recursion. */
export function plainOf(text: string): Plain {
  const open: Open[] = []
  let [done, parts, isOdd] = ['', 0, false]
  const put = (json: string) => {
    const holder = open.at(-1)
    parts += 1
    if (!holder) done = json
    else if (!holder.members) holder.elements.push(json)
    else if (holder.name !== undefined) {
      isOdd ||= holder.members.has(holder.name)
      holder.members.set(holder.name, json)
      holder.name = undefined
    }
  }
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string
    const holder = open.at(-1)
    if (char === '{' || char === '[')
      open.push({ members: char === '{' ? new Map() : undefined, elements: [], name: undefined })
    else if (char === '}' || char === ']') {
      const { members, elements = [] } = open.pop() ?? {}
      put(
        members
          ? `{${[...members].map(([name, json]) => `${name}:${json}`).join(',')}}`
          : `[${elements.join(',')}]`,
      )
    } else if (char === '"') {
      const end = stringEnd(text, at)
      const string = text.slice(at, end)
      if (holder?.members && holder.name === undefined) holder.name = JSON.stringify(JSON.parse(string))
      else put(string)
      at = end
      continue
    } else if (!' \t\r\n,:\ufeff'.includes(char)) {
      SCALAR.lastIndex = at
      const scalar = SCALAR.exec(text)?.[0] ?? char
      isOdd ||= scalar.length > LONGEST
      put(scalar.length > LONGEST ? JSON.stringify(JSON.parse(scalar)) : scalar)
      at += scalar.length
      continue
    }
    at += 1
  }
  return { text: done, parts, isOdd }
}

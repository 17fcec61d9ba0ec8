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

/** The pieces of a member, from its comma on. */
interface MemberRange {
  readonly from: number
  to: number
}

/** A container whose end has not come yet. */
interface OpenContainer {
  readonly members: Map<string, MemberRange> | undefined
  /** Members and elements so far. */
  count: number
  /** The member whose value has not come yet. */
  member: MemberRange | undefined
  isDoubled: boolean
}

/** Writes valid JSON plainly, in one pass and without recursion. */
export function plainOf(text: string): Plain {
  const writer = new Writer()
  let hasLong = false
  for (let at = 0; at < text.length; ) {
    const char = text[at] as string
    if (char === '{' || char === '[') writer.open(char)
    else if (char === '}' || char === ']') writer.close(char)
    else if (char === '"') {
      const end = stringEnd(text, at)
      writer.string(text.slice(at, end))
      at = end
      continue
    } else if (!' \t\r\n,:\ufeff'.includes(char)) {
      SCALAR.lastIndex = at
      const scalar = SCALAR.exec(text)?.[0] ?? char
      hasLong ||= scalar.length > LONGEST
      writer.value(scalar.length > LONGEST ? JSON.stringify(JSON.parse(scalar)) : scalar)
      at += scalar.length
      continue
    }
    at += 1
  }
  return { text: writer.text, parts: writer.parts, isOdd: hasLong || writer.hasDoubled }
}

/** Writes pieces into one list, since text that is joined at each level takes quadratic time where
 *  lists are nested. */
class Writer {
  parts = 0
  readonly #pieces: string[] = []
  readonly #open: OpenContainer[] = []
  /** Members that a later one of their name replaces: their ends by their starts. */
  readonly #dropped = new Map<number, number>()

  get hasDoubled(): boolean {
    return this.#dropped.size > 0
  }

  open(bracket: '{' | '['): void {
    this.#begin(bracket)
    const members = bracket === '{' ? new Map<string, MemberRange>() : undefined
    this.#open.push({ members, count: 0, member: undefined, isDoubled: false })
  }

  close(bracket: string): void {
    const { members, isDoubled } = this.#open.pop() ?? {}
    if (members && isDoubled) {
      // The first member that stays needs no comma.
      let first = Number.POSITIVE_INFINITY
      for (const { from } of members.values()) first = Math.min(first, from)
      this.#pieces[first] = ''
    }
    this.#pieces.push(bracket)
    this.#end()
  }

  /** Writes a string, which may be the name of a member. */
  string(json: string): void {
    const holder = this.#open.at(-1)
    if (holder?.members && !holder.member)
      this.#name(holder, holder.members, JSON.stringify(JSON.parse(json)))
    else this.value(json)
  }

  value(json: string): void {
    this.#begin(json)
    this.#end()
  }

  #name(holder: OpenContainer, members: Map<string, MemberRange>, name: string): void {
    const before = members.get(name)
    if (before) this.#dropped.set(before.from, before.to)
    holder.isDoubled ||= before !== undefined
    holder.member = { from: this.#pieces.length, to: this.#pieces.length }
    members.set(name, holder.member)
    this.#pieces.push(holder.count++ > 0 ? ',' : '', name, ':')
  }

  /** Begins a value, an element behind a comma. */
  #begin(piece: string): void {
    const holder = this.#open.at(-1)
    if (holder && !holder.members && holder.count++ > 0) this.#pieces.push(',')
    this.#pieces.push(piece)
  }

  /** Ends a value, with the member that it belongs to. */
  #end(): void {
    const holder = this.#open.at(-1)
    this.parts += 1
    if (!holder?.member) return
    holder.member.to = this.#pieces.length
    holder.member = undefined
  }

  get text(): string {
    if (!this.hasDoubled) return this.#pieces.join('')
    const kept: string[] = []
    for (let at = 0; at < this.#pieces.length; ) {
      const end = this.#dropped.get(at)
      if (end === undefined) kept.push(this.#pieces[at++] as string)
      else at = end
    }
    return kept.join('')
  }
}

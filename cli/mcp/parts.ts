import { Raw } from '../../lib/mcp/raw_json.js'

/** A member or an element in a JSON text: its name, and the place of its value. */
export interface JsonPlace {
  readonly name: string | number
  readonly start: number
  readonly end: number
}

/** Matches the chars that begin or end a value, at its top and within it. */
const ENDS = /["{}[\],]/g
const BRACKETS = /["{}[\]]/g
const BLANK = /[\s\ufeff]*/y
/** Depth up to which a text keeps its spelling around a change. */
const DEPTH = 32

/** Returns the place of the first char at or after another that is not blank. */
export function skipped(text: string, from: number): number {
  BLANK.lastIndex = from
  BLANK.exec(text)
  return BLANK.lastIndex
}

/** Returns the parts of the object or the list that begins at a place, in one pass and without a
 *  stack, up to a number of parts. Reads a text that is not valid JSON by its brackets alone: values may be any text, and
 *  the last value may be torn. */
export function partsOf(text: string, from: number, most = Number.POSITIVE_INFINITY): JsonPlace[] {
  const parts: JsonPlace[] = []
  const isList = text[from] === '['
  const isOpen = (at: number) => at < text.length && !'}]'.includes(text[at] as string)
  for (let at = skipped(text, from + 1); isOpen(at) && parts.length < most; ) {
    let name: string | number = parts.length
    if (!isList) {
      const end = text[at] === '"' ? stringEnd(text, at) : valueEnd(text, at)
      name = nameOf(text.slice(at, end))
      at = skipped(text, end)
      if (text[at] === ':') at = skipped(text, at + 1)
    }
    const end = valueEnd(text, at)
    parts.push({ name, start: at, end })
    at = skipped(text, end)
    if (text[at] === ',') at = skipped(text, at + 1)
    else if (end === at && !'}]'.includes(text[at] ?? ']')) at++
  }
  return parts
}

/** Returns the end of the value that begins at a place. */
export function valueEnd(text: string, from: number): number {
  if (text[from] === '"') return stringEnd(text, from)
  let depth = 0
  for (let at = from; ; ) {
    const sought = depth === 0 ? ENDS : BRACKETS
    sought.lastIndex = at
    const found = sought.exec(text)
    if (!found) return text.length
    const { 0: char, index } = found
    at = index + 1
    if (char === '"') at = stringEnd(text, index)
    else if (char === '{' || char === '[') depth++
    else if (depth === 0) return trimmed(text, from, index)
    else if (--depth === 0) return at
  }
}

function trimmed(text: string, from: number, to: number): number {
  let end = to
  while (end > from && ' \t\r\n'.includes(text[end - 1] as string)) end--
  return end
}

/** Returns the place after the string that begins at a place: after the first quote behind an even
 *  number of backslashes. */
export function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let before = quote
    while (text[before - 1] === '\\') before--
    if ((quote - before) % 2 === 0) return quote + 1
  }
  return text.length
}

function nameOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

/** Returns the JSON text of a member within the object that begins at a place. */
export function sourceAt(text: string, from: number, ...names: readonly string[]): string {
  let at = from
  for (const name of names) {
    const part = partsOf(text, at).findLast((one) => one.name === name)
    if (!part) return 'null'
    at = part.start
  }
  return text.slice(at, valueEnd(text, at))
}

/**
 * Writes a value that was made from a JSON text. Shared parts keep their spelling: numbers beyond
 * 2^53, white space, escapes. A name that an object had twice is written once.
 */
export function respelled(text: string, from: number, was: unknown, is: unknown, depth = DEPTH): string {
  if (is instanceof Raw) return is.json
  if (Object.is(was, is)) return text.slice(from, valueEnd(text, from))
  if (depth === 0 || !isContainer(was) || !isContainer(is) || Array.isArray(was) !== Array.isArray(is))
    return spelled(is)
  const parts = partsOf(text, from)
  const write = (part: JsonPlace | undefined, before: unknown, after: unknown) =>
    part ? respelled(text, part.start, before, after, depth - 1) : spelled(after)
  if (Array.isArray(was) && Array.isArray(is)) {
    const places = matched(was, is)
    return `[${is.map((element, at) => write(parts[places[at] ?? -1], was[places[at] ?? -1], element)).join(',')}]`
  }
  const [before, after] = [was, is] as [Record<string, unknown>, Record<string, unknown>]
  const places = new Map(parts.map((part) => [String(part.name), part]))
  const names = new Set([...places.keys(), ...Object.keys(after)])
  const members = [...names].filter((name) => Object.hasOwn(after, name) && after[name] !== undefined)
  const written = members.map(
    (name) => `${JSON.stringify(name)}:${write(places.get(name), before[name], after[name])}`,
  )
  return `{${written.join(',')}}`
}

function spelled(value: unknown): string {
  return value instanceof Raw ? value.json : JSON.stringify(value)
}

/** Returns, for each element of a list, the place in another list of its original. */
function matched(was: readonly unknown[], is: readonly unknown[]): (number | undefined)[] {
  const places = new Map(was.map((element, at) => [element, at]))
  return is.map((element, at) =>
    isContainer(element) && places.has(element)
      ? places.get(element)
      : was.length === is.length
        ? at
        : undefined,
  )
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

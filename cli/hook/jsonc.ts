/** A value in a text of JSON with comments, and its place. */
export interface Node {
  readonly start: number
  readonly end: number
  /** Members of an object, or elements of an array, in order. */
  readonly parts?: readonly Part[]
  readonly isArray?: boolean
  /** The value, if it is no object and no array. */
  readonly value?: unknown
}

export interface Part {
  /** Name of a member. */
  readonly name?: string
  readonly node: Node
  /** End of the comma behind it. */
  readonly comma?: number
}

/** Blanks and comments; then a string, a mark, or a word. */
const TOKEN = /(?:\s|\ufeff|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*("(?:[^"\\\n]|\\.)*"|[{}[\],:]|[^\s{}[\],:"/]+|$)/y

/** Finds the places of all values in a text, with comments and commas before closing brackets allowed. Throws a
 *  SyntaxError if the text is something else. */
export function parse(text: string): Node {
  const tokens: { readonly token: string; readonly end: number }[] = []
  const pattern = new RegExp(TOKEN)
  do {
    const at = pattern.lastIndex
    const token = pattern.exec(text)?.[1]
    if (token === undefined) throw unexpected(text, at)
    tokens.push({ token, end: pattern.lastIndex })
  } while (tokens.at(-1)?.token !== '')
  let at = 0
  const peek = () => tokens[at]?.token ?? ''
  const next = () => {
    const { token, end } = tokens[at++] ?? { token: '', end: text.length }
    return { token, end, start: end - token.length }
  }
  const expect = (token: string) => {
    const found = next()
    if (found.token !== token) throw unexpected(text, found.start)
    return found
  }
  const value = (): Node => {
    const { token, start, end } = next()
    if (token === '{' || token === '[') return inside(token === '[', start)
    try {
      return { start, end, value: JSON.parse(token) }
    } catch {
      throw unexpected(text, start)
    }
  }
  const inside = (isArray: boolean, start: number): Node => {
    const close = isArray ? ']' : '}'
    const parts: Part[] = []
    while (peek() !== close) {
      const part = { ...(!isArray && { name: nameOf() }), node: value() }
      parts.push(peek() === close ? part : { ...part, comma: expect(',').end })
    }
    return { start, end: next().end, isArray, parts }
  }
  const nameOf = () => {
    const { value: name, start } = value()
    if (typeof name !== 'string') throw unexpected(text, start)
    expect(':')
    return name
  }
  const root = value()
  expect('')
  return root
}

/** Returns the member of an object that counts: the last one of its name. */
export function member({ parts = [], isArray }: Node, name: string): Node | undefined {
  return isArray ? undefined : parts.findLast((part) => part.name === name)?.node
}

/** Inserts a first part into an object or array. `indent`: a line break, and the blanks before the container. */
export function insertFirst(text: string, node: Node, part: string, indent: string, unit: string): string {
  const { start, parts = [] } = node
  const inside = part.replaceAll('\n', indent + unit)
  const after = parts.length > 0 ? ',' : indent
  return text.slice(0, start + 1) + indent + unit + inside + after + text.slice(start + 1)
}

/** Removes a part of an object or array, with its comma. */
export function remove(text: string, { start, end, parts = [] }: Node, at: number): string {
  const part = parts[at]
  const before = parts[at - 1]
  if (!part) return text
  if (before) return text.slice(0, before.node.end) + text.slice(part.node.end)
  const isAlone = parts.length === 1
  return text.slice(0, start + 1) + text.slice(isAlone ? end - 1 : part.comma)
}

function unexpected(text: string, at: number): SyntaxError {
  return new SyntaxError(`no JSON in line ${text.slice(0, at).split('\n').length}`)
}

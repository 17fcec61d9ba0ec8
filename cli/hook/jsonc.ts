import { type Node, parseTree, visit } from 'jsonc-parser'

export type { Node }

/** A text of JSON with comments, and the places in it. */
export interface JsoncText {
  readonly text: string
  /** Undefined if the text is blank. */
  readonly root: Node | undefined
  /** Offsets of commas, in order. */
  readonly commas: readonly number[]
  readonly comments: readonly CommentSpan[]
}

interface CommentSpan {
  readonly start: number
  readonly end: number
}

/** Finds the places of all values in a text. Allows comments, and commas before closing brackets.
 *  Throws a SyntaxError for any other text. */
export function parse(text: string): JsoncText {
  const commas: number[] = []
  const comments: CommentSpan[] = []
  const options = { allowTrailingComma: true, allowEmptyContent: true }
  // The parser rejects a byte order mark.
  const plain = text.replace(/^\ufeff/, ' ')
  visit(
    plain,
    {
      onComment: (offset, length) => void comments.push({ start: offset, end: offset + length }),
      onSeparator: (char, offset) => void (char === ',' && commas.push(offset)),
      onError: (_, __, ___, line) => {
        throw new SyntaxError(`line ${line + 1} is not valid JSON; correct it`)
      },
    },
    options,
  )
  return { text, root: parseTree(plain, [], options), commas, comments }
}

/** Returns the index of the last member of an object with a name, or -1 without such a member. */
export function indexOf({ type, children = [] }: Node, name: string): number {
  return type === 'object' ? children.findLastIndex((member) => member.children?.[0]?.value === name) : -1
}

/** Returns a member of an object. */
export function member(node: Node, name: string): Node | undefined {
  return valueIn(node.children?.[indexOf(node, name)])
}

/** Returns the value of a part: that of a member, or the element itself. */
export function valueIn(part: Node | undefined): Node | undefined {
  return part?.type === 'property' ? part.children?.[1] : part
}

/** Returns true if a node contains comments outside another node. */
export function hasComments({ comments }: JsoncText, node: Node, other?: Node): boolean {
  const isIn = ({ start }: CommentSpan, { offset, length }: Node) => start > offset && start < offset + length
  return comments.some((comment) => isIn(comment, node) && !(other && isIn(comment, other)))
}

/** Inserts a first part into an object or array. `indent`: a line break, and the blanks before the
 *  container. */
export function insertFirst(
  document: JsoncText,
  node: Node,
  part: string,
  indent: string,
  unit: string,
): string {
  const at = node.offset + 1
  const inside = part.replaceAll('\n', indent + unit)
  const after = node.children?.length ? ',' : hasComments(document, node) ? '' : indent
  const { text } = document
  return text.slice(0, at) + indent + unit + inside + after + text.slice(at)
}

/** Removes a part of an object or array, with the blanks before it and a comma. Comments stay. */
export function remove(document: JsoncText, container: Node, at: number): string {
  const { text, commas } = document
  const { children = [], offset, length } = container
  const [before, part, after] = [children[at - 1], children[at], children[at + 1]]
  if (!part) return text
  if (children.length === 1 && !hasComments(document, container, part))
    return text.slice(0, offset + 1) + text.slice(offset + length - 1)
  const end = endOf(part)
  const comma =
    firstIn(commas, end, after?.offset ?? offset + length) ??
    (before && firstIn(commas, endOf(before), part.offset))
  const gap = text.slice(0, part.offset).trimEnd().length
  // The line break that ends a comment stays, unless one follows.
  const isAfterComment = document.comments.some((comment) => comment.end === gap)
  const from = isAfterComment && !/^,?[ \t]*\r?\n/.test(text.slice(end)) ? part.offset : gap
  const cuts: CommentSpan[] = [{ start: from, end }]
  if (comma !== undefined) cuts.push({ start: comma, end: comma + 1 })
  return cuts
    .sort((a, b) => b.start - a.start)
    .reduce((text, { start, end }) => text.slice(0, start) + text.slice(end), text)
}

/** Replaces a value. */
export function replace({ text }: JsoncText, node: Node, value: string): string {
  return text.slice(0, node.offset) + JSON.stringify(value) + text.slice(endOf(node))
}

function endOf({ offset, length }: Node): number {
  return offset + length
}

function firstIn(offsets: readonly number[], from: number, to: number): number | undefined {
  return offsets.find((offset) => offset >= from && offset < to)
}

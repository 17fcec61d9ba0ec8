import { copy } from '../../dialect/shallow_copy.js'
import { get, isObject, tryRead } from '../../untrusted.js'

/** The block of type toolResult that a text stands for. */
const OWN = Symbol('toolResult')

/**
 * Changes the texts of a tool result whose blocks may be of type toolResult, as Codex sends them:
 * these are texts to `change`. If such a block has its text a second time, as `content`, that
 * changes with it.
 */
export function throughTexts<M extends object>(message: M, change: (message: M) => M): M {
  const texts = asTexts(message)
  const changed = change(texts)
  if (changed === texts) return message
  return texts === message ? changed : withBlocks(changed, asOwn)
}

/** Returns a tool result whose blocks of type toolResult are texts. */
export function asTexts<M extends object>(message: M): M {
  const content = get(message, 'content')
  const hasOwn = Array.isArray(content) && tryRead(() => content.some(isOwn)) === true
  if (!hasOwn) return message
  return withBlocks(message, (block) =>
    isOwn(block) ? { type: 'text', text: get(block, 'text'), [OWN]: block } : block,
  )
}

function isOwn(block: unknown): block is object {
  return isObject(block) && get(block, 'type') === 'toolResult' && typeof get(block, 'text') === 'string'
}

/** Returns the block that a text stands for, with that text. */
function asOwn(block: object): object {
  const own = get(block, OWN)
  if (!isObject(own)) return block
  const text = get(block, 'text')
  const twice = typeof get(own, 'content') === 'string' ? [['content', text] as const] : []
  return copy(own, new Map([['text', text], ...twice]))
}

function withBlocks<M extends object>(message: M, change: (block: object) => object): M {
  const blocks = Array.from(get(message, 'content') as unknown[], (block) =>
    isObject(block) ? change(block) : block,
  )
  return copy(message, new Map([['content', blocks]])) as M
}

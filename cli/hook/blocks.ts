import type { SpillStore, WrapPolicy } from 'spillway'
import { isObject } from '../mcp/message.js'

/** A text, an image, or anything that a server sends. */
export type Block = unknown

/** A policy, with the store for what is cut, which is loaded if anything is. */
export type HookPolicy = Omit<WrapPolicy, 'spill'> & { readonly storing?: () => SpillStore }

/** Returns the texts of blocks and of resources that are embedded in them. */
export function textsOf(blocks: readonly Block[]): string[] {
  return blocks.filter(isObject).flatMap(({ text, resource }) => {
    const inner = isObject(resource) ? resource['text'] : undefined
    return [text, inner].filter((text) => typeof text === 'string')
  })
}

/** Returns true if a block is a text and nothing else. */
export function isPlain(block: Block): boolean {
  return isObject(block) && Object.keys(block).sort().join() === 'text,type' && block['type'] === 'text'
}

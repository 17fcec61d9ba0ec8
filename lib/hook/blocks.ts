import type { SpillStore, WrapPolicy } from 'spillway'
import { isObject } from '../mcp/message.js'

/** A block of content: a text, an image, or any other object of a server. */
export type Block = unknown

/** A policy, with the store for cut outputs, which is loaded on the first cut. */
export type HookPolicy = Omit<WrapPolicy, 'spill'> & { readonly storing?: () => SpillStore }

/** Returns the texts of blocks and of their embedded resources. */
export function textsOf(blocks: readonly Block[]): string[] {
  return blocks.filter(isObject).flatMap(({ text, resource }) => {
    const inner = isObject(resource) ? resource['text'] : undefined
    return [text, inner].filter((text) => typeof text === 'string')
  })
}

/** Returns true if a block has a text and no other member. */
export function isPlain(block: Block): boolean {
  return isObject(block) && Object.keys(block).sort().join() === 'text,type' && block['type'] === 'text'
}

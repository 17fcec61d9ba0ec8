import type { SpillStore, WrapPolicy } from 'spillway'
import { isObject } from '../mcp/message.js'

/** A text, an image, or anything that a server sends. */
export type Block = unknown

/** A policy, with the store for what is cut, which is loaded if anything is. */
export type HookPolicy = Omit<WrapPolicy, 'spill'> & { readonly storing?: () => SpillStore }

export function textsOf(blocks: readonly Block[]): string[] {
  return blocks.flatMap((block) =>
    isObject(block) && typeof block['text'] === 'string' ? [block['text']] : [],
  )
}

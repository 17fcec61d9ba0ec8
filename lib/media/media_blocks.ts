import type { End, PathNode } from '../dialect/paths.js'
import { mediumOf } from '../dialect/payload.js'
import type { Result } from '../dialect/results.js'
import { REST, type Slot } from '../dialect/walk.js'
import { native } from '../engine.js'
import { tryRead } from '../untrusted.js'
import { type Medium, readMedium } from './medium.js'

/** A payload in a block of its own, which words can replace. */
export interface MediaBlock {
  readonly medium: Medium
  readonly end: End
  /** The block, which may be the holder of the payload. */
  readonly block: PathNode
}

/** Returns the payloads of a result in blocks of their own. */
export function blocksOf(result: Result): MediaBlock[] {
  return result.media.flatMap((end) => {
    const block = end.as === 'none' ? undefined : blockOf(end.holder, result.place)
    const medium = block && readMedium(end.value, saidOf(end.holder, block))
    return medium ? [{ medium, end, block }] : []
  })
}

/** Returns the innermost element of a list that holds a payload or, without a list, the member of
 *  the result. */
function blockOf(holder: PathNode, top: PathNode): PathNode | undefined {
  let at = holder
  while (at !== top && typeof at.key !== 'number' && at.parent && at.parent !== top) at = at.parent
  return at === top ? undefined : at
}

/** Returns the type of a payload by the members beside it, or around it up to its block. */
function saidOf(holder: PathNode, block: PathNode): string | undefined {
  for (let at = holder; ; at = at.parent as PathNode) {
    const said = tryRead(() => mediumOf(at.value as Record<string, unknown>))
    if (said !== undefined || at === block || !at.parent) return said
  }
}

/** A payload in a text, with its place. */
export interface MediaRun {
  readonly start: number
  readonly end: number
  readonly bytes: number
  readonly words: string
}

/** Chars of a text without a payload, as in src/media/runs.rs. */
const SHORTEST = 1_024

/** Finds the base64 in a text: data URLs, and long runs whose first bytes identify a file type. */
export function runsIn(text: string): MediaRun[] {
  const found = text.length < SHORTEST ? null : native.findMedia(text)
  if (!found) return []
  const { places, words } = found
  return words.map((words, at) => {
    const [start = 0, end = 0, bytes = 0] = places.subarray(at * 3)
    return { start, end, bytes, words }
  })
}

/** Returns true if the text of a slot is searched for base64. Data that no path reads may be a
 *  block. */
export function hasRuns({ json }: Slot): boolean {
  return json?.as !== REST
}

import type { Draft } from '../dialect/edit.js'
import type { PathNode } from '../dialect/paths.js'
import type { Result } from '../dialect/results.js'
import { native } from '../engine.js'
import { jsonOf } from '../json.js'
import { elementAt, get, indexesOf, isList, isObject } from '../untrusted.js'

/** The copies that stay. */
export type CopyChoice = 'both' | 'text' | 'structured'

/** Removes copies from a result whose content repeats its structured content, like `copies` in
 *  src/dialect/structured.rs. Returns false if nothing changes. */
export function removeCopies(result: Result, kept: CopyChoice, draft: Draft): boolean {
  if (kept === 'both') return false
  const removed = [...new Set(holdersOf(result))].map((holder) => removeIn(holder, kept, draft))
  return removed.includes(true)
}

/** Returns the places that may hold content and structured content: a result, the object around one
 *  of its blocks, and its JSON. */
function holdersOf({ place, slots }: Result): PathNode[] {
  const found = slots.flatMap(({ holder, key, json }) => [
    holder,
    holder.parent?.parent,
    key !== '' && isObject(json?.value) ? holder.child(json.value, key) : undefined,
  ])
  return [place, ...found].filter((place) => place !== undefined)
}

function removeIn(place: PathNode, kept: CopyChoice, draft: Draft): boolean {
  const repeats = repeatsIn(place)
  if (!repeats?.includes(true)) return false
  if (kept === 'text') {
    draft.remove(place, 'structuredContent')
    return true
  }
  // A message, which has a role, is sent without its structured content.
  if (place.read('role') !== undefined) return false
  const content = place.read('content') as unknown[]
  const list = place.child(content, 'content')
  for (const [nth, { at }] of textBlocks(content).entries()) if (repeats[nth]) draft.remove(list, at)
  return true
}

/** Tells of each block of text if it repeats the structured content beside it. Returns undefined
 *  without both. */
export function repeatsIn(place: PathNode): readonly boolean[] | undefined {
  const content = place.read('content')
  if (!isList(content)) return undefined
  const json = jsonOf(place.read('structuredContent'))
  if (json === undefined) return undefined
  return native.repeatsStructured(
    json,
    textBlocks(content).map(({ text }) => text),
  )
}

function textBlocks(content: readonly unknown[]): { at: number; text: string }[] {
  return Array.from(indexesOf(content)).flatMap((at) => {
    const block = elementAt(content, at)
    const text = isObject(block) && get(block, 'type') === 'text' ? get(block, 'text') : undefined
    return typeof text === 'string' ? [{ at, text }] : []
  })
}

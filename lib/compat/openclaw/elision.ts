import { existsSync } from 'node:fs'
import { get, isObject } from '../../untrusted.js'
import { textsOf } from './tool_results.js'

/** Text of a result that gave way to the budget and left no room for a notice with its size. */
export const ELIDED = '[tool result elided: over budget]'

/** Words about a result whose output is in a file. */
export interface SpillWords {
  /** Instead of the whole text. */
  readonly full: string
  /** The same in the fewest chars. */
  readonly compact: string
  /** At the end of the text that stays. */
  readonly suffix: (truncatedChars: number) => string
}

/**
 * Returns the words about a result's file, undefined if the file is gone. The path must stand in a
 * text as its footer: `details` are not for the model.
 */
export function spilled(message: object): SpillWords | undefined {
  const details = get(message, 'details')
  if (!isObject(details)) return undefined
  const spill = get(details, 'spill')
  const from = (own: string, other: string) =>
    (isObject(spill) ? get(spill, own) : undefined) ?? get(details, other)
  const path = from('path', 'fullOutputPath')
  if (typeof path !== 'string' || path === '' || !isShown(message, path) || !existsSync(path))
    return undefined
  const isPartial = from('truncated', 'spillTruncated') === true
  const chars = from('chars', 'spilledChars')
  const output = `${isPartial ? 'partial' : 'full'} output`
  const first = Number.isFinite(chars)
    ? `first ${Math.max(0, Math.floor(chars as number))} chars`
    : 'capped content'
  return {
    full: `[tool result elided: ${output} preserved at ${path}${isPartial ? ` (${first})` : ''}; read it if the output is needed]`,
    compact: `[${isPartial ? 'partial:' : 'read'} ${path}]`,
    suffix: (truncatedChars) => `[... ${truncatedChars} chars truncated; ${output} at ${path}]`,
  }
}

/** Returns true if a text has the footer of a spilled output, as it is or within JSON. */
function isShown(message: object, path: string): boolean {
  const footer = `Full output: ${path}`
  const forms = [footer, JSON.stringify(footer).slice(1, -1)]
  return textsOf(message).some((text) => forms.some((form) => text.includes(form)))
}

import type { ClearState } from 'spillway'
import type { SavedHow } from '../compiled.js'
import { type Needs, NO_NEEDS } from './outlook.js'

/** A cut of a result that does not fit otherwise. */
export interface StoredCut {
  readonly hash: string
  readonly maxChars?: number | undefined
  /** Bytes of payloads that stay. Undefined: all. */
  readonly media?: number | undefined
  /** The saved output that its notice names. */
  readonly saved?: readonly [how: SavedHow, name: string] | undefined
}

/** All that a context decided for a history, and learned of its provider, as plain JSON. */
export interface Learned {
  readonly results: ClearState['results']
  /** True if none of it reached a prompt. */
  readonly observed?: true
  readonly cuts: { readonly [name: string]: StoredCut }
  /** Name of the result whose text says that all earlier rounds are omitted. */
  readonly omitted?: string | undefined
  /** The largest prompt by the provider's refusals, as we measure it. */
  readonly maxTokens?: number | undefined
  readonly maxBytes?: number | undefined
  /** Refusals of payloads. */
  readonly media?: readonly MediaRefusal[] | undefined
  readonly needs: Needs
  /** The last prompt, and if nothing was left to take away. */
  readonly last?: { readonly tokens: number; readonly bytes: number; readonly isLeast: boolean } | undefined
}

/** A limit that a provider stated for a payload, or the measures of one that it rejected. */
export type MediaRefusal =
  | { readonly limit: number; readonly unit?: string | undefined }
  | { readonly measures: string }

export const NOTHING: Learned = { results: {}, cuts: {}, needs: NO_NEEDS }

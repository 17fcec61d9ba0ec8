import type { DialectName } from 'spillway'
import json from '../src/dialects.json?raw'

/**
 * Paths to the text of tool results, by framework: src/dialects.json, a row for each. The order of
 * the rows matters: of several forms that a value has, the first one reads it. Place a row before
 * those whose forms would take its results, such as `role: "tool"` alone. The name of a new row is
 * also a `DialectName` (index.d.ts) and has a sample (__test__/support/samples.ts), from which its
 * tests are made.
 *
 * The `forms` of a row describe its results, which are recognised by tags alone. A form lists the
 * `role` or the `type` of a value; without either, the value has neither. `has` lists other
 * members, and `results` the paths to the results that the value carries. `list`: it is an array.
 * `blocks`: at least one block is known, in an array every element. `empty`: its content has no
 * blocks.
 *
 * All other paths start at a result. `text` and `json` lead to text that a model sees, `side` to
 * data that it does not see, `media` to bytes of images and the like, and what words replace them
 * (lib/media/media.ts), and `other` to known blocks without text. `aside` leads to members that
 * have no size or reach no model, and `words` to short strings that have none; a longer one is the
 * rest. `copy` names a second copy that a class keeps of its properties. Everything else is the
 * rest (walk.ts). JSON marked as `result` may instead be an MCP result, which the paths of that row
 * read.
 */
export interface RowData {
  readonly name: string
  readonly forms: readonly FormData[]
  readonly id?: readonly string[]
  readonly tool?: readonly string[]
  readonly error?: readonly string[]
  readonly text?: readonly string[]
  readonly json?: Readonly<Record<string, string>>
  readonly other?: readonly string[]
  readonly side?: readonly string[]
  readonly aside?: readonly string[]
  readonly words?: readonly string[]
  readonly copy?: string
  readonly media?: Readonly<Record<string, string>>
  /** Paths to the model's tool calls, and from there to the id, the tool and the arguments of a
   *  call. */
  readonly calls?: readonly CallData[]
  /** Paths from a message to the user's words. */
  readonly user?: readonly string[]
  /** Paths from a message to payloads of the user, and what words replace them. */
  readonly pasted?: Readonly<Record<string, string>>
  /** Paths that only messages of the model have. */
  readonly model?: readonly string[]
  /** Paths that only turns that ended in an error have. */
  readonly failed?: readonly string[]
  /** Rules for calls and their results. Without them, its calls and results are not paired. */
  readonly pairs?: PairsData
}

export interface CallData {
  readonly at: string
  readonly id: string
  readonly tool: string
  readonly args: readonly string[]
  /** Template of a result that says that it is missing. Without one, the provider itself runs the
   *  tool, or its result cannot be a text. */
  readonly result?: object
  /** Paths that a call without a result has, if both are one object, into which `result` is then
   *  written. */
  readonly open?: readonly string[]
}

/**
 * The rules of a provider for calls and their results. In templates, "$id", "$tool" and "$text"
 * stand for those of the call, and any other "$name" for that member of its message.
 */
export interface PairsData {
  /** Template of a message for results that are blocks ("$blocks"). Without it, results are
   *  messages. */
  readonly home?: object
  /** Messages of one role, side by side, are one turn, in which results come first. 'alternate':
   *  they must be one message. */
  readonly turns?: string
  /** A result may stand anywhere after its call. */
  readonly anywhere?: boolean
  /** The name of the tool suffices, without ids. */
  readonly named?: boolean
  /** A result carries the name of the tool. */
  readonly names?: boolean
  /** Expression that ids match. */
  readonly ids?: string
  /** True if an id occurs in one turn alone. */
  readonly unique?: boolean
  /** Templates of words of the user: blocks if there are `turns`, else messages. The first that has
   *  the member which holds a result, or the first. */
  readonly words?: readonly object[]
  /** Paths that only messages have which must be followed by a call. */
  readonly before?: readonly string[]
  /** Paths that only turns have whose calls are never sent. */
  readonly void?: readonly string[]
  /** Paths to the ids of calls that wait for a person. */
  readonly waiting?: readonly string[]
}

export interface FormData {
  readonly role?: string
  readonly type?: string
  readonly list?: boolean
  readonly has?: readonly string[]
  readonly blocks?: boolean
  readonly empty?: boolean
  readonly results?: readonly string[]
}

/** The table as JSON, for the engine. V8 skips a string, while a literal of this size would cost
 *  programs that only cut texts a millisecond. */
export const dialectsAsJson: string = json

let rows: readonly RowData[] | undefined
let names: readonly DialectName[] | undefined

export function table(): readonly RowData[] {
  rows ??= JSON.parse(json) as typeof import('../src/dialects.json')
  return rows
}

export function dialectNames(): readonly DialectName[] {
  names ??= ['text', ...new Set(table().map(({ name }) => name))] as DialectName[]
  return names
}

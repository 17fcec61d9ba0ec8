import type { DialectName } from 'spillway'
import data from '../../src/dialects.json'

/**
 * Paths to the text of tool results, by framework: src/dialects.json, a row for each. The order of the rows matters: of
 * several forms that a value has, the first one reads it. Place a row before those whose forms would take its results,
 * such as `role: "tool"` alone. The name of a new row is also a `DialectName` (index.d.ts) and has a sample
 * (__test__/samples.ts), from which its tests are made.
 *
 * The `forms` of a row describe its results, which are recognised by tags alone. A form lists the `role` or the `type`
 * of a value; without either, the value has neither. `has` lists other members, and `results` the paths to the results
 * that the value carries. `list`: it is an array. `blocks`: at least one block is known, in an array every element.
 * `empty`: its content has no blocks.
 *
 * All other paths start at a result. `text` and `json` lead to text that a model sees, `side` to data that it does not
 * see, `media` to bytes of images and the like, and `other` to known blocks without text. `aside` leads to members that
 * have no size or reach no model. `copy` names a second copy that a class keeps of its properties. Everything else is
 * the rest (walk.ts). JSON marked as `result` may instead be an MCP result, which the paths of that row read.
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
  readonly copy?: string
  readonly media?: readonly string[]
  /** Paths to the model's tool calls, and from there to the id, the tool and the arguments of a call. */
  readonly calls?: readonly CallData[]
  /** Paths from a message to the user's words. */
  readonly user?: readonly string[]
  /** Paths that only messages of the model have. */
  readonly model?: readonly string[]
  /** Paths that only turns that ended in an error have. */
  readonly failed?: readonly string[]
}

interface CallData {
  readonly at: string
  readonly id: string
  readonly tool: string
  readonly args: readonly string[]
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

export const table: readonly RowData[] = data

export const dialectNames = ['text', ...new Set(table.map(({ name }) => name))] as readonly DialectName[]

/** Returns the table as JSON, for the reader of stored rows. */
export function dialectsAsJson(): string {
  return JSON.stringify(data)
}

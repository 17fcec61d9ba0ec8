import type { PathNode } from '../dialect/paths.js'
import type { DialectRow, Result } from '../dialect/results.js'
import { isList } from '../untrusted.js'
import type { Kind } from './rules.js'

/** A tool call of a history. */
export class HistoryCall {
  answer: Answer | undefined

  constructor(
    /** Index of its message. */
    readonly at: number,
    readonly place: PathNode,
    readonly kind: Kind,
    readonly id: string | undefined,
    readonly tool: string | undefined,
  ) {}

  /** The index of its block in the list of its message, undefined if it is the message. */
  get index(): number | undefined {
    return indexOf(this.place)
  }
}

/** A tool result of a history. */
export class Answer {
  call: HistoryCall | undefined
  /** True if its call has another result, which is kept. */
  isDuplicate = false
  /** True if its turn contains anything but results before it. */
  isLate = false
  private words: string | undefined
  private read: Result | undefined

  constructor(
    readonly at: number,
    readonly place: PathNode,
    readonly row: DialectRow,
    readonly id: string | undefined,
    readonly tool: string | undefined,
    /** True if it is in the model's own turn, since the provider ran the tool. */
    readonly isHosted: boolean,
  ) {}

  get text(): string {
    this.words ??= this.result.slots.map(({ text }) => text).join('\n')
    return this.words
  }

  get isError(): boolean {
    return this.result.isError
  }

  private get result(): Result {
    this.read ??= this.row.read(this.place)
    return this.read
  }

  /** The index of its block in the list of its message, undefined if it is the message. */
  get index(): number | undefined {
    return indexOf(this.place)
  }
}

/** Returns the block that holds a place: an element of a list, or the root if it is in no list. */
export function blockOf(place: PathNode): PathNode {
  let at = place
  while (at.parent && !isList(at.parent.value)) at = at.parent
  return at
}

/** Returns the index of the block that holds a place, undefined if it is in no list. */
function indexOf(place: PathNode): number | undefined {
  const { parent, key } = blockOf(place)
  return parent ? Number(key) : undefined
}

export type Side = 'model' | 'answer' | 'other'

/** Messages from `from` to before `to`, of one side. */
export interface Turn {
  readonly side: Side
  readonly from: number
  to: number
}

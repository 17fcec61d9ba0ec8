import type { ClearedResult } from 'spillway'
import type { PathNode } from '../dialect/paths.js'
import type { Result } from '../dialect/results.js'
import { jsonOf } from '../json.js'
import { get, isList } from '../untrusted.js'
import { adviceOn, LEAST } from './cleared.js'
import { lineDiff } from './line_diff.js'
import { hashOf, type MadeCalls, type ToolUse } from './tool_uses.js'

/** Share of a text that a near repeat may differ in, as a diff of lines. */
const NEAR = 1 / 4
/** Chars of the longest text that is compared line by line. */
const LONGEST = 1_000_000

/** The entry of a result that repeats another. */
export type Repeat = ClearedResult & { readonly text: string }

/** Returns for each result that repeats an earlier one the text in its place. `isOpen`: returns
 *  true for a result that is sent as it is. A result whose name is not unique up to there has none,
 *  since a reader would take another for it. */
export function repeatsIn(
  uses: readonly ToolUse[],
  calls: MadeCalls,
  how: 'exact' | 'near',
  isOpen: (use: ToolUse) => boolean,
): Map<ToolUse, Repeat> {
  const repeats = new Repeats(calls, how)
  const found = new Map<ToolUse, Repeat>()
  for (const use of uses) {
    repeats.see(use)
    const entry = isOpen(use) ? repeats.take(use) : undefined
    if (entry) found.set(use, entry)
  }
  return found
}

/** A result that later ones may repeat. */
interface Original {
  readonly use: ToolUse
  readonly hash: string
  /** The lists that it ends: those of its texts and of its call. */
  readonly lists: readonly Original[][]
}

/** Finds the results that repeat an earlier one, in the order of a history. */
export class Repeats {
  readonly #calls: MadeCalls
  readonly #how: 'exact' | 'near'
  readonly #originals: Original[] = []
  /** The originals with some texts, and those of a call, the latest last. */
  readonly #byTexts = new Map<string, Original[]>()
  readonly #byCall = new Map<string, Original[]>()
  /** The numbers of results, and that of the second of each name. */
  readonly #numbers = new Map<ToolUse, number>()
  readonly #named = new Map<string, number | undefined>()

  constructor(calls: MadeCalls, how: 'exact' | 'near') {
    this.#calls = calls
    this.#how = how
  }

  /** Takes the name of the next result, whether it is sent as it is or not. */
  see(use: ToolUse): void {
    const name = nameOf(use)
    const number = this.#numbers.size
    this.#numbers.set(use, number)
    if (!this.#named.has(name)) this.#named.set(name, undefined)
    else if (this.#named.get(name) === undefined) this.#named.set(name, number)
  }

  /** Takes a result that is sent as it is, and was seen. Returns the text in its place if it
   *  repeats one. */
  take(use: ToolUse): Repeat | undefined {
    if (use.chars <= LEAST || use.hasMedia) return undefined
    const hash = hashOf(use.result)
    const call = this.#how === 'near' ? this.#calls.of(use) : undefined
    const asked = call && jsonOf([call.tool, call.args])
    const alike = listOf(this.#byTexts, `${hash}${wordsBeside(use.result)}`)
    const made = asked === undefined ? [] : listOf(this.#byCall, asked)
    const same = alike.at(-1)
    const near = same ? undefined : made.at(-1)
    const text = same ? exactText(same.use, use) : near && nearText(near.use, use)
    const older = same ?? near
    if (older && text !== undefined && this.#isUnique(older.use, use))
      return { hash, text, of: { key: older.use.key, hash: older.hash } }
    const original = { use, hash, lists: [alike, made] }
    for (const list of [this.#originals, alike, made]) list.push(original)
    return undefined
  }

  /** Returns true if no result up to another has the name of an older one. */
  #isUnique(older: ToolUse, use: ToolUse): boolean {
    const second = this.#named.get(nameOf(older)) ?? Number.POSITIVE_INFINITY
    return second > (this.#numbers.get(use) ?? 0)
  }

  /** Forgets the results of the messages from `at` on, which may be taken again. */
  rewind(at: number): void {
    for (let last = this.#originals.at(-1); last && last.use.at >= at; last = this.#originals.at(-1)) {
      this.#originals.pop()
      for (const list of last.lists) list.pop()
    }
  }
}

function listOf(lists: Map<string, Original[]>, name: string): Original[] {
  const list = lists.get(name) ?? []
  lists.set(name, list)
  return list
}

/** Returns the words beside the texts of a result, such as the source of a search result, which go
 *  with its text. */
function wordsBeside(result: Result): string {
  const words = result.slots.map(({ text, holder }) => {
    const beside: unknown[] = []
    for (let place: PathNode | undefined = holder; place && place !== result.place; place = place.parent)
      for (const name of isList(place.value) ? [] : Object.keys(place.value)) {
        const word = get(place.value, name)
        if (typeof word === 'string' && word !== text) beside.push([name, word])
      }
    return beside
  })
  return JSON.stringify(words)
}

function exactText(older: ToolUse, use: ToolUse): string {
  return `[same output as ${nameOf(older)}${saved(use)}]`
}

function nearText(older: ToolUse, use: ToolUse): string | undefined {
  const [before, after] = [textOf(older), textOf(use)]
  if (before === undefined || after === undefined || Math.max(before.length, after.length) > LONGEST)
    return undefined
  const text = `[same output as ${nameOf(older)}, except for these lines${saved(use)}]\n${lineDiff(before, after)}`
  return text.length <= after.length * NEAR ? text : undefined
}

/** Returns the text of a result that has only one. */
function textOf({ result: { slots } }: ToolUse): string | undefined {
  return slots.length === 1 ? slots[0]?.text : undefined
}

function nameOf({ result: { id, tool } }: ToolUse): string {
  return id === undefined
    ? `the earlier result of ${tool ?? 'this tool'}`
    : `the earlier result of call ${id}`
}

function saved({ result }: ToolUse): string {
  const advice = adviceOn(result)
  return advice === undefined ? '' : `; ${advice}`
}

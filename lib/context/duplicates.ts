import type { PathNode } from '../dialect/paths.js'
import type { Result } from '../dialect/results.js'
import { jsonOf } from '../json.js'
import { get, isList } from '../untrusted.js'
import { adviceOn, type ClearedResult, LEAST } from './cleared.js'
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
  const names = new Names()
  for (const use of uses) names.see(use)
  return found(uses, new Repeats(calls, how, names), isOpen)
}

function found(
  uses: readonly ToolUse[],
  repeats: Repeats,
  isOpen: (use: ToolUse) => boolean,
): Map<ToolUse, Repeat> {
  const made = new Map<ToolUse, Repeat>()
  for (const use of uses) {
    const entry = isOpen(use) ? repeats.take(use) : undefined
    if (entry) made.set(use, entry)
  }
  return made
}

/** The results of a history that grows, by what they say. */
export class AlikeResults {
  readonly #names = new Names()
  readonly #byHash = new Map<string, ToolUse[]>()
  #seen = 0

  /** Returns the results from a message on that repeat an earlier one, as `repeatsIn`. */
  from(
    at: number,
    uses: readonly ToolUse[],
    calls: MadeCalls,
    isOpen: (use: ToolUse) => boolean,
  ): Map<ToolUse, Repeat> {
    for (; this.#seen < uses.length; this.#seen++) this.#see(uses[this.#seen] as ToolUse)
    const alike = new Set<ToolUse>()
    for (let nth = uses.length - 1; (uses[nth]?.at ?? -1) >= at; nth--)
      for (const use of this.#like(uses[nth] as ToolUse)) alike.add(use)
    const repeats = new Repeats(calls, 'exact', this.#names)
    const order = [...alike].sort((a, b) => a.at - b.at || a.nth - b.nth)
    return new Map([...found(order, repeats, isOpen)].filter(([use]) => use.at >= at))
  }

  #see(use: ToolUse): void {
    this.#names.see(use)
    if (!isLong(use)) return
    const hash = hashOf(use.result)
    const known = this.#byHash.get(hash)
    if (known) known.push(use)
    else this.#byHash.set(hash, [use])
  }

  /** Returns the results that say the same, with itself. */
  #like(use: ToolUse): readonly ToolUse[] {
    return isLong(use) ? (this.#byHash.get(hashOf(use.result)) ?? []) : []
  }
}

/** Returns true if a reference in place of a result saves something. */
function isLong({ chars, hasMedia }: ToolUse): boolean {
  return chars > LEAST && !hasMedia
}

/** The names of results in the order of a history. */
export class Names {
  /** The numbers of results, and that of the second of each name. */
  readonly #numbers = new Map<ToolUse, number>()
  readonly #seconds = new Map<string, number>()

  /** Takes the name of the next result, whether it is sent as it is or not. */
  see(use: ToolUse): void {
    const name = nameOf(use)
    const number = this.#numbers.size
    this.#numbers.set(use, number)
    const second = this.#seconds.get(name)
    if (second === undefined) this.#seconds.set(name, Number.POSITIVE_INFINITY)
    else if (second === Number.POSITIVE_INFINITY) this.#seconds.set(name, number)
  }

  /** Returns true if no result up to another has the name of an older one. */
  isUnique(older: ToolUse, use: ToolUse): boolean {
    return (this.#seconds.get(nameOf(older)) ?? 0) > (this.#numbers.get(use) ?? 0)
  }
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
  readonly #names: Names

  constructor(calls: MadeCalls, how: 'exact' | 'near', names: Names) {
    this.#calls = calls
    this.#how = how
    this.#names = names
  }

  /** Takes a result that is sent as it is, and whose name was seen. Returns the text in its place
   *  if it repeats one. */
  take(use: ToolUse): Repeat | undefined {
    if (!isLong(use)) return undefined
    const hash = hashOf(use.result)
    const call = this.#how === 'near' ? this.#calls.of(use) : undefined
    const asked = call && jsonOf([call.tool, call.args])
    const alike = listOf(this.#byTexts, `${hash}${wordsBeside(use.result)}`)
    const made = asked === undefined ? [] : listOf(this.#byCall, asked)
    const same = alike.at(-1)
    const near = same ? undefined : made.at(-1)
    const text = same ? exactText(same.use, use) : near && nearText(near.use, use)
    const older = same ?? near
    if (older && text !== undefined && this.#names.isUnique(older.use, use))
      return { hash, text, of: { key: older.use.key, hash: older.hash } }
    const original = { use, hash, lists: [alike, made] }
    for (const list of [this.#originals, alike, made]) list.push(original)
    return undefined
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
        // A type names the form of a text, which may be another each time.
        if (typeof word === 'string' && word !== text && name !== 'type') beside.push([name, word])
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
  if (wordsBeside(older.result) !== wordsBeside(use.result)) return undefined
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

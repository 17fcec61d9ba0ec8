import type { ClearedResult } from 'spillway'
import type { PathNode } from '../dialect/paths.js'
import type { Result } from '../dialect/results.js'
import { jsonOf } from '../json.js'
import { get, isList } from '../untrusted.js'
import { LEAST, savedAdvice } from './cleared.js'
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
  const found = new Map<ToolUse, Repeat>()
  const byTexts = new Map<string, ToolUse>()
  const byCall = new Map<string, ToolUse>()
  const named = new Map<string, number>()
  for (const use of uses) {
    named.set(nameOf(use), (named.get(nameOf(use)) ?? 0) + 1)
    const isUnique = (older: ToolUse) => named.get(nameOf(older)) === 1
    if (use.chars <= LEAST || use.hasMedia || !isOpen(use)) continue
    const hash = hashOf(use.result)
    const texts = `${hash}${wordsBeside(use.result)}`
    const call = how === 'near' ? calls.of(use) : undefined
    const asked = call && jsonOf([call.tool, call.args])
    const same = byTexts.get(texts)
    const near = same || asked === undefined ? undefined : byCall.get(asked)
    const text = same ? exactText(same, use) : near && nearText(near, use)
    const older = same ?? near
    if (older && text !== undefined && isUnique(older))
      found.set(use, { hash, text, of: { key: older.key, hash: hashOf(older.result) } })
    else {
      byTexts.set(texts, use)
      if (asked !== undefined) byCall.set(asked, use)
    }
  }
  return found
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
  const advice = savedAdvice(result)
  return advice === undefined ? '' : `; ${advice}`
}

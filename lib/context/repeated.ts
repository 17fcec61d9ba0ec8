import type { ClearedResult } from 'spillway'
import { jsonOf } from '../json.js'
import { LEAST, savedAdvice } from './cleared.js'
import { lineDiff } from './line_diff.js'
import { hashOf, type MadeCalls, type ToolUse } from './tool_uses.js'

/** Share of a text that a near repeat may differ in, as a diff of lines. */
const NEAR = 1 / 4
/** Chars of the longest text that is compared line by line. */
const LONGEST = 1_000_000

/** Returns for each result that repeats an earlier one the text in its place. `isOpen`: returns
 *  true for a result that is sent as it is. */
export function repeatsIn(
  uses: readonly ToolUse[],
  calls: MadeCalls,
  how: 'exact' | 'near',
  isOpen: (use: ToolUse) => boolean,
): Map<ToolUse, ClearedResult> {
  const found = new Map<ToolUse, ClearedResult>()
  const byTexts = new Map<string, ToolUse>()
  const byCall = new Map<string, ToolUse>()
  for (const use of uses) {
    if (use.chars <= LEAST || use.hasMedia || !isOpen(use)) continue
    const hash = hashOf(use.result)
    const call = how === 'near' ? calls.of(use) : undefined
    const asked = call && jsonOf([call.tool, call.args])
    const same = byTexts.get(hash)
    const near = same || asked === undefined ? undefined : byCall.get(asked)
    const text = same ? exactText(same, use) : near && nearText(near, use)
    const older = same ?? near
    if (older && text !== undefined)
      found.set(use, { hash, text, of: { key: older.key, hash: hashOf(older.result) } })
    else {
      byTexts.set(hash, use)
      if (asked !== undefined) byCall.set(asked, use)
    }
  }
  return found
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

import { jsonOf } from '../json.js'
import { askedBy } from '../query.js'
import { withoutLong } from './cleared.js'
import type { MadeCall, MadeCalls, ToolUse } from './tool_uses.js'

/** Splits a text into words, such as the paths of a command. */
const BETWEEN = /[\s'"`,;:=()<>|]+/
/** Matches an argument that names something, as a path does. */
const NAME = /^(?=.*[\w-][./]|.*[./][\w-])\S{3,}$/

/** Returns the results that a later call of another tool used by name, such as the file that was
 *  edited since. If the same call was made again, only its last result counts. */
export function usedLater(uses: readonly ToolUse[], calls: MadeCalls): Set<ToolUse> {
  const words = new Map<string, MadeCall[]>()
  for (const call of calls.all())
    for (const text of textsOf(call))
      for (const word of new Set([text, ...text.split(BETWEEN)]))
        words
          .set(word, words.get(word) ?? [])
          .get(word)
          ?.push(call)
  const last = new Map<string | undefined, ToolUse>()
  for (const use of uses) last.set(asked(calls.of(use)), use)
  last.delete(undefined)
  const isUsed = (use: ToolUse, call: MadeCall | undefined) =>
    call !== undefined &&
    textsOf(call).some(
      (name) => NAME.test(name) && words.get(name)?.some(({ at, tool }) => at > use.at && tool !== call.tool),
    )
  return new Set([...last.values()].filter((use) => isUsed(use, calls.of(use))))
}

/** Returns what tells a call from others. Long arguments do not count, since a clearing may take
 *  them. */
function asked(call: MadeCall | undefined): string | undefined {
  return call && jsonOf([call.tool, call.args.map((one) => withoutLong(one))])
}

function textsOf({ args }: MadeCall): string[] {
  return askedBy(
    undefined,
    args.map((one) => withoutLong(one)),
  )
}

// The search beside what a program writes by hand, on twelve kinds of text: the fastest of some
// runs, by turns.
import { clampText } from 'spillway'
import { grep, KINDS, textOf } from './kinds.mjs'

export const QUESTION = 'where is the clampText option that limits lines read'

/** The ways to search a text. */
const WAYS = {
  'by default': {},
  'told of a failure': { isError: true },
  'with a question': { query: QUESTION },
}

/** Milliseconds for one row, but no fewer than three runs of each way. */
const SPENT = 800

/** Rows of a table: each kind at 1 and 10 MB of chars, with the speed of each way in times that of
 *  the floor. */
export function* searchRows() {
  yield `| kind of text | MB | split and one RegExp |${Object.keys(WAYS)
    .map((way) => ` ${way} | times its speed |`)
    .join('')}`
  yield `|---|--:|--:|${'--:|--:|'.repeat(Object.keys(WAYS).length)}`
  for (const kind of KINDS)
    for (const megabytes of [1, 10]) {
      const text = textOf(kind, megabytes * 1e6)
      const ways = Object.values(WAYS).map((options) => () => clampText(text, options))
      const [floor, ...own] = fastest([() => grep(text), ...ways])
      const cells = own.map((ms) => ` ${ms.toFixed(1)} ms | ${(floor / ms).toFixed(2)}x |`)
      yield `| ${kind} | ${megabytes} | ${floor.toFixed(1)} ms |${cells.join('')}`
    }
}

/** Milliseconds of each function, by turns: the machine is as busy for all. */
function fastest(functions) {
  const best = functions.map(() => Number.POSITIVE_INFINITY)
  const end = performance.now() + SPENT
  for (let runs = 0; runs < 3 || performance.now() < end; runs++)
    for (const [at, run] of functions.entries()) {
      const start = performance.now()
      run()
      best[at] = Math.min(best[at], performance.now() - start)
    }
  return best
}

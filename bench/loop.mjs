// The event loop while ten tools return long results at once: by tools that return the result, and
// by tools that return a promise of it. A hold is the time between two turns of the loop.
import { wrapTool } from 'spillway'

const TOOLS = 10

const line = (at, end) =>
  `2026-01-02T10:00:${String(at % 60).padStart(2, '0')} INFO server: GET /api/items/${at} took ${at % 97} ms${end}\n`

/** A log with so many chars, flat in memory as the output of a process is. */
function logOf(chars, end, first) {
  const parts = [`${first}\n`]
  for (let at = 0, size = 0; size < chars; at++) {
    parts.push(line(at, end))
    size += parts.at(-1).length
  }
  return Buffer.from(parts.join('')).toString()
}

/** Milliseconds that a function takes until its promise settles, and of the longest hold. */
async function watched(run) {
  let [longest, isDone, last] = [0, false, performance.now()]
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  await new Promise((resolve) => setImmediate(resolve))
  const start = performance.now()
  await run()
  const ms = performance.now() - start
  await new Promise((resolve) => setImmediate(resolve))
  isDone = true
  return { ms, longest }
}

/** Rows of a table: results of so many chars each, the least of three runs. */
export async function* loopRows() {
  yield '| ten results at once, each of | tools that return it: ms | longest hold | tools that return a promise: ms | longest hold |'
  yield '|---|--:|--:|--:|--:|'
  for (const [name, megabytes, end] of [
    ['1 MB, ASCII', 1, ''],
    ['100 MB, ASCII', 100, ''],
    ['50 MB, CJK', 50, ' 完了'],
  ]) {
    const texts = Array.from({ length: TOOLS }, (_, at) => logOf(megabytes * 1e6, end, `call ${at}`))
    const result = (at) => ({ content: [{ type: 'text', text: texts[at] }] })
    const now = wrapTool({ name: 'now', execute: result })
    const later = wrapTool({ name: 'later', execute: async (at) => result(at) })
    const cells = []
    for (const tool of [now, later]) {
      const runs = []
      for (let run = 0; run < 3; run++)
        runs.push(await watched(() => Promise.all(texts.map((_, at) => tool.execute(at)))))
      const least = (name) => Math.min(...runs.map((run) => run[name]))
      cells.push(` ${least('ms').toFixed(0)} | ${least('longest').toFixed(1)} |`)
    }
    yield `| ${name} |${cells.join('')}`
  }
}

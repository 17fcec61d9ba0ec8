/** Lines around a change. */
const CONTEXT = 3

/** Shows the one place in which two texts differ, as `diff -u` does. */
export function diff(before: string, after: string, file: string): string {
  const [old, now] = [linesOf(before), linesOf(after)]
  const most = Math.min(old.length, now.length)
  let head = 0
  while (head < most && old[head] === now[head]) head++
  let tail = 0
  while (tail < most - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const from = Math.max(head - CONTEXT, 0)
  const around = Math.max(tail - CONTEXT, 0)
  const rows = [
    ...old.slice(from, head).map((line) => ` ${line}`),
    ...old.slice(head, old.length - tail).map((line) => `-${line}`),
    ...now.slice(head, now.length - tail).map((line) => `+${line}`),
    ...now.slice(now.length - tail, now.length - around).map((line) => ` ${line}`),
  ]
  const span = (lines: string[]) => `${from + 1},${lines.length - from - around}`
  return [`--- ${file}`, `+++ ${file}`, `@@ -${span(old)} +${span(now)} @@`, ...rows, ''].join('\n')
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}

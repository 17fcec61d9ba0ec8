// Times of one case at ever larger sizes: ours, its peers and its floor by turns on the same input.
import { do_not_optimize } from 'mitata'

/** Milliseconds of a call that ends its line: the next size would take ten times as long, or a hundred. */
const LONGEST = 400
/** Milliseconds for one point, of which the fastest run counts. */
const SPENT = 40
/** Milliseconds that a clock tells well. */
const TOLD = 0.05

/** The points of every line of a case: `[size, ms]` each. */
export async function pointsOf({ sizes, input, fresh, lines, spent = SPENT }) {
  const points = Object.fromEntries(Object.keys(lines).map((name) => [name, []]))
  const open = new Set(Object.keys(lines))
  for (const size of sizes) {
    if (open.size === 0) break
    const given = await input(size)
    for (const name of open) {
      const ms = await fastest(lines[name], given, fresh, spent)
      points[name].push([size, Number(ms.toPrecision(3))])
      if (ms > LONGEST) open.delete(name)
    }
    given?.done?.()
  }
  return points
}

/** The fastest of several runs. With `fresh`, each run has an input of its own, made outside its time. */
async function fastest(run, given, fresh, spent) {
  const began = performance.now()
  let [best, times] = [Number.POSITIVE_INFINITY, 1]
  for (let runs = 0; runs < 2 || (runs < 1_000 && performance.now() - began < spent); runs++) {
    const own = fresh ? await fresh(given) : given
    const start = performance.now()
    for (let at = 0; at < times; at++) {
      const made = run(own)
      do_not_optimize(made instanceof Promise ? await made : made)
    }
    const took = performance.now() - start
    best = Math.min(best, took / times)
    if (!fresh && took < TOLD) times = Math.min(10_000, times * 8)
    if (took > 2 * Math.max(LONGEST, spent)) break
  }
  return best
}

/** The exponent of growth over the last two decades: 1 if ten times the input takes ten times as long. */
export function exponent(points) {
  const [most] = points.at(-1)
  const last = points.filter(([size]) => size >= most / 100).map((point) => point.map(Math.log))
  if (last.length < 2) return undefined
  const mean = (at) => last.reduce((sum, point) => sum + point[at], 0) / last.length
  const [x, y] = [mean(0), mean(1)]
  const over = last.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return over / last.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}

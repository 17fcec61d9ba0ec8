// Times of one case at ever larger sizes: ours, its peers and its floor by turns on the same input.
import { do_not_optimize } from 'mitata'

/** Milliseconds of a call that ends its line: the next size would take ten times as long, or a
 *  hundred. */
const LONGEST = 400
/** Milliseconds for one point, by its fastest run. */
const SPENT = 25
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

/** The fastest of several runs. With `fresh`, each run has an input of its own, made outside its
 *  time. */
async function fastest(run, given, fresh, spent) {
  const end = performance.now() + 10 * spent
  let [best, times, runs, sum] = [Number.POSITIVE_INFINITY, 1, 0, 0]
  while (runs < 2 || (runs < 1_000 && sum < spent && performance.now() < end)) {
    const own = fresh ? await fresh(given) : given
    const took = await timed(run, own, times)
    best = Math.min(best, took / times)
    runs += 1
    sum += took
    if (!fresh && took < TOLD) times = Math.min(10_000, times * 8)
    if (took > Math.max(LONGEST, spent)) break
  }
  return best
}

/** Milliseconds of so many calls. The clock counts other work too, and the fastest of several runs
 *  has least; that of the processor moves in steps of milliseconds on some machines. */
async function timed(run, given, times) {
  const start = performance.now()
  for (let at = 0; at < times; at++) {
    const made = run(given)
    do_not_optimize(made instanceof Promise ? await made : made)
  }
  return performance.now() - start
}

/** The exponent of growth over the last two decades: 1 if ten times the input takes ten times as
 *  long. */
export function exponent(points) {
  const [most] = points.at(-1)
  const last = points.filter(([size]) => size >= most / 100).map((point) => point.map(Math.log))
  if (last.length < 2) return undefined
  const mean = (at) => last.reduce((sum, point) => sum + point[at], 0) / last.length
  const [x, y] = [mean(0), mean(1)]
  const over = last.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0)
  return over / last.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
}

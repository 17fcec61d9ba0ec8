/** A run of lines that both texts have, by the index of its first line in each. */
interface Run {
  before: number
  after: number
  lines: number
}

/** Returns the changes from one text to another as hunks of a unified diff without context and
 *  without the lines that are gone, since the older text has these. Lines that occur once in each
 *  text say where both are alike. */
export function lineDiff(older: string, newer: string): string {
  const [before, after] = [older.split('\n'), newer.split('\n')]
  const hunks: string[] = []
  let [b, a] = [0, 0]
  for (const run of [...runsOf(before, after), { before: before.length, after: after.length, lines: 0 }]) {
    if (run.before > b || run.after > a) {
      hunks.push(`@@ -${b + 1},${run.before - b} +${a + 1},${run.after - a} @@`)
      for (const line of after.slice(a, run.after)) hunks.push(`+${line}`)
    }
    b = run.before + run.lines
    a = run.after + run.lines
  }
  return hunks.join('\n')
}

/** Returns the runs of lines that both texts have, in order. */
function runsOf(before: readonly string[], after: readonly string[]): Run[] {
  const runs: Run[] = []
  let [b, a] = [0, 0]
  const end = { before: before.length, after: after.length }
  const add = (from: { before: number; after: number }) => {
    // Alike up to the place, then from it on.
    const run: Run = { ...from, lines: 0 }
    while (run.before > b && run.after > a && before[run.before - 1] === after[run.after - 1]) {
      run.before -= 1
      run.after -= 1
      run.lines += 1
    }
    let [x, y] = [from.before, from.after]
    for (; x < before.length && y < after.length && before[x] === after[y]; x++, y++) run.lines += 1
    if (run.lines > 0) runs.push(run)
    b = x
    a = y
  }
  add({ before: 0, after: 0 })
  for (const anchor of anchorsOf(before, after)) if (anchor.before >= b && anchor.after >= a) add(anchor)
  add(end)
  return runs
}

/** Returns the longest list of lines that occur once in each text and have the same order in
 *  both. */
function anchorsOf(before: readonly string[], after: readonly string[]) {
  const places = onceIn(before)
  const pairs = [...onceIn(after)].flatMap(([line, after]) => {
    const before = places.get(line)
    return before === undefined ? [] : { before, after }
  })
  pairs.sort((one, two) => one.after - two.after)
  // The longest rising subsequence: for each length the end that is lowest, and for each pair the
  // one before.
  const ends: number[] = []
  const previous: (number | undefined)[] = []
  for (const [at, { before }] of pairs.entries()) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((pairs[ends[middle] as number] as { before: number }).before < before) low = middle + 1
      else high = middle
    }
    previous.push(ends[low - 1])
    ends[low] = at
  }
  const found: { before: number; after: number }[] = []
  for (let at = ends.at(-1); at !== undefined; at = previous[at])
    found.push(pairs[at] as { before: number; after: number })
  return found.reverse()
}

function onceIn(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>()
  const twice = new Set<string>()
  for (const [at, line] of lines.entries()) {
    if (places.has(line)) twice.add(line)
    else places.set(line, at)
  }
  for (const line of twice) places.delete(line)
  return places
}

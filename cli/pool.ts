import { availableParallelism } from 'node:os'

/** Works on all items in order, on some at once: by default as many as the machine has cores.
 *  Returns the outcomes, in order. */
export function pool<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  atOnce = availableParallelism(),
): Promise<R>[] {
  const starts: (() => void)[] = []
  let [free, next] = [atOnce, 0]
  const go = () => {
    for (; free > 0 && next < starts.length; free--) starts[next++]?.()
  }
  const all = items.map(async (item) => {
    await new Promise<void>((start) => {
      starts.push(start)
    })
    return work(item).finally(() => {
      free += 1
      go()
    })
  })
  // Whoever waits for an earlier outcome has not yet seen a later one fail.
  for (const one of all) one.catch(() => {})
  go()
  return all
}

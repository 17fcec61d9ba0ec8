import { availableParallelism } from 'node:os'

/** Works on all items in order, on as many at once as the machine has cores. Returns the outcomes, in order. */
export function pool<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R>[] {
  const starts: (() => void)[] = []
  let [free, next] = [availableParallelism(), 0]
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

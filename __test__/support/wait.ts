import { setImmediate, setTimeout } from 'node:timers/promises'

/** Waits for a condition, however long a busy machine takes: only the limit of the test ends it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(5)
}

/** Lets the event loop go round: what is due by then, such as the report of a rejection that
 *  nobody handles, has happened. */
export async function turns(count = 10): Promise<void> {
  for (let at = 0; at < count; at++) await setImmediate()
}

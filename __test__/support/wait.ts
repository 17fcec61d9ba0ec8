import { setImmediate, setTimeout } from 'node:timers/promises'

/** Waits for a condition, however long a busy machine takes: only the limit of the test ends it. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setTimeout(5)
}

/** Calls until the event loop has gone round before an answer, which a call that works on the loop
 *  never lets it. A call may have its answer at once where the machine is busy with others. It may
 *  restart the count where its work on a thread begins. */
export async function goesRound(call: (restart: () => void) => Promise<unknown>): Promise<boolean> {
  for (let tries = 0; tries < 1_000; tries++) {
    let turns = 0
    let turning = globalThis.setImmediate(function turn() {
      turns += 1
      turning = globalThis.setImmediate(turn)
    })
    const restart = () => {
      turns = 0
    }
    await call(restart).finally(() => clearImmediate(turning))
    if (turns > 3) return true
  }
  return false
}

/** Lets the event loop go round: what is due by then, such as the report of a rejection that
 *  nobody handles, has happened. */
export async function turns(count = 10): Promise<void> {
  for (let at = 0; at < count; at++) await setImmediate()
}

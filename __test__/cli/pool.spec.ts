import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { pool } from '../../cli/pool.js'
import { turns } from '../support/wait.js'

describe('a pool', () => {
  it.each([
    undefined,
    3,
  ])('works on as many as there are cores or as told, and returns outcomes in order', async (atOnce) => {
    let [now, most] = [0, 0]
    const items = Array.from({ length: 4 * availableParallelism() }, (_, at) => at)
    const all = pool(
      items,
      async (at) => {
        now += 1
        most = Math.max(most, now)
        await setTimeout(at % 3)
        now -= 1
        return 2 * at
      },
      atOnce,
    )
    expect(await Promise.all(all)).toEqual(items.map((at) => 2 * at))
    expect(most).toBe(atOnce ?? availableParallelism())
  })

  it('goes on after a failure, which waits until it is asked for', async () => {
    const all = pool([1, 2, 3, 4, 5], async (at) => {
      if (at % 2) throw new Error(`${at}`)
      return at
    })
    await turns()
    const told = (await Promise.allSettled(all)).map((one) => one.status === 'fulfilled')
    expect(told).toEqual([false, true, false, true, false])
  })
})

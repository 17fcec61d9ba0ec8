import { setTimeout as wait } from 'node:timers/promises'
import type { RemoteStorage } from 'spillway/remote'
import { get, isObject } from '../untrusted.js'

/** The number of independent operations that run at once. */
const AT_ONCE = 16

/** Error codes of a request sent over an idle connection that the server had already closed. */
const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

/** Milliseconds before each further attempt of an operation whose failure passes. */
const PAUSES = [20, 100, 300]

/** The longest delay of a timer, in milliseconds. A longer one fires at once. */
const LONGEST_TIMER = 2 ** 31 - 1

/** The caller's storage. Each operation has a time limit, and each error has a code. */
export class Engine {
  readonly #storage: RemoteStorage
  readonly #timeout: number

  constructor(storage: RemoteStorage, timeout: number) {
    this.#storage = storage
    this.#timeout = timeout
  }

  /** Returns the bytes of a key, or undefined if the key does not exist. */
  async get(key: string): Promise<Uint8Array | undefined> {
    const value = await this.#limited(key, () => this.#storage.getItemRaw(key))
    if (value === undefined || value === null) return undefined
    if (value instanceof Uint8Array) return value
    if (value instanceof ArrayBuffer) return new Uint8Array(value)
    if (typeof value === 'string') return Buffer.from(value)
    throw refusal(`the storage has something other than bytes under '${key}'`)
  }

  /** Stores bytes, which the caller must not change afterwards. `age`: milliseconds after which the
   *  engine may remove them. */
  set(key: string, bytes: Uint8Array, age: number): Promise<void> {
    const options = age === Number.POSITIVE_INFINITY ? {} : { ttl: Math.max(1, Math.ceil(age / 1000)) }
    return this.#limited(key, () => this.#storage.setItemRaw(key, bytes, options))
  }

  async remove(keys: readonly string[]): Promise<void> {
    await each(keys, (key) => this.#limited(key, () => this.#storage.removeItem(key)))
  }

  keys(base: string): Promise<string[]> {
    return this.#limited(base, () => this.#storage.getKeys(base))
  }

  async #limited<T>(key: string, operate: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const message = `ETIMEDOUT: the storage took longer than ${this.#timeout} ms, '${key}'`
      const fail = () => reject(Object.assign(new Error(message), { code: 'ETIMEDOUT' }))
      timer = setTimeout(fail, Math.min(this.#timeout, LONGEST_TIMER))
    })
    try {
      return await Promise.race([tried(operate), late])
    } catch (error) {
      throw coded(error)
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Runs an operation, and again if it fails in a way that passes. Operations are idempotent, so a
 *  retry is safe: a key gets the same bytes, or is absent. */
async function tried<T>(operate: () => Promise<T>): Promise<T> {
  for (const pause of PAUSES)
    try {
      return await operate()
    } catch (error) {
      if (!passes(error)) throw error
      await wait(pause)
    }
  return operate()
}

/** Returns true for a closed connection, and for an answer with a status of 5xx: S3 asks to try
 *  again, and some engines give it to a read beside a write. A driver may tell it in words alone. */
function passes(error: unknown): boolean {
  if (CLOSED.has(String(codeIn(error)))) return true
  if (!isObject(error)) return false
  const status = Number(get(error, 'statusCode') ?? get(error, 'status'))
  return (status >= 500 && status < 600) || /: 5\d\d /.test(String(get(error, 'message')))
}

/** Calls a function with each item, several at once, and returns the results. Stops at the first
 *  failure. */
export async function each<T, R>(items: readonly T[], call: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const work = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await call(items[at] as T)
    }
  }
  try {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work))
  } finally {
    next = items.length
  }
  return results
}

/** Makes an error of the store itself. */
export function refusal(message: string): Error {
  return Object.assign(new Error(message), { code: 'ERR_SPILLWAY_SPILL' })
}

/** Sets the code of a storage error: the code of its cause, such as a failed fetch, or ours. */
function coded(error: unknown): Error {
  if (error instanceof Error && typeof get(error, 'code') === 'string') return error
  const code = codeIn(error)
  const message = isObject(error) ? get(error, 'message') : error
  const failed = new Error(`the storage failed: ${String(message)}`, { cause: error })
  return Object.assign(failed, { code: typeof code === 'string' ? code : 'ERR_SPILLWAY_SPILL' })
}

function codeIn(error: unknown): unknown {
  for (let cause = error, depth = 0; isObject(cause) && depth < 4; depth++) {
    const code = get(cause, 'code')
    if (code !== undefined) return code
    cause = get(cause, 'cause')
  }
  return undefined
}

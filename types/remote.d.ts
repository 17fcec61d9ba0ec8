/**
 * A spill store for more than one machine: outputs are saved where every worker finds them.
 */

import type { SpillStore } from 'spillway'

/** The part of a `Storage` of unstorage 1.17 that is used. Its drivers reach Redis, S3 and many
 *  others. */
export interface RemoteStorage {
  getItemRaw(key: string): Promise<unknown>
  /** `ttl`: seconds after which the engine may remove the item. */
  setItemRaw(key: string, value: unknown, options?: { ttl?: number }): Promise<void>
  removeItem(key: string): Promise<void>
  getKeys(base?: string): Promise<string[]>
}

export interface RemoteSpillOptions {
  storage: RemoteStorage
  /** Names joined by ":", before the key of each output. Default 'spillway'. */
  prefix?: string | undefined
  /** Key of the ids, at least 16 chars. Workers with one secret give the same output of the same
   *  call one id. Default: a random one in the storage, made by the first save. */
  secret?: string | undefined
  /** Bytes kept of an output. Default 64 MiB. */
  maxFileBytes?: number | undefined
  /** Bytes of all outputs, by what their records say; a sweep removes the oldest beyond it. Default
   *  Infinity. */
  maxTotalBytes?: number | undefined
  /** Milliseconds since the output ended, after which a sweep removes it, or the engine itself if
   *  it knows `ttl`. Default 7 days. */
  maxAge?: number | undefined
  /** Milliseconds for one operation of the storage; beyond it, a call rejects with ETIMEDOUT.
   *  Default 5_000. */
  timeout?: number | undefined
}

/**
 * Creates a store over a storage, and checks its options. Any number of processes may use one
 * storage and prefix.
 *
 * An output is stored in chunks of 256 KiB, and a record is stored last: a save that fails or dies
 * leaves nothing that counts. `path` is the key of the record; notices name the id. A page reads
 * the record and the one or two chunks that hold it, a search one chunk after another. Nothing is
 * swept by itself: call `sweep` in one process, or leave it to an engine that expires items. The
 * record of the first output is read back, since some drivers take what they cannot store. An
 * operation whose connection was closed is done up to three times more. What the storage fails with
 * is passed on with its code, or ERR_SPILLWAY_SPILL if it has none.
 */
export function createRemoteSpillStore(options: RemoteSpillOptions): SpillStore

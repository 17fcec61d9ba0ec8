import type { SpillRecord, SpillStore } from 'spillway'

/** Bytes of a block, and bytes above which the producer has to wait. */
const BLOCK = 256 * 1024
const WAITING = 1024 * 1024

type RunningSave = Pick<SpillRecord, 'id' | 'path'>

/** Bytes on their way to a store: copied as they arrive, handed over in order as the store asks for
 *  them. */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  #blocks: Uint8Array[] = []
  /** Bytes of all blocks. */
  #size = 0
  /** Free memory behind the last block. */
  #free = new Uint8Array(0)
  /** Memory of blocks that were borrowed. */
  readonly #spare: ArrayBuffer[] = []
  #ended: { error?: unknown } | undefined
  #wakeStore = () => {}
  #follower: { readonly store: SpillStore; readonly running: () => RunningSave | undefined } | undefined
  /** True if a snapshot named the running save. */
  isTold = false
  #room: { promise: Promise<void>; resolve: () => void } | undefined

  /** Takes the store that saves the bytes, and a function that returns where it can read them in
   *  the meantime. */
  follow(store: SpillStore, running: () => RunningSave | undefined): void {
    this.#follower = { store, running }
  }

  /** Returns where a store can read the bytes while they are saved. A store that hands them to
   *  another one cannot. */
  runningIn(store: SpillStore): RunningSave | undefined {
    return this.#follower?.store === store ? this.#follower.running() : undefined
  }

  /** Copies the bytes. Returns a promise if the producer has to wait for the store. */
  push(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#ended) return undefined
    for (let at = 0; at < bytes.length; ) {
      if (this.#free.length === 0) this.#free = new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(BLOCK))
      const part = bytes.subarray(at, at + this.#free.length)
      this.#free.set(part)
      this.#append(part.length)
      at += part.length
    }
    this.#wakeStore()
    if (this.#size < WAITING) return undefined
    if (!this.#room) {
      let resolve = () => {}
      const promise = new Promise<void>((done) => {
        resolve = done
      })
      this.#room = { promise, resolve }
    }
    return this.#room.promise
  }

  /** Adds the first bytes of the free memory to the last block, if that is the one before them. */
  #append(size: number): void {
    const { buffer, byteOffset } = this.#free
    const last = this.#blocks.at(-1)
    const follows = last?.buffer === buffer && last.byteOffset + last.length === byteOffset
    const start = follows ? last.byteOffset : byteOffset
    const block = new Uint8Array(buffer, start, byteOffset + size - start)
    this.#blocks.splice(follows ? -1 : this.#blocks.length, follows ? 1 : 0, block)
    this.#free = this.#free.subarray(size)
    this.#size += size
  }

  /** Ends the bytes. With an error, the store gets that instead of an end, and keeps nothing. */
  end(failure: { error?: unknown } = {}): void {
    this.#ended ??= failure
    if ('error' in this.#ended) this.#drop()
    this.#wakeStore()
  }

  [Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void> {
    return this.#take(() => {})
  }

  /** Yields the blocks for a reader that is done with each when it asks for the next: their memory
   *  is used again. */
  borrow(): AsyncGenerator<Uint8Array, void> {
    return this.#take(({ buffer, byteOffset, byteLength }) => {
      if (byteOffset + byteLength === BLOCK) this.#spare.push(buffer as ArrayBuffer)
    })
  }

  async *#take(done: (block: Uint8Array) => void): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) {
        const block = this.#blocks.shift()
        if (block) {
          this.#size -= block.length
          if (this.#size < WAITING) this.#makeRoom()
          yield block
          done(block)
        } else if (this.#ended) {
          if ('error' in this.#ended) throw this.#ended.error
          return
        } else {
          await new Promise<void>((resolve) => {
            this.#wakeStore = resolve
          })
        }
      }
    } finally {
      this.close()
    }
  }

  /** Lets the producer go on: nobody takes the bytes any more. */
  close(): void {
    this.#ended ??= {}
    this.#drop()
  }

  #drop(): void {
    this.#blocks = []
    this.#size = 0
    this.#makeRoom()
  }

  #makeRoom(): void {
    this.#room?.resolve()
    this.#room = undefined
  }
}

/** Ends the bytes of an output that turned out to be within its limits. No failure of the store. */
export class QueueDiscard extends Error {
  readonly code = 'ERR_SPILLWAY_SPILL'

  constructor() {
    super('the output is within its limits, so that it is not saved')
  }
}

import { statSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { SpillRange, SpillSearch, SpillStore } from 'spillway'
import { UsageError } from '../term/usage_error.js'

const METHODS = ['save', 'read', 'search', 'list', 'sweep'] as const

/** Milliseconds for each step of a save, and for a page: no text that is shown waits longer for
 *  somebody's store. */
const PATIENCE = 10_000

/** Times as long for what reads all of an output, or all outputs: a search of 64 MiB may ask for
 *  256 chunks in turn. */
const SCAN = 2

/** Bytes of a chunk that a store is given. */
const CHUNK = 256 * 1024

/**
 * The store that a module exports, loaded by its first call. A store that hangs fails, and one that
 * could not be made is made again by the next call: an engine may come back.
 */
export class ModuleStore implements SpillStore {
  /** The error of the last save. */
  failure: unknown
  readonly #module: string
  readonly #patience: number
  #loading: Promise<SpillStore> | undefined
  #loaded: SpillStore | undefined

  constructor(module: string, patience = PATIENCE) {
    this.#module = module
    this.#patience = patience
  }

  /** Loads the module. Rejects with a UsageError if it exports no store. */
  load(): Promise<SpillStore> {
    this.#loading ??= this.#limited(storeIn(this.#module), 1).then(
      (store) => {
        this.#loaded = store
        return store
      },
      (error) => {
        this.#loading = undefined
        throw error
      },
    )
    return this.#loading
  }

  get reference(): 'path' | 'id' {
    return this.#loaded?.reference === 'path' ? 'path' : 'id'
  }

  async save(
    input: string | Uint8Array | AsyncIterable<Uint8Array>,
    meta?: Parameters<SpillStore['save']>[1],
  ) {
    const late = new StoreTimer(this.#patience)
    const chunks = late.watch(input)
    try {
      const store = await this.load()
      late.start()
      return await Promise.race([store.save(chunks, meta), late.failure])
    } catch (error) {
      this.failure = error
      throw error
    } finally {
      late.stop()
      // One that was given up may not have asked for the last chunk: its source goes on.
      chunks.return(undefined).catch(() => {})
    }
  }

  read(id: string, range?: SpillRange) {
    return this.#asked((store) => store.read(id, range), 1)
  }

  search(id: string, pattern: string, options?: SpillSearch) {
    return this.#asked((store) => store.search(id, pattern, options), SCAN)
  }

  list() {
    return this.#asked((store) => store.list(), SCAN)
  }

  sweep(options?: Parameters<SpillStore['sweep']>[0]) {
    return this.#asked((store) => store.sweep(options), SCAN)
  }

  async #asked<T>(ask: (store: SpillStore) => Promise<T>, times: number): Promise<T> {
    const store = await this.load()
    return this.#limited(ask(store), times)
  }

  async #limited<T>(work: Promise<T>, times: number): Promise<T> {
    const late = new StoreTimer(this.#patience * times)
    late.start()
    return Promise.race([work, late.failure]).finally(() => late.stop())
  }
}

/** A timer that runs while a store has something to do. */
class StoreTimer {
  readonly failure: Promise<never>
  readonly #patience: number
  #fail = () => {}
  #timer: NodeJS.Timeout | undefined

  constructor(patience: number) {
    this.#patience = patience
    const message = `ETIMEDOUT: the store took longer than ${patience} ms`
    this.failure = new Promise((_, reject) => {
      this.#fail = () => reject(Object.assign(new Error(message), { code: 'ETIMEDOUT' }))
    })
    this.failure.catch(() => {})
  }

  start(): void {
    this.stop()
    this.#timer = setTimeout(this.#fail, this.#patience)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  /** Yields chunks. The time that they take to come is not the store's. */
  async *watch(input: string | Uint8Array | AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
    this.stop()
    const chunks = typeof input === 'object' && Symbol.asyncIterator in input ? input : slices(input)
    for await (const chunk of chunks) {
      this.start()
      yield chunk
      this.stop()
    }
    this.start()
  }
}

function* slices(input: string | Uint8Array): Generator<Uint8Array> {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input
  for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK)
}

/** Loads the store that a module exports: the default export, or what it returns if that is a
 *  function. */
async function storeIn(module: string): Promise<SpillStore> {
  const exported = await exportOf(module)
  if (exported === undefined)
    throw fault(module, 'has no default export; export a SpillStore, or a function that returns one')
  const made = typeof exported === 'function' ? exported : () => exported
  const store = await Promise.resolve()
    .then(() => made())
    .catch((error) => {
      throw failed(module, 'its default export failed', error)
    })
  const missing = METHODS.find((name) => typeof (store as SpillStore | undefined)?.[name] !== 'function')
  if (missing === undefined) return store as SpillStore
  const what = typeof exported === 'function' ? 'what its default export returns' : 'its default export'
  throw fault(module, `${what} has no method ${missing}; a SpillStore has ${METHODS.join(', ')}`)
}

async function exportOf(module: string): Promise<unknown> {
  const file = fileOf(module)
  const all = await import(pathToFileURL(file).href).catch((error) => {
    // Code that is wrong, or imports a missing module, is not an engine that may come back.
    const isWrong = error instanceof SyntaxError || /^ERR_/.test(error?.code)
    throw isWrong
      ? fault(module, `cannot be loaded: ${error.message}`)
      : failed(module, 'it cannot be loaded', error)
  })
  // A module that was compiled to CommonJS has its own default in that of the whole.
  return all.default?.__esModule ? all.default.default : all.default
}

/** Returns the file of a module, which is named as in an import of a file in the working
 *  directory. */
function fileOf(module: string): string {
  const file = resolve(module)
  if (statSync(file, { throwIfNoEntry: false })?.isFile()) return file
  if (isAbsolute(module) || /^\.{1,2}[\\/]/.test(module))
    throw fault(module, 'no such module; check the path')
  // Loaded here: a host waits for a hook, which seldom needs it.
  const { createRequire } = require('node:module') as typeof import('node:module')
  try {
    return createRequire(resolve('spillway.js')).resolve(module)
  } catch (error) {
    const isHidden = (error as NodeJS.ErrnoException).code === 'ERR_PACKAGE_PATH_NOT_EXPORTED'
    const advice = isHidden
      ? 'exports no such module to require(); give the path of its file'
      : 'no such module; give the path of a file, or the name of a package that is installed here'
    throw fault(module, advice)
  }
}

/** Makes an error that is not the command line's, with the code of the module's own. */
function failed(module: string, what: string, error: unknown): Error {
  const { code, message = String(error) } = (Object(error) ?? {}) as NodeJS.ErrnoException
  const told = new Error(`--store ${module}: ${what}: ${message}`)
  return typeof code === 'string' ? Object.assign(told, { code }) : told
}

function fault(module: string, what: string): UsageError {
  return new UsageError(`--store ${module}: ${what}`, 1)
}

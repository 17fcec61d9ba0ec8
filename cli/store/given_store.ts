import type { SpillStore } from 'spillway'
import { createSpillStore } from '../../lib/index.js'
import type { Args, Flags } from '../term/args.js'
import { explain, naming, UsageError } from '../term/usage_error.js'
import { ModuleStore } from './module_store.js'

/** Makes the flags that name a store. `what`: the directory's help. */
export function storeFlags(what: string): Flags {
  return {
    dir: { value: 'DIR', help: what },
    store: { value: 'MODULE', help: 'module that exports a store, in place of --dir' },
  }
}

/** Returns the directory of --dir, or else of SPILLWAY_DIR. */
export function directoryIn(args: Args): string | undefined {
  return args.text('dir') ?? (process.env['SPILLWAY_DIR'] || undefined)
}

/** The store selected by flags, and its display name in errors. */
export class GivenStore {
  readonly name: string
  readonly store: SpillStore

  constructor(name: string, store: SpillStore) {
    this.name = name
    this.store = store
  }

  /** The error of the last save in the store of a module. */
  get failure(): unknown {
    return this.store instanceof ModuleStore ? this.store.failure : undefined
  }

  explain(error: unknown): string {
    return this.store instanceof ModuleStore
      ? explain(withoutCode(error), this.name)
      : explain(error, this.name)
  }

  /** Waits for work on the store, whose errors name it. */
  naming<T>(work: Promise<T>): Promise<T> {
    if (!(this.store instanceof ModuleStore)) return naming(this.name, work)
    const failing = work.catch((error) => {
      throw error?.code === 'ERR_SPILLWAY_OPTION' ? error : withoutCode(error)
    })
    return naming(this.name, failing)
  }
}

type Reference = SpillStore['reference']

/** Returns the store of --store, or else that of a directory. Undefined if there is neither. */
export function storeOf(args: Args, dir: string, reference?: Reference): GivenStore
export function storeOf(args: Args, dir: string | undefined, reference?: Reference): GivenStore | undefined
export function storeOf(
  args: Args,
  dir: string | undefined,
  reference: Reference = 'path',
): GivenStore | undefined {
  const module = args.text('store')
  if (module !== undefined && args.has('dir'))
    throw new UsageError('--dir and --store cannot be combined; give one of them')
  if (module !== undefined) return new GivenStore(module, new ModuleStore(module))
  return dir === undefined ? undefined : new GivenStore(dir, createSpillStore({ dir, reference }))
}

/** Rejects a path that is not a directory or a store module, before any work is done. An engine
 *  that is away is reported with each output that it does not save. */
export async function check(given: GivenStore): Promise<void> {
  const { store } = given
  if (!(store instanceof ModuleStore)) await given.naming(store.sweep())
  else
    await store.load().catch((error) => {
      if (error instanceof UsageError) throw error
    })
}

/** Returns an error without its code: that of a system call would be told as one about a file. */
function withoutCode(error: unknown): unknown {
  if (error instanceof UsageError) return error
  const { code, message = String(error) } = Object(error) as NodeJS.ErrnoException
  return new Error(code === undefined || message.includes(code) ? message : `${code}: ${message}`)
}

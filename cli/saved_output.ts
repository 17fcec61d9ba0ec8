import { basename, dirname } from 'node:path'
import type { SpillMatch, SpillSearch, SpillSlice, SpillStore } from 'spillway'
import { createSpillStore } from '../index.js'
import type { Args, Flags } from './args.js'
import { naming, UsageError } from './usage_error.js'

export const savedOutputFlags: Flags = {
  dir: { value: 'DIR', help: 'directory it was saved in; not needed if ID is a path' },
}

/** Returns the saved output that the first name denotes, by its id or by the path of its file. Errors name the
 *  directory. */
export function savedOutputOf(args: Args, usage: string): SavedOutput {
  const [name] = args.names
  if (name === undefined) throw new UsageError(`ID of a saved output is missing; usage: ${usage}`)
  const file = basename(name)
  const id = /^([0-9a-f]{16})\.[\w-]+\./.exec(file)?.[1]
  const dir = args.text('dir') ?? (id === undefined ? undefined : dirname(name))
  if (dir === undefined)
    throw new UsageError(`--dir is missing; give the directory of \`spillway run --dir\``)
  return new SavedOutput(createSpillStore({ dir }), id ?? name, dir)
}

export class SavedOutput {
  readonly id: string
  readonly #store: SpillStore
  readonly #dir: string

  constructor(store: SpillStore, id: string, dir: string) {
    this.id = id
    this.#store = store
    this.#dir = dir
  }

  read(range: Parameters<SpillStore['read']>[1]): Promise<SpillSlice> {
    return naming(this.#dir, this.#store.read(this.id, range))
  }

  search(pattern: string, options: SpillSearch): Promise<SpillMatch[]> {
    return naming(this.#dir, this.#store.search(this.id, pattern, options))
  }

  /** Returns true if the file holds the full output. */
  async isWhole(): Promise<boolean> {
    const all = await naming(this.#dir, this.#store.list())
    return all.find(({ id }) => id === this.id)?.complete !== false
  }
}

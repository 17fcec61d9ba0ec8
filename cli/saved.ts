import { basename, dirname } from 'node:path'
import type { SpillMatch, SpillSearch, SpillSlice, SpillStore } from 'spillway'
import { createSpillStore } from '../index.js'
import type { Args, Flags } from './args.js'
import { failed, Mistake } from './mistake.js'

export const savedFlags: Flags = {
  dir: { value: 'DIR', help: 'directory it was saved in; not needed if ID is a path' },
}

/** Returns the saved output that the first name denotes, by its id or by the path of its file. Errors name the
 *  directory. */
export function savedOf(args: Args, usage: string): Saved {
  const [given] = args.names
  if (given === undefined) throw new Mistake(`ID of a saved output is missing; usage: ${usage}`)
  const file = basename(given)
  const id = /^([0-9a-f]{16})\.[\w-]+\./.exec(file)?.[1]
  const dir = args.text('dir') ?? (id === undefined ? undefined : dirname(given))
  if (dir === undefined) throw new Mistake(`--dir is missing; give the directory of \`spillway run --dir\``)
  return new Saved(createSpillStore({ dir }), id ?? given, dir)
}

export class Saved {
  readonly id: string
  readonly #store: SpillStore
  readonly #dir: string

  constructor(store: SpillStore, id: string, dir: string) {
    this.id = id
    this.#store = store
    this.#dir = dir
  }

  read(range: Parameters<SpillStore['read']>[1]): Promise<SpillSlice> {
    return this.#named(this.#store.read(this.id, range))
  }

  search(pattern: string, options: SpillSearch): Promise<SpillMatch[]> {
    return this.#named(this.#store.search(this.id, pattern, options))
  }

  /** Returns true if the file holds the full output. */
  async isWhole(): Promise<boolean> {
    const all = await this.#named(this.#store.list())
    return all.find(({ id }) => id === this.id)?.complete !== false
  }

  #named<T>(done: Promise<T>): Promise<T> {
    return done.catch((error) => {
      throw failed(error, this.#dir)
    })
  }
}

import { basename, dirname } from 'node:path'
import type { SpillMatch, SpillRange, SpillSearch, SpillSlice } from 'spillway'
import { spillReader } from '../../lib/index.js'
import type { Args } from '../term/args.js'
import { UsageError } from '../term/usage_error.js'
import { directoryIn, type GivenStore, storeFlags, storeOf } from './given_store.js'

export const savedOutputFlags = {
  ...storeFlags('directory it was saved in; not needed if ID is a path'),
  exact: { help: 'JSON as it was saved, not as lines' },
}

/** Returns the saved output that the first name denotes, by its id or by the path of its file.
 *  Errors name the store. */
export function savedOutputOf(args: Args, usage: string): SavedOutput {
  const [name] = args.names
  if (name === undefined) throw new UsageError(`ID of a saved output is missing; usage: ${usage}`)
  const file = basename(name)
  const id = /^([0-9a-f]{16})\.[\w-]+\./.exec(file)?.[1]
  const dir = id === undefined ? directoryIn(args) : (args.text('dir') ?? dirname(name))
  const given = storeOf(args, dir)
  if (given === undefined)
    throw new UsageError(
      `--dir is missing; give the directory of \`spillway run --dir\`, set SPILLWAY_DIR, or give a --store`,
    )
  return new SavedOutput(given, id ?? name, args.has('exact'))
}

export class SavedOutput {
  readonly id: string
  readonly #given: GivenStore
  readonly #reader: ReturnType<typeof spillReader>
  readonly #exact: boolean

  constructor(given: GivenStore, id: string, exact: boolean) {
    this.id = id
    this.#given = given
    this.#reader = spillReader(given.store)
    this.#exact = exact
  }

  read(range: SpillRange): Promise<SpillSlice> {
    return this.#given.naming(this.#reader.read(this.id, { ...range, exact: this.#exact }))
  }

  search(pattern: string, options: SpillSearch): Promise<SpillMatch[]> {
    return this.#given.naming(this.#reader.search(this.id, pattern, { ...options, exact: this.#exact }))
  }

  /** Returns true if the full output was saved. `page`: one of its pages, which may tell. */
  async isWhole({ record }: SpillSlice): Promise<boolean> {
    if (record) return record.complete
    const all = await this.#given.naming(this.#given.store.list())
    return all.find(({ id }) => id === this.id)?.complete !== false
  }
}

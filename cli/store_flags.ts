import type { Flags } from './args.js'

/** Makes the flags that name a store. `what`: the directory's help. */
export function storeFlags(what: string): Flags {
  return {
    dir: { value: 'DIR', help: what },
    store: { value: 'MODULE', help: 'module that exports a store, in place of --dir' },
  }
}

import { basename, dirname } from 'node:path'
import type { SpillStore } from 'spillway'
import { createSpillStore } from '../index.js'
import type { Args, Flags } from './args.js'
import { Mistake } from './mistake.js'

export const savedFlags: Flags = {
  dir: { value: 'DIR', help: 'where it was saved; not needed where ID is a path' },
}

/** The saved output that the first name tells: its id, or its file's path as notices name it. */
export function savedOf(args: Args, usage: string): { store: SpillStore; id: string; dir: string } {
  const [given] = args.names
  if (given === undefined) throw new Mistake(`the ID of a saved output is missing: ${usage}`)
  const file = basename(given)
  const id = /^([0-9a-f]{16})\.[\w-]+\./.exec(file)?.[1]
  const dir = args.text('dir') ?? (id === undefined ? undefined : dirname(given))
  if (dir === undefined)
    throw new Mistake(`--dir is missing: the directory that \`spillway run --dir\` saved in`)
  return { store: createSpillStore({ dir }), id: id ?? given, dir }
}

import type { ChildProcess } from 'node:child_process'
import { getSystemErrorMap } from 'node:util'

/** Why something could not be done: a code of ours, or the system's number, with a name in case that means nothing. */
export interface Refused {
  readonly errno?: number
  readonly code?: string
  readonly message: string
}

/** Makes an error of what failed: with a code of ours, or worded as Node words what the system refused at a path. */
export function failureOf(path: string, { errno, code = 'EIO', message }: Refused): Error {
  if (code.startsWith('ERR_')) return Object.assign(new Error(message), { code })
  const [name, meaning] = nameOf(-(errno ?? 0)) ?? [code, message]
  const error = new Error(`${name}: ${meaning}, '${path}'`)
  return Object.assign(error, { code: name, path, ...(errno !== undefined && { errno: -errno }) })
}

/** The error that a child emitted which could not be started; nothing of another. Node keeps its number alone. */
export function spawnError({ exitCode, spawnfile, spawnargs }: ChildProcess): Error | undefined {
  if (exitCode === null || exitCode >= 0) return undefined
  const [code] = nameOf(exitCode) ?? ['EIO']
  const syscall = `spawn ${spawnfile}`
  const details = { errno: exitCode, code, syscall, path: spawnfile, spawnargs: spawnargs.slice(1) }
  return Object.assign(new Error(`${syscall} ${code}`), details)
}

function nameOf(errno: number): [string, string] | undefined {
  return getSystemErrorMap().get(errno)
}

import type { ChildProcess } from 'node:child_process'
import { getSystemErrorMap } from 'node:util'

/** A failure reported by the engine: a code of this package, or an error number of the system, with
 *  a fallback code. */
export interface EngineFailure {
  readonly errno?: number
  readonly code?: string
  readonly message: string
}

/** Makes an error from a failure. Errors of the system are worded as by Node. */
export function failureOf(path: string, { errno, code = 'EIO', message }: EngineFailure): Error {
  if (code.startsWith('ERR_')) return Object.assign(new Error(message), { code })
  const [name, meaning] = systemErrorOf(-(errno ?? 0)) ?? [code, message]
  const error = new Error(`${name}: ${meaning}, '${path}'`)
  return Object.assign(error, { code: name, path, ...(errno !== undefined && { errno: -errno }) })
}

/** Rebuilds the error of a child that could not be started; Node keeps only the number. Returns
 *  undefined for any other child. */
export function spawnError({ exitCode, spawnfile, spawnargs }: ChildProcess): Error | undefined {
  if (exitCode === null || exitCode >= 0) return undefined
  const [code] = systemErrorOf(exitCode) ?? ['EIO']
  const syscall = `spawn ${spawnfile}`
  const details = { errno: exitCode, code, syscall, path: spawnfile, spawnargs: spawnargs.slice(1) }
  return Object.assign(new Error(`${syscall} ${code}`), details)
}

function systemErrorOf(errno: number): [string, string] | undefined {
  return getSystemErrorMap().get(errno)
}

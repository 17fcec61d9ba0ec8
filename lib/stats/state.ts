import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Returns a place of ours among what programs keep of a user from day to day. */
export function stateOf(name: string): string {
  const { XDG_STATE_HOME: base = '' } = process.env
  return join(isAbsolute(base) ? base : join(homedir(), '.local/state'), 'spillway', name)
}

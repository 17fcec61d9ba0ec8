import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Returns our directory under XDG_STATE_HOME, or its equivalent on this platform. */
export function stateOf(name: string): string {
  const { XDG_STATE_HOME: base = '' } = process.env
  return join(isAbsolute(base) ? base : join(homedir(), '.local/state'), 'spillway', name)
}

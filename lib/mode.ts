// One switch for a deployment, and one for the first week of it.
//
// `SPILLWAY=off` hands every value back as it came; `SPILLWAY=observe`, or the option `observe`,
// does all the work, reports it, and hands back the value that came. Both act where a value passes
// on its way to a model: wrapped tools, results, histories, guards, contexts, proxies and hooks. A
// function over a text is asked for the shorter text, and a command for its work: neither is a
// door, so neither changes.
import { show } from './validate.js'

/** The work of a door: 'rehearse' makes the value that its caller then drops. */
export type Mode = 'on' | 'observe' | 'rehearse' | 'off'

const SAID = {
  off: 'off (SPILLWAY=off): nothing is cut, cleared or redacted',
  observe: 'observing (SPILLWAY=observe): events say what would be cut; nothing is cut, cleared or redacted',
}

/** The mode of the process, read with the first policy. */
let own: 'on' | 'observe' | 'off' | undefined
const said = new Set<string>()

/** Returns the mode of a policy. */
export function modeOf(observes: boolean): 'on' | 'observe' | 'off' {
  own ??= read(process.env['SPILLWAY'])
  return own === 'on' && observes ? 'observe' : own
}

function read(value = ''): 'on' | 'observe' | 'off' {
  if (value === 'off' || value === 'observe') return value
  if (value !== '' && value !== 'on') say(`ignores SPILLWAY=${show(value)}; expected off, observe or on`)
  return 'on'
}

/** Says once on stderr that the process does not cut. */
export function sayMode(): void {
  if (own === 'off' || own === 'observe') say(SAID[own])
}

/** Returns the mode of a door that has no policy. */
export function doorMode(observes = false): 'on' | 'observe' | 'off' {
  const mode = modeOf(observes)
  if (mode !== 'on') sayMode()
  return mode
}

function say(words: string): void {
  if (said.has(words)) return
  said.add(words)
  process.stderr.write(`spillway ${words}\n`)
}

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Outcome } from '../../lib/hook/clamp_call.js'
import type { Host } from '../../lib/hook/hosts.js'
import { isObject } from '../../lib/mcp/message.js'

type HookEvent = Readonly<Record<string, unknown>>

/** Name of the temporary file of a result. */
const HELD = /^\d+\.\d+\.shown\.txt$/

/** Characters that make the host treat a text file as binary and hide it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const BINARY = /[\0-\x08\x0b\x0c\x0e-\x1f]/

/** Returns the answer that gives a host its result. */
export function answerOf(
  { event: hookEventName, takes }: Host,
  event: HookEvent,
  { output, text }: Outcome,
): object {
  if (takes === 'tool_response') return { tool_response: output }
  if (takes === 'updatedToolOutput')
    return { hookSpecificOutput: { hookEventName, updatedToolOutput: output } }
  // Gemini CLI replaces a result by the result of another call, which reads the text from a file.
  if (text === undefined || BINARY.test(text))
    throw new Error('the result has control characters, which the host would hide; it stays as it is')
  const file_path = join(directoryIn(event), `${Date.now()}.${process.pid}.shown.txt`)
  mkdirSync(dirname(file_path), { recursive: true, mode: 0o700 })
  writeFileSync(file_path, text, { mode: 0o600, flag: 'wx' })
  return {
    hookSpecificOutput: { hookEventName, tailToolCallRequest: { name: 'read_file', args: { file_path } } },
  }
}

/** Returns a directory that the tools of a host may read, if the host has none for all projects. */
export function directoryOf({ takes }: Host, event: HookEvent): string | undefined {
  return takes === 'tailToolCallRequest' ? directoryIn(event) : undefined
}

/** Returns true for the call that an earlier answer requested. Removes its file, which is no longer
 *  needed. */
export function isOfOurs(event: HookEvent): boolean {
  const { original_request_name: name, tool_input: input } = event
  const given = isObject(input) ? input['file_path'] : undefined
  if (name === undefined || typeof given !== 'string' || !HELD.test(basename(given))) return false
  // Removes the compared path, without `..`.
  const file = resolve(given)
  const isOurs = dirname(file) === resolve(directoryIn(event))
  if (isOurs) rmSync(file, { force: true })
  return isOurs
}

/** Returns spillway's directory beside the session of an event. */
function directoryIn({ transcript_path: path }: HookEvent): string {
  if (typeof path !== 'string' || path === '')
    throw new Error('transcript_path of the event must be the path of a session')
  return join(dirname(dirname(path)), 'spillway')
}

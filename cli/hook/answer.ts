import { readFile, stat } from 'node:fs/promises'
import type { WrapPolicy } from 'spillway'
import { wrapTool } from '../../index.js'
import { isObject } from '../mcp/message.js'
import { type Host, type Row, rowOf } from './hosts.js'

/** Bytes of a file of the host that is read. */
const LONGEST = 64 * 1024 * 1024

/** Returns the answer to an event: the result of the tool in its own shape, with its texts within the limits. Undefined
 *  if the result stays as it is. */
export async function answerTo(host: Host, event: unknown, policy: WrapPolicy): Promise<object | undefined> {
  if (!isObject(event) || event['hook_event_name'] !== host.event) return undefined
  const { tool_name: name, tool_input: input, tool_use_id: callId, tool_response: result } = event
  const row = typeof name === 'string' ? rowOf(host, name) : undefined
  if (!row) return undefined
  const call = { name: String(name), toolCallId: callId }
  const updatedToolOutput = await clamped(row, result, input, call, policy)
  if (updatedToolOutput === undefined) return undefined
  return { hookSpecificOutput: { hookEventName: host.event, updatedToolOutput } }
}

async function clamped(
  row: Row,
  result: unknown,
  input: unknown,
  { name, toolCallId }: { name: string; toolCallId: unknown },
  { spill, ...policy }: WrapPolicy,
): Promise<unknown> {
  const { path, unless, without = [], parameters } = row
  if (unless !== undefined && isObject(result) && result[unless] === true) return undefined
  const given = path.reduce((value, field) => (isObject(value) ? value[field] : undefined), result)
  const whole = (await wholeOf(row, result)) ?? given
  const blocks = typeof whole === 'string' ? [{ type: 'text', text: whole }] : whole
  if (!Array.isArray(blocks)) return undefined
  const before = { content: blocks }
  const execute = async (..._args: unknown[]) => before
  const tool = parameters
    ? wrapTool({ name, execute, parameters }, { ...policy, keep: 'head', dialect: 'mcp' })
    : wrapTool({ name, execute }, { ...policy, ...(spill && { spill }), dialect: 'mcp' })
  const after = await tool.execute(input, { toolCallId })
  if (after === before) return undefined
  const sent = typeof whole === 'string' ? after.content[0].text : after.content
  const replaced = replace(result, path, sent)
  return isObject(replaced)
    ? Object.fromEntries(Object.entries(replaced).filter(([name]) => !without.includes(name)))
    : replaced
}

/** Returns the text that the host has saved, if the one of the event is a part of it. */
async function wholeOf({ whole }: Row, result: unknown): Promise<string | undefined> {
  const file = whole !== undefined && isObject(result) ? result[whole] : undefined
  if (typeof file !== 'string') return undefined
  const { size } = await stat(file)
  if (size > LONGEST) throw new Error(`${file} has ${size} bytes; at most ${LONGEST} are read`)
  return readFile(file, 'utf8')
}

function replace(value: unknown, [name, ...rest]: readonly string[], text: unknown): unknown {
  if (name === undefined || !isObject(value)) return text
  return { ...value, [name]: replace(value[name], rest, text) }
}

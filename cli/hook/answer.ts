import { readFileSync, statSync } from 'node:fs'
import type { WrapPolicy } from 'spillway'
import { clampTextWithReport, wrapTool } from '../../index.js'
import { isObject } from '../mcp/message.js'
import type { Host, Row } from './hosts.js'

/** Bytes of a file of the host that is read. */
const LONGEST = 64 * 1024 * 1024

/** A call whose tool has run. */
export interface Call {
  readonly name: string
  readonly id: unknown
  readonly input: unknown
  readonly result: unknown
}

/** The outcome of a call, with the chars that the host would have shown and now shows. */
export interface Outcome {
  /** The result in its own shape, within the limits. Undefined if it stays as it is. */
  readonly output?: unknown
  readonly shown: number
  readonly sent: number
}

/** Clamps the texts of a result in the places that a row names. Undefined if they are not there. */
export async function clampCall(
  { preview }: Host,
  row: Row,
  { name, id, input, result }: Call,
  { spill, ...policy }: WrapPolicy,
): Promise<Outcome | undefined> {
  const { path, unless, without = [], parameters, most } = row
  if (unless !== undefined && isObject(result) && result[unless] === true) return undefined
  const given = path.reduce((value, field) => (isObject(value) ? value[field] : undefined), result)
  const whole = wholeOf(row, result) ?? given
  const blocks = typeof whole === 'string' ? [{ type: 'text', text: whole }] : whole
  if (!Array.isArray(blocks)) return undefined
  const chars = charsOf(blocks)
  // A result with images is shown whole.
  const isPreviewed = chars > most && blocks.every((block) => block?.type === 'text')
  const shown = isPreviewed ? preview : chars
  if (fits(blocks, policy)) return { shown, sent: shown }
  const before = { content: blocks }
  const execute = async (..._args: unknown[]) => before
  const tool = parameters
    ? wrapTool({ name, execute, parameters }, { ...policy, keep: 'head', dialect: 'mcp' })
    : wrapTool({ name, execute }, { ...policy, ...(spill && { spill }), dialect: 'mcp' })
  const after = await tool.execute(input, { toolCallId: id })
  if (after === before) return { shown, sent: shown }
  const text = typeof whole === 'string' ? after.content[0].text : after.content
  const replaced = replace(result, path, text)
  const output = isObject(replaced) ? omit(replaced, without) : replaced
  return { output, shown, sent: charsOf(after.content) }
}

/** Returns true if all texts together are within the limits. Most results are, and this loads no more than that takes. */
function fits(blocks: readonly unknown[], { clean, redact, ...policy }: WrapPolicy): boolean {
  const text = textsOf(blocks).join('\n')
  return !clean && !redact && !clampTextWithReport(text, { ...policy, keep: 'head' }).truncated
}

/** Returns the text that the host has saved, if the one of the event is a part of it. */
function wholeOf({ whole }: Row, result: unknown): string | undefined {
  const file = whole !== undefined && isObject(result) ? result[whole] : undefined
  if (typeof file !== 'string') return undefined
  const { size } = statSync(file)
  if (size > LONGEST) throw new Error(`${file} has ${size} bytes; at most ${LONGEST} are read`)
  return readFileSync(file, 'utf8')
}

/** Returns the chars of all texts in a list of blocks. */
function charsOf(blocks: readonly unknown[]): number {
  return textsOf(blocks).reduce((sum, text) => sum + text.length, 0)
}

function textsOf(blocks: readonly unknown[]): string[] {
  return blocks.flatMap((block) =>
    isObject(block) && typeof block['text'] === 'string' ? [block['text']] : [],
  )
}

/** Returns an object without these fields. */
export function omit(object: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

function replace(value: unknown, [name, ...rest]: readonly string[], text: unknown): unknown {
  if (name === undefined || !isObject(value)) return text
  return { ...value, [name]: replace(value[name], rest, text) }
}

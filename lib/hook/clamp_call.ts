import { isObject } from '../mcp/message.js'
import { clampTextWithReport } from '../text/text.js'
import { isList } from '../untrusted.js'
import { type Block, type HookPolicy, isPlain, textsOf } from './blocks.js'
import type { Host, HostShape } from './hosts.js'
import { readRegular } from './regular_file.js'

/** Maximum bytes to read of a file of the host. */
const LONGEST = 64 * 1024 * 1024

/** Chars at the end of a text to search for words of the host. */
const AROUND = 4_000

/** Mark of the block of a second text. */
const BESIDE = {}

/** A finished call of a tool. */
export interface HookCall {
  readonly name: string
  readonly input: unknown
  readonly result: unknown
}

/** The outcome of a call, with the chars that the host shows without and with the hook. */
export interface Outcome {
  /** The result in its own shape, within the limits. Undefined if it stays as it is. */
  readonly output?: unknown
  /** Its texts as one string. */
  readonly text?: string
  readonly shown: number
  readonly sent: number
}

/** Clamps the texts of a result in the places that a row names. Returns undefined without such
 *  texts. */
export async function clampCall(
  { preview, takes, limits }: Host,
  row: HostShape,
  { name, input, result }: HookCall,
  { storing, ...policy }: HookPolicy,
): Promise<Outcome | undefined> {
  const { path, beside, unless, without = [], pages, most } = row
  if (unless !== undefined && at(result, [unless])) return undefined
  const whole = wholeOf(row, result) ?? at(result, path)
  const blocks = blocksOf(whole)
  // A result that is read from a file has no images.
  const isText = blocks?.every((block) => isObject(block) && block['type'] === 'text')
  if (!blocks || (takes === 'tailToolCallRequest' && !isText)) return undefined
  const second = secondOf(row, result)
  const all = textsOf(blocks).join('\n')
  const chars = textsOf([...blocks, ...second]).join('\n')
  // The host shows a result with images whole.
  const shown = chars.length > most && isText ? preview : chars.length
  if (blocks.every(isPlain) && fits(chars, policy)) return { shown, sent: shown }
  const { before, text, after, isError } = partsOf(row, result, all)
  const inner = [...((before + after === '' ? blocks : blocksOf(text)) as Block[]), ...second]
  const within = {
    ...policy,
    ...leastOf(policy, limits),
    ...(pages ? { keep: 'head' as const } : storing && { storing }),
    ...(isError && { isError }),
  }
  const { clampBlocks } = await import('./clamp_blocks.js')
  const content = await clampBlocks(inner, { name, input, pages }, within)
  if (content === inner) return { shown, sent: shown }
  const isSecond = (block: Block) => isObject(block) && block['_meta'] === BESIDE
  const first = content.filter((block) => !isSecond(block))
  const kept = before + textsOf(first).join('\n') + after
  let replaced = replace(result, path, typeof whole === 'string' ? kept : first)
  if (beside && second.length > 0)
    replaced = replace(replaced, beside, textsOf(content.filter(isSecond)).join(''))
  const output = without.length > 0 ? omit(replaced as object, without) : replaced
  return {
    output,
    text: kept,
    shown,
    sent: before.length + textsOf(content).join('\n').length + after.length,
  }
}

/** Returns the block of a second text. */
function secondOf({ beside }: HostShape, result: unknown): Block[] {
  const text = beside && at(result, beside)
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text, _meta: BESIDE }] : []
}

/** Returns true if a text is within the limits. Most results are, so this check loads little
 *  code. */
function fits(text: string, { clean, redact, ...policy }: HookPolicy): boolean {
  return !clean && !redact && !clampTextWithReport(text, { ...policy, keep: 'head' }).truncated
}

/** Returns a text as a list of blocks, or a list as it is. */
function blocksOf(whole: unknown): Block[] | undefined {
  if (typeof whole === 'string') return [{ type: 'text', text: whole }]
  if (!isList(whole)) return undefined
  // Gemini's parts have a text and no type.
  const isParts = whole.every((part) => isObject(part) && Object.keys(part).join() === 'text')
  return isParts ? whole.map((part) => ({ type: 'text', ...(part as object) })) : whole
}

/** Separates a text from the words of the host around it, and detects a failure by the exit code in
 *  them. */
function partsOf({ around, exit }: HostShape, result: unknown, all: string) {
  const code = exit && at(result, exit)
  const isError = typeof code === 'number' && code !== 0
  const before = around?.before.exec(all)?.[0] ?? ''
  const last = around?.after.exec(all.slice(before.length).slice(-AROUND))
  const after = last?.[0] ?? ''
  const text = all.slice(before.length, all.length - after.length)
  return { before, text, after, isError: isError || last?.groups?.['exit'] !== undefined }
}

function leastOf(policy: HookPolicy, limits: Host['limits']) {
  const { maxLines = 2_000, maxLineBytes = Number.POSITIVE_INFINITY } = policy
  return (
    limits && {
      maxLines: Math.min(maxLines, limits.maxLines),
      maxLineBytes: Math.min(maxLineBytes, limits.maxLineBytes),
    }
  )
}

/** Returns the text that the host has saved, if it contains the text of the event. */
function wholeOf({ whole }: HostShape, result: unknown): string | undefined {
  const file = whole && at(result, whole)
  if (typeof file !== 'string') return undefined
  return readRegular(file, LONGEST).toString()
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce((inner, name) => (isObject(inner) ? inner[name] : undefined), value)
}

/** Returns an object without these fields. */
export function omit(object: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)))
}

function replace(value: unknown, [name, ...rest]: readonly string[], text: unknown): unknown {
  if (name === undefined || !isObject(value)) return text
  return { ...value, [name]: replace(value[name], rest, text) }
}

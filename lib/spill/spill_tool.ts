import type { spillTool as Declared, SpillMatch, SpillSlice, SpillStore } from 'spillway'
import { cleanText } from '../text/clean.js'
import { get, isObject } from '../untrusted.js'
import { show, unknownName } from '../validate.js'
import { idIn } from './arguments.js'
import { type SpillReader, spillReader } from './spill_reader.js'

/** Bytes and lines of a page. With a number before each line it stays within 40,960 bytes. */
const PAGE = 30_000
const LINES = 800

/** Matches of an answer, and context lines by default and at most. */
const MATCHES = 20
const CONTEXT = 2
const MOST_CONTEXT = 10

/** Bytes of all matches of an answer. */
const ANSWER = 40_000

/** Smallest share of a page that is tried. */
const LEAST = 1 / 1_024

/** Answers an input by a page that fits. One that would be cut no longer says where it goes on, so
 *  a shorter one takes its place; only the shortest may not fit. */
export type Pager = (input: unknown, fits: Fits) => Promise<string>

type Fits = (answer: string) => boolean

/** Tools made by spillTool, and the `execute` of each. */
const pagers = new WeakMap<object, Pager>()

/** Returns what answers for a tool of spillTool, or for its `execute`. */
export function pagerOf(tool: object): Pager | undefined {
  return pagers.get(tool)
}

type Tool = ReturnType<typeof Declared>

export function spillTool(store: SpillStore): Tool {
  const reader = spillReader(store)
  const pager: Pager = (input, fits) => answer(store, reader, input, fits)
  const execute = (input: unknown): Promise<string> => pager(input, () => true)
  const given = parameters()
  const inputSchema = standardOf(given)
  const tool = {
    name: 'read_output',
    description: DESCRIPTION,
    parameters: given,
    inputSchema,
    execute,
  } as const
  pagers.set(tool, pager).set(execute, pager)
  return tool
}

function standardOf(parameters: Tool['parameters']): Tool['inputSchema'] {
  const json = (): Record<string, unknown> => parameters
  const validate = (value: unknown) => ({ value })
  return {
    '~standard': { version: 1, vendor: 'spillway', validate, jsonSchema: { input: json, output: json } },
  }
}

const DESCRIPTION =
  'Reads or searches the full output of an earlier tool call that was truncated and saved. Pass the id from its notice. ' +
  'Without `pattern`: a page of numbered lines from `line` on; it ends with the position of the next page. ' +
  'With `pattern`: matching lines (case-sensitive). JSON is shown as lines: `path: value`, and the lines of a string below its path.'

function parameters(): Tool['parameters'] {
  const integer = (minimum: number, description: string) =>
    ({ type: 'integer', minimum, description }) as const
  return {
    type: 'object',
    properties: {
      id: {
        type: 'string',
        description: 'Id of the saved output, from its notice: 16 hexadecimal digits.',
      },
      line: integer(1, 'First line to read or to search (1-based). Default 1.'),
      byte: integer(0, 'Byte to read from instead of a line, to continue inside a very long line.'),
      lines: integer(
        1,
        `Maximum number of lines to read. With \`pattern\`: context lines around each match (default ${CONTEXT}).`,
      ),
      pattern: { type: 'string', description: 'Text to search for.' },
      regex: {
        type: 'boolean',
        description:
          'True if `pattern` is a regular expression (no lookaround, no backreferences; (?i) ignores case).',
      },
      exact: {
        type: 'boolean',
        description: 'True to read or search JSON as it was saved, not as lines.',
      },
    },
    required: ['id'],
    additionalProperties: false,
  }
}

interface Request {
  id: string
  line: number | undefined
  byte: number | undefined
  lines: number | undefined
  pattern: string | undefined
  regex: boolean
  exact: boolean
}

/** An error in an input, as a sentence for the model. */
class InputError extends Error {}

async function answer(store: SpillStore, reader: SpillReader, input: unknown, fits: Fits): Promise<string> {
  try {
    const request = requestOf(input)
    const { pattern } = request
    const ofPage = (share: number) => page(store, reader, request, share)
    const make = pattern === undefined ? ofPage : await matches(reader, request)
    let [share, made] = [1, await make(1)]
    while (share > LEAST && !fits(made)) {
      share /= 2
      made = await make(share)
    }
    return made
  } catch (error) {
    return explain(error)
  }
}

function explain(error: unknown): string {
  if (error instanceof InputError) return error.message
  const [code, message] = isObject(error) ? [get(error, 'code'), get(error, 'message')] : []
  if (code === 'ERR_SPILLWAY_OPTION') return `${message}.`
  if (code === 'ERR_SPILLWAY_SPILL')
    return `${message}. If you need the output, run the tool that made it again.`
  return `The output could not be read (${typeof code === 'string' ? code : 'unknown error'}).`
}

function requestOf(input: unknown): Request {
  if (!isObject(input))
    throw new InputError('Pass an object with the id of a saved output, such as {"id": "0123456789abcdef"}.')
  const value = (name: string) => present(get(input, name))
  const names = Object.keys(parameters().properties)
  const unknown = Object.keys(input).find((name) => !names.includes(name) && value(name) !== undefined)
  if (unknown !== undefined) throw new InputError(unknownName('argument', unknown, names))
  const id = value('id')
  if (typeof id !== 'string') throw new InputError('Pass the id of a saved output, from its notice.')
  const pattern = value('pattern')
  if (pattern !== undefined && typeof pattern !== 'string')
    throw new InputError(`pattern must be a string, not ${show(pattern)}.`)
  return {
    id: idIn(id) ?? id.trim(),
    line: whole('line', value('line'), 1),
    byte: whole('byte', value('byte'), 0),
    lines: whole('lines', value('lines'), 1),
    pattern,
    regex: isTrue(value('regex')),
    exact: isTrue(value('exact')),
  }
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

/** Maps null and "" to undefined: models that must pass every parameter use them for unused
 *  ones. */
function present(value: unknown): unknown {
  return value === null || value === '' ? undefined : value
}

function whole(name: string, value: unknown, least: number): number | undefined {
  if (value === undefined) return undefined
  const number = typeof value === 'string' ? Number(value) : value
  if (Number.isSafeInteger(number) && (number as number) >= least) return number as number
  throw new InputError(`${name} must be a whole number from ${least} up, not ${show(value)}.`)
}

/** Reads a page of a share of the usual size. */
async function page(
  store: SpillStore,
  reader: SpillReader,
  { id, line = 1, byte, lines = LINES, exact }: Request,
  share: number,
): Promise<string> {
  const start = byte === undefined ? { line } : { byte }
  const most = { lines: Math.min(lines, Math.ceil(share * LINES)), maxBytes: Math.ceil(share * PAGE) }
  const slice = await reader.read(id, { ...start, ...most, exact })
  const form = slice.exact ? '' : ' of JSON as lines'
  const total = `${slice.totalLines} lines, ${slice.totalBytes} bytes${form}`
  const texts = slice.text.split('\n')
  if (texts.at(-1) === '') texts.pop()
  if (texts.length === 0)
    return `[${id} has ${total}; ${byte === undefined ? 'line' : 'byte'} ${byte ?? line} is beyond its end]`
  const last = slice.line + texts.length - 1
  const from = byte === undefined ? '' : ` from byte ${slice.byte}`
  return [
    `[${id}: lines ${slice.line}-${last}${from} of ${total}]`,
    ...texts.map((text, at) => `${slice.line + at}: ${asOnTerminal(text)}`),
    await whatFollows(store, id, slice, last),
  ].join('\n')
}

async function whatFollows(
  store: SpillStore,
  id: string,
  slice: SpillSlice & { exact: boolean },
  last: number,
): Promise<string> {
  if (slice.nextLine !== undefined) return `[next: line ${slice.nextLine}]`
  if (slice.nextByte !== undefined) return `[line ${last} continues; next: byte ${slice.nextByte}]`
  const record = slice.record ?? (await store.list().catch(() => [])).find((record) => record.id === id)
  if (record?.complete !== false) return '[end]'
  const { totalBytes } = slice.exact ? slice : await store.read(id, { byte: 0, maxBytes: 1 })
  return record.bytes > totalBytes
    ? `[end of the saved part: ${totalBytes} of ${record.bytes} bytes]`
    : '[end of the saved part: the output was not finished]'
}

/** Searches once. Returns a function that shows a share of the usual size. */
async function matches(
  reader: SpillReader,
  { id, line = 1, lines = CONTEXT, pattern = '', regex, exact }: Request,
): Promise<(share: number) => string> {
  const context = Math.min(lines, MOST_CONTEXT)
  const found = await reader.search(id, pattern, { regex, line, context, max: MATCHES + 1, exact })
  const from = line > 1 ? ` from line ${line} on` : ''
  if (found.length === 0)
    return () =>
      `[no line of ${id}${from} ${regex ? 'matches' : 'contains'} ${show(pattern)} (case-sensitive)]`
  return (share) => shown(found, id, from, share)
}

function shown(found: readonly SpillMatch[], id: string, from: string, share: number): string {
  const rows = new Map<number, string>()
  let room = share * ANSWER
  let count = 0
  for (const match of found.slice(0, MATCHES)) {
    const added = rowsOf(match).filter(([number, , isMatch]) => isMatch || !rows.has(number))
    const size = added.reduce((sum, [, text]) => sum + Buffer.byteLength(text) + 1, 0)
    if (size > room && count > 0) break
    room -= size
    count += 1
    for (const [number, text] of added) rows.set(number, text)
  }
  const next = found[count]
  return [
    `[${id}: ${next ? 'the first ' : ''}${count} matching line${count === 1 ? '' : 's'}${from}]`,
    ...[...rows].sort(([one], [other]) => one - other).map(([, text]) => text),
    ...(next ? [`[more: search from line ${next.line} on]`] : []),
  ].join('\n')
}

type PageLine = [line: number, text: string, isMatch: boolean]

/** Formats a match: the matching line after ":", context lines after "-". */
function rowsOf({ line, byte, text, before, after }: SpillMatch): PageLine[] {
  const around = (lines: string[], first: number): PageLine[] =>
    lines.map((text, at) => [first + at, `${first + at}- ${asOnTerminal(text)}`, false])
  const isShortened = /^\[\+\d+ bytes\]|\[\+\d+ bytes\]$/.test(text)
  const place = isShortened && byte !== undefined ? `${line} (byte ${byte})` : `${line}`
  return [
    ...around(before, line - before.length),
    [line, `${place}: ${asOnTerminal(text)}`, true],
    ...around(after, line + 1),
  ]
}

const CLEANING = { repeats: false }

/** Returns a line as a terminal would show it, unless that is longer. */
function asOnTerminal(line: string): string {
  const clean = cleanText(line, CLEANING)
  return clean.length > line.length || clean.includes('\n') ? line.replace(/\r$/, '') : clean
}

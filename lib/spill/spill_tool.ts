import type { spillTool as Declared, SpillMatch, SpillSlice, SpillStore } from 'spillway'
import { optionError, show } from '../option.js'
import { get, isObject } from '../reading.js'
import { cleanText } from '../text/clean.js'

/** What a page may hold, so that with a number before each line it stays within 40,960 bytes. */
const PAGE = 30_000
const LINES = 800

/** Matches of an answer, and lines around each. */
const MATCHES = 20
const CONTEXT = 2
const MOST_CONTEXT = 10

/** Bytes of the matches of an answer. */
const ANSWER = 40_000

/** What spillTool made: their answers are not saved again. */
const made = new WeakSet<object>()

/** Tells a tool of spillTool, or its `execute`. */
export function readsSpill(tool: object): boolean {
  return made.has(tool)
}

type Tool = ReturnType<typeof Declared>

export function spillTool(store: SpillStore): Tool {
  const isStore = typeof store === 'object' && store !== null
  if (!isStore || typeof store.read !== 'function' || typeof store.search !== 'function')
    throw optionError(TypeError, 'store', 'a store, as createSpillStore makes it', store)
  const execute = (input: unknown): Promise<string> => answer(store, input)
  const tool = { name: 'read_output', description: DESCRIPTION, parameters: parameters(), execute } as const
  made.add(tool).add(execute)
  return tool
}

const DESCRIPTION =
  'Reads or searches the full output of an earlier tool call that was cut and saved. Give the id that its notice ' +
  'names. Without pattern: its lines, each with its number, from `line` on; a page ends with where the next begins. ' +
  'With pattern: the lines that hold it, upper and lower case told apart.'

function parameters(): Tool['parameters'] {
  const integer = (minimum: number, description: string) =>
    ({ type: 'integer', minimum, description }) as const
  return {
    type: 'object',
    properties: {
      id: {
        type: 'string',
        description: 'Id of the saved output: 16 hexadecimal digits, as the notice names it.',
      },
      line: integer(1, 'First line to read or to search, counted from 1. Default 1.'),
      byte: integer(0, 'Byte to read from instead of a line, to go on inside a very long line.'),
      lines: integer(
        1,
        `Lines to read at most. With pattern: lines to show around each match (default ${CONTEXT}).`,
      ),
      pattern: { type: 'string', description: 'Text to search for.' },
      regex: {
        type: 'boolean',
        description:
          'Whether pattern is a regular expression: no lookaround, no backreferences; (?i) ignores case.',
      },
    },
    required: ['id'],
    additionalProperties: false,
  }
}

interface Request {
  id: string
  line?: number
  byte?: number
  lines?: number
  pattern?: string
  regex: boolean
}

/** What is wrong with an input, as a sentence for the model. */
class Wrong extends Error {}

async function answer(store: SpillStore, input: unknown): Promise<string> {
  try {
    const request = requestOf(input)
    return request.pattern === undefined
      ? await page(store, request)
      : await matches(store, request, request.pattern)
  } catch (error) {
    return explain(error)
  }
}

function explain(error: unknown): string {
  if (error instanceof Wrong) return error.message
  const [code, message] = isObject(error) ? [get(error, 'code'), get(error, 'message')] : []
  if (code === 'ERR_SPILLWAY_OPTION') return `${message}.`
  if (code === 'ERR_SPILLWAY_SPILL') return `${message}. Run what made the output again if you need it.`
  return `The output could not be read (${typeof code === 'string' ? code : 'unknown error'}).`
}

/** The file's name in a path that a notice named. */
const FILE = /(?:^|[\\/])([0-9a-f]{16})\.[\w-]{1,40}\.(?:part|\d+b\.\d+l\.txt)$/

function requestOf(input: unknown): Request {
  if (typeof input !== 'object' || input === null)
    throw new Wrong('Give an object with the id of a saved output, such as {"id": "0123456789abcdef"}.')
  const value = (name: string) => given(get(input, name))
  const id = value('id')
  if (typeof id !== 'string') throw new Wrong('Give the id of a saved output, as the notice names it.')
  const pattern = value('pattern')
  if (pattern !== undefined && typeof pattern !== 'string')
    throw new Wrong(`pattern must be a text, not ${show(pattern)}.`)
  const line = whole('line', value('line'), 1)
  const byte = whole('byte', value('byte'), 0)
  const lines = whole('lines', value('lines'), 1)
  return {
    id: FILE.exec(id)?.[1] ?? id.trim(),
    ...(line === undefined ? {} : { line }),
    ...(byte === undefined ? {} : { byte }),
    ...(lines === undefined ? {} : { lines }),
    ...(pattern === undefined ? {} : { pattern }),
    regex: [true, 'true'].includes(value('regex') as string),
  }
}

/** Models that must name every parameter give null or nothing for those that they do not mean. */
function given(value: unknown): unknown {
  return value === null || value === '' ? undefined : value
}

function whole(name: string, value: unknown, least: number): number | undefined {
  if (value === undefined) return undefined
  const number = typeof value === 'string' ? Number(value) : value
  if (Number.isSafeInteger(number) && (number as number) >= least) return number as number
  throw new Wrong(`${name} must be a whole number from ${least} up, not ${show(value)}.`)
}

async function page(store: SpillStore, { id, line = 1, byte, lines = LINES }: Request): Promise<string> {
  const start = byte === undefined ? { line } : { byte }
  const slice = await store.read(id, { ...start, lines: Math.min(lines, LINES), maxBytes: PAGE })
  const total = `${slice.totalLines} lines, ${slice.totalBytes} bytes`
  const texts = slice.text.split('\n')
  if (texts.at(-1) === '') texts.pop()
  if (texts.length === 0)
    return `[${id} holds ${total}: nothing is at ${byte === undefined ? 'line' : 'byte'} ${byte ?? line}]`
  const last = slice.line + texts.length - 1
  const from = byte === undefined ? '' : ` from byte ${slice.byte}`
  return [
    `[${id}: lines ${slice.line}-${last}${from} of ${total}]`,
    ...texts.map((text, at) => `${slice.line + at}: ${shown(text)}`),
    await whatFollows(store, id, slice, last),
  ].join('\n')
}

async function whatFollows(store: SpillStore, id: string, slice: SpillSlice, last: number): Promise<string> {
  if (slice.nextLine !== undefined) return `[next: line ${slice.nextLine}]`
  if (slice.nextByte !== undefined) return `[line ${last} goes on: next is byte ${slice.nextByte}]`
  const saved = await store.list().catch(() => [])
  const record = saved.find((record) => record.id === id)
  if (record?.complete !== false) return '[end]'
  return record.bytes > slice.totalBytes
    ? `[end of what was saved: ${slice.totalBytes} of ${record.bytes} bytes]`
    : '[end of what is saved so far: the output was not finished]'
}

async function matches(
  store: SpillStore,
  { id, line = 1, lines = CONTEXT, regex }: Request,
  pattern: string,
): Promise<string> {
  const context = Math.min(lines, MOST_CONTEXT)
  const found = await store.search(id, pattern, { regex, line, context, max: MATCHES + 1 })
  const from = line > 1 ? ` from line ${line} on` : ''
  if (found.length === 0)
    return `[no line of ${id}${from} ${regex ? 'matches' : 'holds'} ${show(pattern)}; upper and lower case are told apart]`
  const rows = new Map<number, string>()
  let room = ANSWER
  let taken = 0
  for (const match of found.slice(0, MATCHES)) {
    const added = rowsOf(match).filter(([number, , isMatch]) => isMatch || !rows.has(number))
    const size = added.reduce((sum, [, text]) => sum + Buffer.byteLength(text) + 1, 0)
    if (size > room && taken > 0) break
    room -= size
    taken += 1
    for (const [number, text] of added) rows.set(number, text)
  }
  const next = found[taken]
  return [
    `[${id}: ${next ? 'the first ' : ''}${taken} matching lines${from}]`,
    ...[...rows].sort(([one], [other]) => one - other).map(([, text]) => text),
    ...(next ? [`[more: search from line ${next.line} on]`] : []),
  ].join('\n')
}

type Row = [line: number, text: string, isMatch: boolean]

/** The line that matches after ":", those around it after "-". */
function rowsOf({ line, byte, text, before, after }: SpillMatch): Row[] {
  const around = (lines: string[], first: number): Row[] =>
    lines.map((text, at) => [first + at, `${first + at}- ${shown(text)}`, false])
  const isShortened = /^\[\+\d+ bytes\]|\[\+\d+ bytes\]$/.test(text)
  const place = isShortened && byte !== undefined ? `${line} (byte ${byte})` : `${line}`
  return [
    ...around(before, line - before.length),
    [line, `${place}: ${shown(text)}`, true],
    ...around(after, line + 1),
  ]
}

const CLEANING = { repeats: false }

/** A line as a terminal would show it, unless that is longer. */
function shown(line: string): string {
  const clean = cleanText(line, CLEANING)
  return clean.length > line.length || clean.includes('\n') ? line.replace(/\r$/, '') : clean
}

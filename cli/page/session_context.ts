import { createReadStream } from 'node:fs'
import type { SessionReport } from 'spillway'
import { readShares, tokensOf } from '../../lib/context/message_tokens.js'
import { counterOf } from '../../lib/context/token_counter.js'
import { PROVIDERS } from '../../lib/media/medium.js'

/** A tool result of a session, and what a repair leaves of it. */
export interface ContextResult {
  /** The line in the file, from 1. */
  readonly row: number
  readonly tool: string
  readonly isError: boolean
  readonly tokens: number
  readonly chars: number
  readonly keptTokens: number
  readonly keptChars: number
}

/** A message of a session: the tokens of its own words, and its results. */
export interface ContextTurn {
  readonly row: number
  readonly words: number
  readonly results: readonly ContextResult[]
}

/** A large result with the text that a repair leaves. */
export interface Sample extends ContextResult {
  readonly kept: string
  /** Of the whole text. */
  readonly bytes: number
  readonly lines: number
}

/** The messages of a session in order, with the `top` largest results. */
export class SessionContext {
  readonly turns: ContextTurn[] = []
  readonly largest: Sample[] = []
  readonly #top: number
  /** Tools by row and call, as the inspection found them. */
  readonly #tools: ReadonlyMap<string, string>

  private constructor(found: SessionReport['largest'], top: number) {
    this.#tools = new Map(found.map(({ row, callId, tool = 'unknown' }) => [callOf(row, callId), tool]))
    this.#top = top
  }

  /** Reads a session, and a repaired copy of it, which has the same rows. `report`: of all its
   *  results. */
  static async read(
    file: string,
    repaired: string,
    { format, largest }: SessionReport,
    top: number,
  ): Promise<SessionContext> {
    const context = new SessionContext(largest, top)
    const isPi = format === 'pi'
    const after = rowsOf(repaired)
    let row = 0
    for await (const line of rowsOf(file)) {
      row += 1
      const { value: left = line } = await after.next()
      const message = messageIn(parsed(line), isPi)
      if (message === undefined) continue
      // A row that is unchanged is not read twice.
      context.#add(row, message, left === line ? message : messageIn(parsed(left), isPi))
    }
    return context
  }

  #add(row: number, message: object, left: object | undefined): void {
    const before = measured(message)
    const after = left === message ? before : measured(left)
    const results = before.results.map(({ result, text, tokens }, nth) => {
      const kept = after.results[nth]
      const { id, isError } = result
      const found = {
        row,
        tool: result.tool ?? this.#tools.get(callOf(row, id)) ?? 'unknown',
        isError,
        tokens,
        chars: text.length,
        keptTokens: kept?.tokens ?? 0,
        keptChars: kept?.text.length ?? 0,
      }
      this.#keep(found, text, kept?.text ?? '')
      return found
    })
    this.turns.push({ row, words: before.words, results })
  }

  /** Keeps a result if it is one of the largest. Of two of one size the first is. */
  #keep(found: ContextResult, text: string, kept: string): void {
    const at = this.largest.findIndex(({ chars }) => chars < found.chars)
    if (at < 0 && this.largest.length >= this.#top) return
    const lines = text.split('\n').length - Number(text.endsWith('\n'))
    const sample = { ...found, kept, bytes: Buffer.byteLength(text), lines }
    this.largest.splice(at < 0 ? this.largest.length : at, 0, sample)
    if (this.largest.length > this.#top) this.largest.pop()
  }
}

function callOf(row: number, id = ''): string {
  return `${row} ${id}`
}

const counter = counterOf(undefined)

/** Estimates the tokens of a message, as precheck does. */
function measured(message: unknown) {
  const shares = readShares([message], counter)
  const results = shares.flatMap(({ results }) => results)
  const texts = results.map(({ texts }) => texts.join('\n'))
  const total = tokensOf(shares, counter, PROVIDERS.length)
  const sizes = results.map(({ result, tokens }, at) => ({ result, tokens, text: texts[at] ?? '' }))
  return { words: sizes.reduce((rest, { tokens }) => rest - tokens, total), results: sizes }
}

/** Returns the value of a row, undefined if it is not JSON. */
export function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Returns the message of a row, in the places where a repair looks for it. */
export function messageIn(row: unknown, isPi: boolean): object | undefined {
  if (typeof row !== 'object' || row === null) return undefined
  const { type, role, message } = row as Record<string, unknown>
  const isWrapped = role === undefined && ['message', 'user', 'assistant'].includes(String(type))
  if (isWrapped && typeof message === 'object' && message !== null) return message
  return isPi ? undefined : row
}

const NEWLINE = 0x0a

/** Returns the lines of a file. Those of node:readline also end at other chars, which JSON may
 *  contain. */
async function* rowsOf(file: string): AsyncGenerator<string, undefined> {
  let parts: Buffer[] = []
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield textOf([...parts, chunk.subarray(start, end)])
      parts = []
      start = end + 1
    }
    parts.push(chunk.subarray(start))
  }
  yield textOf(parts)
}

function textOf(parts: readonly Buffer[]): string {
  return Buffer.concat(parts)
    .toString()
    .replace(/^\ufeff/, '')
}

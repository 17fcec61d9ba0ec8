import { readFile } from 'node:fs/promises'
import type { SessionReport } from 'spillway'
import { readUses, tokensIn } from '../../lib/context/tool_uses.js'
import { leads, PathNode, Paths, visit } from '../../lib/dialect/paths.js'
import { clearToolResults } from '../../lib/index.js'
import { isObject } from '../../lib/untrusted.js'
import { layouts } from '../../src/layouts.json'
import { messageIn, parsed } from './session_context.js'

/** A result of a session, by its call, with how often it was sent. */
export interface SentResult {
  readonly tool: string
  readonly callId?: string
  /** Tokens each time. */
  readonly tokens: number
  readonly times: number
}

/** Tokens that the requests of a session sent, and savings by clearing. Prices are in tokens of
 *  plain input. */
export interface SentReport {
  readonly requests: number
  /** Tokens that all requests sent, and those of tool results among them. */
  readonly tokens: number
  readonly resultTokens: number
  /** Results that took the most tokens in all requests. */
  readonly mostSent: readonly SentResult[]
  /** Price of all requests, as they were and with the old results cleared. */
  readonly price: number
  readonly clearedPrice: number
}

/** Prices of a token that is written to the cache and read from it, as clearToolResults assumes
 *  them. */
const PRICES = { write: 1.25, read: 0.1 }
/** Clears from the first token on. */
const CLEARING = { trigger: { type: 'input_tokens', value: 0 }, dedupe: 'near', prices: PRICES } as const

/** Reads a session, and returns what its requests sent: one before each answer of the model. */
export async function sentOf(
  file: string,
  format: SessionReport['format'],
  top: number,
): Promise<SentReport> {
  const messages = messagesOf(await readFile(file, 'utf8'), format)
  const { uses, tokens, answers } = readUses(messages)
  const results = uses.map(({ age, tokens, result: { tool = 'unknown', id } }) => ({
    tool,
    ...(id !== undefined && { callId: id }),
    tokens: Math.round(tokens),
    times: age,
  }))
  const spent = (one: SentResult) => one.tokens * one.times
  const sums = answers.map((end) => sumOf(tokens.slice(0, end)))
  return {
    requests: answers.length,
    tokens: Math.round(sumOf(sums)),
    resultTokens: sumOf(results.map(spent)),
    mostSent: results
      .filter(({ times }) => times > 0)
      .toSorted((a, b) => spent(b) - spent(a))
      .slice(0, top),
    price: priceOf(answers.map((end) => tokens.slice(0, end))),
    clearedPrice: priceOf(clearedAt(messages, answers)),
  }
}

/** Returns the tokens of each message of each request, with the old results cleared. */
function* clearedAt(messages: readonly unknown[], ends: readonly number[]): Generator<readonly number[]> {
  let state: ReturnType<typeof clearToolResults>['state'] | undefined
  for (const end of ends) {
    const made = clearToolResults(messages.slice(0, end), { ...CLEARING, state })
    state = made.state
    yield tokensIn(made.messages)
  }
}

/** Returns the price of requests. The cache of a message holds if it and all before it are as long
 *  as in the last one. */
function priceOf(requests: Iterable<readonly number[]>): number {
  let price = 0
  let before: readonly number[] = []
  for (const tokens of requests) {
    const changed = before.findIndex((one, at) => one !== tokens[at])
    const known = changed < 0 ? before.length : changed
    price += PRICES.read * sumOf(tokens.slice(0, known)) + PRICES.write * sumOf(tokens.slice(known))
    before = tokens
  }
  return Math.round(price)
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

interface Layout {
  readonly name: string
  readonly document?: readonly string[]
  /** Absent if each row is a message. */
  readonly sent?: readonly string[]
  readonly aside?: readonly string[]
}

/** Returns the messages of a session in the order of the file. */
function messagesOf(text: string, format: SessionReport['format']): unknown[] {
  const own = (layouts as readonly Layout[]).filter(({ name, sent }) => name === format && sent)
  const document = parsed(text)
  const isOf = (path: string) => isObject(document) && leads(Paths.of([path]), new PathNode(document))
  const found = own.find((one) => (one.document ? one.document.every(isOf) : !isObject(document)))
  if (found?.document) return sentIn(found, document)
  const rows = text.split('\n').map(parsed).filter(isObject)
  if (found) return rows.flatMap((row) => sentIn(found, row))
  return rows.flatMap((row) => messageIn(row, false) ?? [])
}

/** The first path leads to what is appended, any other to what replaces the history. */
function sentIn({ sent: [path = ''] = [], aside = [] }: Layout, value: unknown): unknown[] {
  if (!isObject(value) || leads(Paths.of(aside), new PathNode(value))) return []
  const messages: unknown[] = []
  visit(Paths.of([path]), value, (message) => messages.push(message))
  return messages
}

import { readFile } from 'node:fs/promises'
import type { SessionReport } from 'spillway'
import { readUses } from '../../lib/context/tool_uses.js'
import { leads, PathNode, Paths, visit } from '../../lib/dialect/paths.js'
import { isObject } from '../../lib/untrusted.js'
import { layouts } from '../../src/layouts.json'
import { clearedPriceOf } from './cleared_price.js'
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

/** Reads a session, and returns what its requests sent: one before each answer of the model. */
export async function sentOf(
  file: string,
  format: SessionReport['format'],
  top: number,
): Promise<SentReport> {
  const messages = messagesOf(await readFile(file, 'utf8'), format)
  const read = readUses(messages)
  const { uses, tokens, answers } = read
  const results = uses.map(({ age, tokens, result: { tool = 'unknown', id } }) => ({
    tool,
    ...(id !== undefined && { callId: id }),
    tokens: Math.round(tokens),
    times: age,
  }))
  const spent = (one: SentResult) => one.tokens * one.times
  // The tokens of each request: of all messages before an answer.
  const sums = [0]
  for (const [at, one] of tokens.entries()) sums.push((sums[at] ?? 0) + one)
  const requests = answers.map((end) => sums[end] ?? 0)
  return {
    requests: answers.length,
    tokens: Math.round(sumOf(requests)),
    resultTokens: sumOf(results.map(spent)),
    mostSent: results
      .filter(({ times }) => times > 0)
      .toSorted((a, b) => spent(b) - spent(a))
      .slice(0, top),
    price: priceOf(requests),
    clearedPrice: clearedPriceOf(messages, read, PRICES),
  }
}

/** Returns the price of requests of so many tokens, where each begins as the last. */
function priceOf(requests: readonly number[]): number {
  const price = (sum: number, all: number, nth: number) => {
    const cached = requests[nth - 1] ?? 0
    return sum + (PRICES.read * cached + PRICES.write * (all - cached))
  }
  return Math.round(requests.reduce(price, 0))
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

interface SentLayout {
  readonly name: string
  readonly document?: readonly string[]
  /** Absent if each row is a message. */
  readonly sent?: readonly string[]
  readonly aside?: readonly string[]
}

/** Returns the messages of a session in the order of the file. */
function messagesOf(text: string, format: SessionReport['format']): unknown[] {
  const own = (layouts as readonly SentLayout[]).filter(({ name, sent }) => name === format && sent)
  const document = parsed(text)
  const isOf = (path: string) => isObject(document) && leads(Paths.of([path]), new PathNode(document))
  const found = own.find((one) => (one.document ? one.document.every(isOf) : !isObject(document)))
  if (found?.document) return sentIn(found, document)
  const rows = text.split('\n').map(parsed).filter(isObject)
  if (found) return rows.flatMap((row) => sentIn(found, row))
  return rows.flatMap((row) => messageIn(row, false) ?? [])
}

/** The first path leads to what is appended, any other to what replaces the history. */
function sentIn({ sent: [path = ''] = [], aside = [] }: SentLayout, value: unknown): unknown[] {
  if (!isObject(value) || leads(Paths.of(aside), new PathNode(value))) return []
  const messages: unknown[] = []
  visit(Paths.of([path]), value, (message) => messages.push(message))
  return messages
}

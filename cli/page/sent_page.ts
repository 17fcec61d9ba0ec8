import { cellsOf, count, counted, lineOf, nameOf, percent } from '../term/table.js'
import { out } from '../term/terminal.js'
import type { SentReport } from './sent_session.js'

/** Columns of a tool's name at most. */
const NAME = 24

/** Formats what the requests of a session sent, and what clearing would have saved. */
export function sentPageOf({
  requests,
  tokens,
  resultTokens,
  mostSent,
  price,
  clearedPrice,
}: SentReport): string {
  if (requests === 0) return '\nIt does not say what was sent: it has no answer of the model.\n'
  const rows = mostSent.map(({ tool, callId = '', tokens, times }) => [
    nameOf(tool, NAME),
    nameOf(callId, NAME),
    count(tokens),
    count(times),
    count(tokens * times),
  ])
  const [head = [], ...body] = cellsOf([['sent most', '', 'tokens', 'times', 'together'], ...rows])
  return `${[
    '',
    `${counted(requests, 'request')} sent ${count(tokens)} tokens, ${percent(resultTokens, tokens)} of them tool results.`,
    ...(rows.length === 0 ? [] : ['', out.paint('dim', lineOf(head)), ...body.map(lineOf), '']),
    `With a prompt cache they cost as much as ${count(price)} tokens of plain input, with clearToolResults ${count(clearedPrice)}:`,
    price === clearedPrice ? 'no less.' : `${percent(price - clearedPrice, price)} less.`,
  ].join('\n')}\n`
}

import type { ClampReport, LineReason } from 'spillway'
import { oneLine } from './term/escape.js'
import { cellsOf, count, lineOf } from './term/table.js'
import { err } from './term/terminal.js'

/** Chars that a line of a table shows of a line at least. */
const SHOWN = 20

const TITLES = ['lines', 'why', 'score'] as const

/** Lines that are kept for one reason, one after the other. */
interface KeptRun extends Omit<LineReason, 'line'> {
  readonly first: number
  last: number
}

/** Returns tables of the kept lines and of the best omitted lines, each with its reason, its score,
 *  and its start. `text`: what was cut. */
export function explanationOf({ reasons = [], dropped = [] }: ClampReport, text: string): string {
  if (reasons.length === 0 && dropped.length === 0) return 'kept: all lines\n'
  const lines = text.split('\n')
  const tables = [
    ...tableOf('kept', runsOf(reasons), lines),
    ...(dropped.length > 0 ? tableOf('next with more room', dropped.map(runOf), lines) : []),
  ]
  return tables.map((line) => `${line}\n`).join('')
}

function tableOf(title: string, runs: readonly KeptRun[], lines: readonly string[]): string[] {
  const rows = runs.map(({ first, last, stream, score }) => [
    first === last ? count(first) : `${count(first)}-${count(last)}`,
    stream,
    score > 0 ? score.toFixed(1) : '',
  ])
  const cells = cellsOf([TITLES, ...rows]).map(lineOf)
  const longest = cells.reduce((most, { length }) => Math.max(most, length), 0)
  const [head = '', ...others] = cells.map((row) => row.padEnd(longest))
  const width = Math.max(err.columns - head.length - 2, SHOWN)
  const rowOf = (row: string, at: number) =>
    `${row}  ${startOf(lines[(runs[at]?.first ?? 0) - 1] ?? '', width)}`.trimEnd()
  return [`${title}:`, head.trimEnd(), ...others.map(rowOf)]
}

/** Returns the start of a line, without what would act on a terminal. */
function startOf(line: string, width: number): string {
  const said = oneLine(line.trim())
  return said.length > width ? `${said.slice(0, width - 3).toWellFormed()}...` : said
}

/** Joins lines that follow each other for the same reason. */
function runsOf(reasons: readonly LineReason[]): KeptRun[] {
  const runs: KeptRun[] = []
  for (const reason of reasons) {
    const before = runs.at(-1)
    const goesOn = before?.last === reason.line - 1 && before.stream === reason.stream
    if (before && goesOn && before.score === reason.score) before.last = reason.line
    else runs.push(runOf(reason))
  }
  return runs
}

function runOf({ line, stream, score }: LineReason): KeptRun {
  return { first: line, last: line, stream, score }
}

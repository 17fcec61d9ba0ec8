import { adviceOf, sumOf } from '../cuts.js'
import type { Args } from '../term/args.js'
import { cellsOf, count, counted, lineOf, nameOf, size } from '../term/table.js'
import { out } from '../term/terminal.js'
import { type SessionSummary, WITHIN } from './session_page.js'

/** Columns of all cells but the name of a file, with their gaps. */
const BESIDE = 46

/** Formats a line for each of several sessions, and a summary of all. */
export function sessionsPageOf(all: readonly SessionSummary[], args: Args): string {
  const width = all.reduce((most, { file }) => Math.max(most, file.length), 0)
  const name = Math.min(width, Math.max(out.columns - BESIDE, 16))
  const rows = all.map(({ file, report: { bytes, toolResults }, cuts }) => [
    endOf(nameOf(file, file.length * 6), name),
    size(bytes),
    count(toolResults),
    count(cuts.over),
    count(cuts.details),
  ])
  const [head = [], ...body] = cellsOf([['session', 'size', 'results', 'over', 'large details'], ...rows])
  const lines = body.map((cells, at) => {
    const { over = 0, details = 0 } = all[at]?.cuts ?? {}
    const line = lineOf(cells)
    return over > 0 ? out.paint('red', line) : details > 0 ? out.paint('yellow', line) : line
  })
  return `${[out.paint('dim', lineOf(head)), ...lines, '', ...summaryOf(all, args)].join('\n')}\n`
}

function summaryOf(all: readonly SessionSummary[], args: Args): string[] {
  const bytes = all.reduce((sum, { report }) => sum + report.bytes, 0)
  const cut = all.filter(({ cuts }) => cuts.over + cuts.details > 0)
  const total = `${counted(all.length, 'session')}, ${size(bytes)}`
  if (cut.length === 0) return [`${total}. ${out.paint('green', WITHIN)}`]
  const files = cut.map(({ file }) => file)
  const [first = '', ...rest] = adviceOf(
    sumOf(cut.map(({ cuts }) => cuts)),
    `, in ${counted(cut.length, 'session')}`,
    files,
    args,
  )
  return [`${total}: ${first}`, ...rest]
}

/** Keeps the end of a path, which tells files of one directory apart. */
function endOf(path: string, width: number): string {
  return path.length > width ? `...${path.slice(3 - width)}` : path
}

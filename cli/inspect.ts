import { basename } from 'node:path'
import type { SessionReport } from 'spillway'
import { inspectSession } from '../index.js'
import { type Args, type Command, checkNames } from './args.js'
import { jsonLine, oneLine } from './escape.js'
import { LIMITS, policyFlags, policyOf } from './policy.js'
import { barOf, cellsOf, count, counted, lineOf, nameOf, size, widthOf } from './table.js'
import { out, type Style } from './terminal.js'
import { naming, notASession, UsageError } from './usage_error.js'

const USAGE = 'spillway inspect FILE'

/** Rows of the two tables, which together fit a screen of 24 lines. */
const TOOLS = 8
const TOP = 5

/** Columns of a tool's name at most, and of the other columns at least. */
const NAME = 24
const BESIDE = 30

/** Columns of a bar at most, and of the percentage after it. */
const BAR = 30
const SHARE = 5

export const inspect: Command = {
  summary: 'show which tools and results take up a session',
  usage: [`${USAGE} [flags]`],
  about: `FILE is a session in JSONL: of Pi or OpenClaw up to 7, of Claude Code, or
messages of any dialect. Only reads it. Counts the results over the limits of
the policy, which a repair would cut.`,
  flags: {
    json: { help: 'print the SessionReport as JSON' },
    top: { value: 'N', help: `largest results to list (${TOP})` },
    ...policyFlags({ keep: 'auto', notice: 'pi', clean: 'never' }),
  },
  examples: [
    ['The tools and results that fill a session', 'spillway inspect session.jsonl'],
    ['The results over smaller limits', 'spillway inspect --max-bytes 10K session.jsonl'],
    ['For a script', "spillway inspect --json session.jsonl | jq '.byTool[0]'"],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const [file] = args.names
  if (file === undefined) throw new UsageError(`FILE is missing; usage: ${USAGE}`)
  checkNames(args, 1, USAGE)
  const top = args.number('top') ?? TOP
  const report = await naming(file, inspectSession(file, { ...policyOf(args), top }))
  const isJson = args.has('json')
  if (isJson) await out.write(jsonLine(report))
  if (report.format === 'unknown' && report.rows > 0) throw notASession(file)
  if (!isJson) await out.write(pageOf(file, report, args))
  return 0
}

export function damagedNote(rows: number): string {
  const [are, them] = rows === 1 ? ['is', 'it'] : ['are', 'them']
  return `${counted(rows, 'row')} ${are} not JSON; a repair leaves ${them} unchanged.`
}

const FORMATS: Record<SessionReport['format'], string> = {
  pi: 'a Pi session',
  'claude-code': 'a Claude Code session',
  messages: 'messages',
  unknown: 'nothing',
}

function pageOf(file: string, report: SessionReport, args: Args): string {
  const { format, bytes, rows, toolResults, oversized, damaged } = report
  const lines = [
    `${out.paint('bold', oneLine(basename(file)))}: ${FORMATS[format]}, ${size(bytes)} in ${counted(rows, 'row')}`,
    '',
    ...(toolResults === 0 ? ['No tool results.'] : tablesOf(report)),
  ]
  if (damaged > 0) lines.push(out.paint('yellow', damagedNote(damaged)))
  if (oversized > 0) lines.push(advice(file, report, args))
  else if (toolResults > 0) lines.push(out.paint('green', 'All results are within the limits.'))
  return `${lines.join('\n')}\n`
}

/** Formats the sizes of results by tool, and the largest results. */
function tablesOf({ toolResults, byTool, largest, bytes }: SessionReport): string[] {
  const total = byTool.reduce((sum, { chars }) => sum + chars, 0)
  const part = Math.round((100 * byTool.reduce((sum, { bytes }) => sum + bytes, 0)) / bytes)
  const name = Math.min(NAME, out.columns - BESIDE)
  const tools = byTool.slice(0, TOOLS).map(({ tool, results, chars }) => ({
    cells: [nameOf(tool, name), count(results)],
    chars,
  }))
  const others = byTool.length - tools.length
  const places = largest.map(({ row, tool = 'unknown', chars }) => ({
    cells: [nameOf(tool, name), `line ${row}`],
    chars,
  }))
  return [
    `${counted(toolResults, 'tool result')} ${toolResults === 1 ? 'holds' : 'hold'} ${count(total)} chars, ${part}% of the file.`,
    '',
    ...barred(['tool', 'results'], tools, total),
    ...(others > 0 ? [out.paint('dim', `  and ${counted(others, 'more tool')}`)] : []),
    '',
    ...(places.length === 0 ? [] : [...barred(['largest', ''], places, total), '']),
  ]
}

interface Barred {
  readonly cells: readonly string[]
  readonly chars: number
}

/** Formats a table with the chars of each row, and a bar for their share of all chars. */
function barred(heads: readonly string[], rows: readonly Barred[], total: number): string[] {
  const all = rows.map(({ cells, chars }) => [...cells, count(chars)])
  const [head = [], ...body] = cellsOf([[...heads, 'chars'], ...all])
  const width = Math.min(BAR, out.columns - widthOf(head) - SHARE - 3)
  return [
    out.paint('dim', lineOf(head)),
    ...body.map((cells, at) => {
      const share = total === 0 ? 0 : (rows[at]?.chars ?? 0) / total
      const percent = (share > 0 && share < 0.005 ? '<1%' : `${Math.round(share * 100)}%`).padStart(SHARE)
      const bar = barOf(share, width)
      const drawn = width < 4 ? '' : `  ${out.paint(shade(share), bar)}${' '.repeat(width - bar.length)}`
      return `${lineOf(cells)}${drawn}${percent}`
    }),
  ]
}

/** Returns a colour that draws attention to a large share. */
function shade(share: number): Style {
  return share >= 0.5 ? 'red' : share >= 0.2 ? 'yellow' : 'cyan'
}

function advice(file: string, { oversized }: SessionReport, args: Args): string {
  const policy = LIMITS.flatMap((flag) => (args.has(flag) ? `--${flag} ${args.text(flag)} ` : []))
  if (args.has('clean')) policy.push('--clean ')
  const [is, it] = oversized === 1 ? ['is', 'it'] : ['are', 'them']
  const found = out.paint('red', `${counted(oversized, 'result')} ${is} over the limits.`)
  return `${found} To cut ${it}:\n  spillway repair ${policy.join('')}${quoted(file)}`
}

/** Quotes a path for a shell, and so that it is not read as a flag. */
function quoted(path: string): string {
  if (path.startsWith('-')) return quoted(`./${path}`)
  return /^[\w./@%+=:,-]+$/.test(path) ? path : oneLine(`'${path.replaceAll("'", "'\\''")}'`)
}

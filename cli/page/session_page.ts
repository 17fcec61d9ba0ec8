import { basename } from 'node:path'
import type { RefusedMedia, SessionReport } from 'spillway'
import type { Cuts, Flaws } from '../../lib/session/session.js'
import { adviceOf, quoted } from '../cuts.js'
import type { Args } from '../term/args.js'
import { oneLine } from '../term/escape.js'
import { barOf, cellsOf, count, counted, lineOf, nameOf, percent, size, widthOf } from '../term/table.js'
import { out, type Style } from '../term/terminal.js'

/** A session that was read, and the counts of it. */
export interface SessionSummary {
  readonly file: string
  readonly report: SessionReport
  readonly cuts: Cuts
}

/** Rows of the two tables, which together fit a screen of 24 lines. */
const TOOLS = 8
export const TOP = 5

/** Columns of a tool's name at most, and of the other columns at least. */
const NAME = 24
const BESIDE = 30

/** Columns of a bar at most, and of the percentage after it. */
const BAR = 30
const SHARE = 5

export const WITHIN = 'All results are within the limits.'

/** Tells of rows that are not JSON, in the same words before and after a repair, and the command
 *  line that mends them. */
export function damagedNote(rows: number, file: string): string[] {
  const [are, them] = rows === 1 ? ['is', 'it'] : ['are', 'them']
  return [
    `${out.paint('yellow', `${counted(rows, 'row')} ${are} not JSON.`)} To mend ${them}:`,
    `  spillway repair --damaged mend ${quoted(file)}`,
  ]
}

/** Names the faults that no repair mends, and says what a person can do. */
export function flawLines({ invalidName, lostParent }: Flaws, file: string): string[] {
  const name = oneLine(basename(file))
  return [
    ...(invalidName === undefined
      ? []
      : [
          `Line ${invalidName} calls a tool by a name that no provider takes.`,
          '  Correct it by hand, or start a new session.',
        ]),
    ...(lostParent === undefined
      ? []
      : [
          `Line ${lostParent} follows a row that is not in the file, so nothing before it is sent.`,
          `  Look for that row in ${name}.bak or ${name}.damaged.`,
        ]),
  ]
}

export const FORMATS: Record<SessionReport['format'], string> = {
  pi: 'a Pi session',
  'claude-code': 'a Claude Code session',
  codex: 'a Codex session',
  copilot: 'a Copilot CLI session',
  'gemini-cli': 'a Gemini CLI session',
  qwen: 'a Qwen Code session',
  kimi: 'a Kimi CLI session',
  'kimi-code': 'a Kimi Code session',
  continue: 'a Continue CLI session',
  cline: 'a Cline or Roo Code session',
  opencode: 'an OpenCode session',
  messages: 'messages',
  unknown: 'nothing',
}

/** Formats all that is said of one session. */
export function pageOf({ file, report, cuts }: SessionSummary, args: Args): string {
  const { format, bytes, rows, toolResults, damaged } = report
  const lines = [
    `${out.paint('bold', oneLine(basename(file)))}: ${FORMATS[format]}, ${size(bytes)} in ${counted(rows, 'row')}`,
    '',
    ...(toolResults === 0 ? ['No tool results.'] : tablesOf(report)),
    ...(report.refused ? [...refusedLines(report.refused, file), ''] : []),
    ...(damaged > 0 ? damagedNote(damaged, file) : []),
    ...flawLines(report, file).map((line) => out.paint('yellow', line)),
    ...(cuts.over + cuts.details > 0
      ? adviceOf(cuts, '', [file], args)
      : toolResults > 0
        ? [out.paint('green', WITHIN)]
        : []),
  ]
  return `${lines.join('\n')}\n`
}

/** The words for each limit for which a payload is rejected. */
const BROKEN: Readonly<Record<Exclude<RefusedMedia['reason'], 'image_type'>, string>> = {
  budget: 'the limits',
  image_bytes: 'the size of an image',
  image_pixels: 'the pixels of an image',
  many_images_pixels: 'the pixels of an image among many',
  images: 'the number of images',
  document_bytes: 'the size of a document',
  documents: 'the number of documents',
  request_bytes: 'the bytes of a request',
}

/** Formats the payloads that providers reject, and the command line that omits those of the first
 *  provider. */
function refusedLines(refused: NonNullable<SessionReport['refused']>, file: string): string[] {
  const lines = refused.map(({ row, kind, bytes, width, height, provider, reason }) => {
    const pixels = width === undefined ? '' : ` ${width}x${height}`
    const why = reason === 'image_type' ? 'not of the type that it claims' : `over ${BROKEN[reason]}`
    return `  line ${row}: ${kind}${pixels} of ${size(bytes)}, ${why} (${provider})`
  })
  const more = lines.length - TOP
  const providers = [...new Set(refused.map(({ provider }) => provider))]
  const payloads = `${counted(new Set(refused.map(({ row, bytes, width }) => `${row} ${bytes} ${width}`)).size, 'payload')}`
  return [
    out.paint('red', `${payloads} that ${providers.join(', ')} would reject:`),
    ...lines.slice(0, TOP),
    ...(more > 0 ? [out.paint('dim', `  and ${count(more)} more`)] : []),
    'To omit what one of them rejects:',
    `  spillway repair --for ${providers[0]} ${quoted(file)}`,
  ]
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

interface BarRow {
  readonly cells: readonly string[]
  readonly chars: number
}

/** Formats a table with the chars of each row, and a bar for their share of all chars. */
function barred(heads: readonly string[], rows: readonly BarRow[], total: number): string[] {
  const all = rows.map(({ cells, chars }) => [...cells, count(chars)])
  const [head = [], ...body] = cellsOf([[...heads, 'chars'], ...all])
  const width = Math.min(BAR, out.columns - widthOf(head) - SHARE - 3)
  return [
    out.paint('dim', lineOf(head)),
    ...body.map((cells, at) => {
      const chars = rows[at]?.chars ?? 0
      const share = total === 0 ? 0 : chars / total
      const bar = barOf(share, width)
      const drawn = width < 4 ? '' : `  ${out.paint(shade(share), bar)}${' '.repeat(width - bar.length)}`
      return `${lineOf(cells)}${drawn}${percent(chars, total).padStart(SHARE)}`
    }),
  ]
}

/** Returns a colour that draws attention to a large share. */
function shade(share: number): Style {
  return share >= 0.5 ? 'red' : share >= 0.2 ? 'yellow' : 'cyan'
}

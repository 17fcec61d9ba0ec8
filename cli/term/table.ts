import { escaped } from './escape.js'
import { hasBlocks } from './terminal.js'

const GAP = '  '

/** Pads each cell to the width of its column: the first column to the right, numbers to the left.
 *  Pads before cells are painted. */
export function cellsOf(rows: readonly (readonly string[])[]): string[][] {
  const widthAt = (at: number) => rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0)
  const widths = rows[0]?.map((_, at) => widthAt(at)) ?? []
  return rows.map((row) =>
    row.map((cell, at) => (at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0))),
  )
}

export function lineOf(cells: readonly string[]): string {
  return `${GAP}${cells.join(GAP)}`.trimEnd()
}

/** Returns the columns of a line of these cells. */
export function widthOf(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + GAP.length + cell.length, 0)
}

const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/** Returns a bar for a share from 0 to 1. A share over 0 is always visible. */
export function barOf(share: number, width: number): string {
  const eighths = Math.max(Math.round(share * width * 8), share > 0 ? 1 : 0)
  if (!hasBlocks) return '#'.repeat(Math.ceil(eighths / 8))
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}

/** Formats a name for a column: ASCII-only, so that each char has the same width, and truncated to
 *  `width`. */
export function nameOf(name: string, width: number): string {
  const plain = name.replace(/[^\x20-\x7e]/g, escaped)
  return plain.length > width ? `${plain.slice(0, width - 3)}...` : plain
}

export function count(number: number): string {
  return number.toLocaleString('en-US')
}

/** Formats the share of a whole. A share below half a percent is not none. */
export function percent(part: number, all: number): string {
  const share = all === 0 ? 0 : (100 * part) / all
  return share > 0 && share < 0.5 ? '<1%' : `${Math.round(share)}%`
}

/** Returns the texts that apply: a condition in the place of a text omits it. */
export function present(...texts: readonly (string | readonly string[] | false | 0 | undefined)[]): string[] {
  return texts.flatMap((text) => text || [])
}

/** Formats a count with its noun: "1 row", "2 rows". */
export function counted(number: number, noun: string, nouns = `${noun}s`): string {
  return `${count(number)} ${number === 1 ? noun : nouns}`
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']

export function size(bytes: number): string {
  let unit = 0
  let amount = bytes
  for (; amount >= 999.5 && unit < UNITS.length - 1; unit++) amount /= 1000
  return `${unit === 0 || amount >= 99.95 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[unit]}`
}

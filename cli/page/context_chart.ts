import { count } from '../term/table.js'
import { html, type Markup } from './html.js'
import type { ContextTurn } from './session_context.js'

/** Columns at most. Of a longer session each column stands for several messages. */
const COLUMNS = 120

/** Height of the drawing, in its own units. */
const HEIGHT = 1000

/** Tools that have a colour of their own. */
export const SERIES = 5

/** The context after some message. */
interface ChartColumn {
  readonly first: number
  readonly last: number
  /** Tokens of the words, of each tool with a colour, and of all other tools. */
  readonly parts: readonly number[]
  readonly total: number
  readonly kept: number
}

/** Draws the size of the context after each message, by what it is spent on, what a repair would
 *  leave, and a window. */
export function chartOf(turns: readonly ContextTurn[], tools: readonly string[], window?: number): Markup {
  const columns = columnsOf(turns, tools)
  const last = columns.at(-1)
  if (!last) return html``
  const top = ceilingOf(isNear(window, last.total) ? Math.max(window, last.total) : last.total)
  const tall = (tokens: number) => (HEIGHT * tokens) / top
  const bars = columns.map(({ parts, first, last, total, kept }, at) => {
    let y = HEIGHT
    const drawn = parts.map((tokens, part) => {
      y -= tall(tokens)
      return tokens > 0
        ? html`<rect class="s${part}" x="${at}" y="${fixed(y)}" width="1" height="${fixed(tall(tokens))}"/>`
        : html``
    })
    const lines = first === last ? `line ${first}` : `lines ${first} to ${last}`
    const note = `${lines}: ${count(total)} tokens, ${count(kept)} after a repair`
    return html`<g><title>${note}</title>${drawn}</g>`
  })
  const steps = columns
    .map(({ kept }, at) => `${at === 0 ? 'M' : 'L'}${at} ${fixed(HEIGHT - tall(kept))}h1`)
    .join('')
  const limit = isNear(window, last.total)
    ? html`<path class="window" d="${`M0 ${fixed(HEIGHT - tall(window))}H${columns.length}`}"/>`
    : html``
  const grid = [0, 1, 2, 3].map((quarter) => `M0 ${(quarter * HEIGHT) / 4}H${columns.length}`).join('')
  return html`<div class="chart">
<div class="scale">${[4, 3, 2, 1, 0].map((quarter) => html`<span>${short((quarter * top) / 4)}</span>`)}</div>
<svg viewBox="0 0 ${columns.length} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${`Context after each message: ${count(last.total)} tokens at the end, ${count(last.kept)} after a repair`}">
<path class="grid" d="${grid}"/>${bars}<path class="kept" d="${steps}"/>${limit}</svg>
<div class="ends"><span>line ${columns[0]?.first ?? 1}</span><span>line ${last.last}</span></div>
</div>`
}

/** Returns true if a window is drawn: a context far below it would be a line at the foot of the
 *  drawing. */
export function isNear(window: number | undefined, total: number): window is number {
  return window !== undefined && window <= 4 * total
}

function columnsOf(turns: readonly ContextTurn[], tools: readonly string[]): ChartColumn[] {
  const each = Math.ceil(turns.length / COLUMNS)
  const parts = new Array<number>(tools.length + 2).fill(0)
  const columns: ChartColumn[] = []
  let kept = 0
  for (let at = 0; at < turns.length; at += each) {
    const some = turns.slice(at, at + each)
    for (const { words, results } of some) {
      parts[0] = (parts[0] ?? 0) + words
      kept += words
      for (const { tool, tokens, keptTokens } of results) {
        const series = tools.indexOf(tool)
        const part = (series < 0 ? tools.length : series) + 1
        parts[part] = (parts[part] ?? 0) + tokens
        kept += keptTokens
      }
    }
    const total = parts.reduce((sum, tokens) => sum + tokens, 0)
    columns.push({ first: some[0]?.row ?? 0, last: some.at(-1)?.row ?? 0, parts: [...parts], total, kept })
  }
  return columns
}

/** Returns a round number from `value` up whose quarter is short to write. */
function ceilingOf(value: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(value, 1)))
  return Math.max(4, ([1, 2, 4, 6, 8, 10].find((times) => times * unit >= value) ?? 10) * unit)
}

/** Formats tokens of a scale: "1.5M", "250K", "40". */
export function short(tokens: number): string {
  const [amount, unit] =
    tokens >= 1e6 ? [tokens / 1e6, 'M'] : tokens >= 1000 ? [tokens / 1000, 'K'] : [tokens, '']
  return `${Number(amount.toPrecision(3))}${unit}`
}

function fixed(number: number): number {
  return Number(number.toFixed(2))
}

import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { truncateUtf16Safe } from '../../lib/text/slice.js'
import { cutsSaid } from '../cuts.js'
import { count, counted, percent, size } from '../term/table.js'
import { chartOf, isNear, SERIES, short } from './context_chart.js'
import { STYLE } from './context_style.js'
import { html, type Markup } from './html.js'
import type { ContextTurn, Sample, SessionContext } from './session_context.js'
import { FORMATS, type SessionSummary } from './session_page.js'

/** The part of a context that one tool takes. */
interface ToolUsage {
  readonly tool: string
  results: number
  tokens: number
  kept: number
}

/** Tools in the table. */
const TOOLS = 20

/** Limits of a text, as a repair uses them. */
export interface RepairLimits {
  readonly maxBytes: number
  readonly maxLines: number
  readonly maxChars: number
  readonly maxTokens: number
}

/** Makes a page that needs nothing beside it: no script, no request, and no style but its own. */
export function contextPageOf(
  { file, report, cuts }: SessionSummary,
  context: SessionContext,
  command: string,
  limits: RepairLimits,
  window?: number,
): string {
  const { turns, largest } = context
  const usages = usagesOf(turns)
  const words = turns.reduce((sum, { words }) => sum + words, 0)
  const total = usages.reduce((sum, { tokens }) => sum + tokens, words)
  const kept = usages.reduce((sum, { kept }) => sum + kept, words)
  const found = cutsSaid(cuts)
  const name = basename(file)
  const body = html`<header><h1>${name}</h1>
<p>${FORMATS[report.format]}, ${size(report.bytes)} in ${counted(report.rows, 'row')}</p></header>
<dl>${[
    ['Context', `${short(total)} tokens`, `${percent(total - words, total)} tool results`],
    [
      'After a repair',
      `${short(kept)} tokens`,
      total === kept ? 'nothing to cut' : `${percent(total - kept, total)} less`,
    ],
    ['Tool results', count(report.toolResults), counted(usages.length, 'tool')],
    ['To cut', count(cuts.over + cuts.details), found || 'all within the limits'],
    ...(window === undefined ? [] : [windowOf(window, turns, total, kept)]),
  ].map(
    ([term = '', value = '', note = '']) =>
      html`<div><dt>${term}</dt><dd><b>${value}</b> <span>${note}</span></dd></div>`,
  )}</dl>
${found === '' ? html`` : html`<p class="advice">To cut ${cuts.over + cuts.details === 1 ? 'it' : 'them'}: <code>${command}</code></p>`}
${turns.length === 0 ? html`<p>No messages.</p>` : growth(turns, usages, window)}
${usages.length === 0 ? html`` : tableOf(usages, total)}
${largest.length === 0 ? html`` : html`<section><h2>Largest results</h2>${largest.map((sample) => sampleOf(sample, limits))}</section>`}
<footer>Tokens are estimates. All rows of the file count, in order, with those of other branches and from before a
compaction. Details beside the text, which no model reads, count in bytes of the file only.</footer>`
  return documentOf(name, body)
}

function documentOf(title: string, body: Markup): string {
  const style = createHash('sha256').update(STYLE).digest('base64')
  const head = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${`default-src 'none'; style-src 'sha256-${style}'; base-uri 'none'; form-action 'none'`}">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: context</title>
`
  return `${head.markup}<style>${STYLE}</style>\n</head>\n<body>\n${body.markup}\n</body>\n</html>\n`
}

/** Adds up what each tool takes, the largest first. */
function usagesOf(turns: readonly ContextTurn[]): ToolUsage[] {
  const all = new Map<string, ToolUsage>()
  for (const { results } of turns)
    for (const { tool, tokens, keptTokens } of results) {
      const usage = all.get(tool) ?? { tool, results: 0, tokens: 0, kept: 0 }
      usage.results += 1
      usage.tokens += tokens
      usage.kept += keptTokens
      all.set(tool, usage)
    }
  return [...all.values()].sort((one, other) => other.tokens - one.tokens)
}

/** Says whether the context fits a window, before and after a repair. */
function windowOf(window: number, turns: readonly ContextTurn[], total: number, kept: number): string[] {
  let tokens = 0
  const full = turns.find(({ words, results }) => {
    tokens += results.reduce((sum, result) => sum + result.tokens, words)
    return tokens > window
  })
  const after = kept <= window ? 'a repair makes it fit' : 'not after a repair either'
  const note = full === undefined ? 'the context fits' : `exceeded from line ${full.row} on; ${after}`
  return ['Window', `${short(window)} tokens`, `${note}, ${percent(total, window)} used`]
}

function growth(turns: readonly ContextTurn[], usages: readonly ToolUsage[], window?: number): Markup {
  const tools = usages.slice(0, SERIES).map(({ tool }) => tool)
  const names = ['messages', ...tools, ...(usages.length > SERIES ? ['other tools'] : [])]
  return html`<section><h2>Context, turn by turn</h2>
${chartOf(turns, tools, window)}
<ul class="legend">${names.map((name, at) => html`<li><svg viewBox="0 0 1 1"><rect class="s${at}" width="1" height="1"/></svg>${named(name)}</li>`)}<li><svg viewBox="0 0 4 1"><path class="kept" d="M0 .5H4"/></svg>after a repair</li>${isNear(window, totalOf(turns)) ? html`<li><svg viewBox="0 0 4 1"><path class="window" d="M0 .5H4"/></svg>window of ${short(window)} tokens</li>` : html``}</ul></section>`
}

function totalOf(turns: readonly ContextTurn[]): number {
  return turns
    .flatMap(({ results }) => results)
    .reduce(
      (sum, { tokens }) => sum + tokens,
      turns.reduce((sum, { words }) => sum + words, 0),
    )
}

function tableOf(usages: readonly ToolUsage[], total: number): Markup {
  const shown = usages.slice(0, TOOLS)
  const most = shown[0]?.tokens ?? 1
  const rest = usages.length - shown.length
  return html`<section><h2>By tool</h2><table>
<thead><tr><th>tool</th><th>results</th><th>tokens</th><th class="share">of context</th><th>after a repair</th><th class="bar"></th></tr></thead>
<tbody>${shown.map(
    ({ tool, results, tokens, kept }, at) =>
      html`<tr><th scope="row">${named(tool)}</th><td>${count(results)}</td><td>${count(tokens)}</td><td class="share">${percent(tokens, total)}</td><td>${count(kept)}</td><td class="bar">${barOf(tokens / most, kept / most, Math.min(at, SERIES) + 1)}</td></tr>\n`,
  )}</tbody></table>
<p class="note">Bars: the full color is what a repair keeps, the pale color what it cuts.</p>
${rest > 0 ? html`<p class="note">and ${counted(rest, 'more tool')}</p>` : html``}</section>`
}

/** Draws a share, and in full colour the part of it that a repair keeps. */
function barOf(share: number, kept: number, series: number): Markup {
  const wide = (part: number) => Number((100 * part).toFixed(2))
  return html`<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="s${series} cut" width="${wide(share)}" height="1"/><rect class="s${series}" width="${wide(kept)}" height="1"/></svg>`
}

function sampleOf(sample: Sample, limits: RepairLimits): Markup {
  const { tool, row, isError, chars, keptChars, tokens, kept } = sample
  const isCut = keptChars !== chars
  return html`<details><summary><b>${named(tool)}</b> <span>line ${row}${isError ? ', an error' : ''}</span> <span class="size">${count(chars)} chars, ${short(tokens)} tokens</span> <span class="${isCut ? 'less' : 'whole'}">${isCut ? `a repair keeps ${count(keptChars)} chars` : 'a repair keeps all of it'}</span>${isCut ? html` <span class="why">${whyCut(sample, limits)}</span>` : html``}</summary>
<pre tabindex="0">${markedOf(kept)}</pre></details>\n`
}

/** Says which limits a text exceeds. */
function whyCut({ bytes, lines, chars, tokens }: Sample, limits: RepairLimits): string {
  const over = [
    bytes > limits.maxBytes ? `${size(bytes)} of ${size(limits.maxBytes)}` : [],
    lines > limits.maxLines ? `${counted(lines, 'line')} of ${count(limits.maxLines)}` : [],
    chars > limits.maxChars ? `${counted(chars, 'char')} of ${count(limits.maxChars)}` : [],
    tokens > limits.maxTokens ? `${counted(tokens, 'token')} of ${count(limits.maxTokens)}` : [],
  ].flat()
  return over.length > 0
    ? `over the limits: ${over.join(', ')}`
    : 'within the limits, but cleaned or redacted'
}

/** Marks what tells of missing text: lines of their own, and marks within a line. */
function markedOf(text: string): Markup[] {
  return text
    .split(
      /(^\[[^\n]*(?:truncated|omitted|lines|chars)[^\n]*\]$|\[\.\.\. [\d,]+ (?:more )?(?:chars|characters|lines)[^\]\n]*\]|\[\+[\d,]+ chars\])/m,
    )
    .map((part, at) => (at % 2 === 1 ? html`<mark>${part}</mark>` : html`${part}`))
}

/** Chars of a tool's name at most: a model may call any name. */
const NAME = 60

function named(tool: string): string {
  return tool.length > NAME ? `${truncateUtf16Safe(tool, NAME)}...` : tool
}

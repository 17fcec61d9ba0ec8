// Growth with the size of a text: 1 KB to 100 MB.
import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import {
  clampError,
  clampResult,
  clampText,
  clampTextWithReport,
  classifyProviderError,
  cleanText,
  definePolicy,
  estimateTokens,
  formatProcessOutput,
  measureText,
  redactText,
  sanitizeForDisplay,
} from 'spillway'
import * as daycare from 'spillway/daycare'
import * as openclaw from 'spillway/openclaw'
import * as own from 'spillway/pi'
import stripAnsi from 'strip-ansi'
import { findings } from '../findings.mjs'
import * as pi from '../node_modules/@earendil-works/pi-coding-agent/dist/core/tools/truncate.js'
import { ascii, cjk, counted, diff, logs } from '../texts.mjs'

const KEPT = 51_200
const SECRET = /(?:gh[pousr]|sk|xox[abpr]|AKIA|AIza|glpat|npm)[-_]?\w{16,}/g
const head = definePolicy({ keep: 'head' })
const tail = definePolicy({ keep: 'tail' })
const few = { maxChars: 8_000 }
const everything = { maxBytes: Infinity, maxLines: Infinity }
const noMedia = { media: { maxItems: 0 } }

/** Flat texts of such a size, of the same part again and again. */
export const repeat = (part) => (size) =>
  Buffer.from(part.repeat(Math.ceil(size / part.length)).slice(0, size)).toString()
const log = repeat(logs(1e6))
const page = repeat('<p class="text">Some <b>bold</b> words &amp; <a href="/terms?a=1">a link</a></p>\n')
const lines = repeat(counted('ASCII', 1e6))
const result = (text) => ({ content: [{ type: 'text', text }] })
const resultOf = (make) => (size) => result(make(size))
const image = (size) =>
  `Saved: ${Buffer.concat([Buffer.from('89504e470d0a1a0a0000000d4948445200000500000002d00806', 'hex'), Buffer.alloc(size * 0.75)]).toString('base64')}\n`
const refusal = (size) => ({ status: 400, message: `prompt is too long; the request: ${ascii(size)}` })
const copy = { 'a copy of what stays': (text) => Buffer.from(text.slice(0, KEPT), 'utf16le') }

const drawn = [
  ['clampText, head', ascii, (text) => clampText(text, head), { 'Pi truncateHead': pi.truncateHead }, copy],
  ['clampText, tail', ascii, (text) => clampText(text, tail), { 'Pi truncateTail': pi.truncateTail }, copy],
  [
    'clampText, bytes of CJK',
    (size) => Buffer.from(cjk(Math.ceil(size / 3))),
    (bytes) => clampText(bytes, head),
    { 'toString, then Pi': (bytes) => pi.truncateHead(bytes.toString()) },
    { 'a copy of what stays': (bytes) => bytes.toString('utf8', 0, KEPT) },
  ],
  [
    'clampTextWithReport',
    ascii,
    (text) => clampTextWithReport(text, head),
    { 'Pi truncateHead': pi.truncateHead },
  ],
  [
    "clampText, 'findings' of a log",
    log,
    (text) => clampText(text, { keep: 'findings', ...few }),
    { 'plain JavaScript': (text) => findings(text, few.maxChars) },
  ],
  [
    "clampText, 'auto' with a query",
    lines,
    (text) => clampText(text, { query: 'where is number 123 of the usual kind', ...few }),
  ],
  ['measureText', ascii, measureText, { 'split into lines': (text) => text.split('\n').length }],
  ['estimateTokens', log, estimateTokens, { 'gpt-tokenizer': (text) => encode(text).length }],
  ['cleanText, a diff in colour', diff, (text) => cleanText(text), { 'strip-ansi': stripAnsi }],
  ['cleanText, nothing to clean', lines, (text) => cleanText(text), { 'strip-ansi': stripAnsi }],
  [
    'redactText, no secret',
    log,
    (text) => redactText(text),
    { 'one RegExp': (text) => text.replace(SECRET, '') },
  ],
  [
    'spillway/pi truncateTail',
    ascii,
    (text) => own.truncateTail(text),
    { 'Pi truncateTail': pi.truncateTail },
  ],
]

const listed = [
  ['clampText, ends', ascii, (text) => clampText(text, { keep: 'ends' })],
  ['clampText, one line', repeat('x'), (text) => clampText(text)],
  ['clampText, a limit in tokens', ascii, (text) => clampText(text, { keep: 'head', maxTokens: 8_000 })],
  [
    'clampText, a limit in lines alone',
    ascii,
    (text) => clampText(text, { keep: 'tail', maxBytes: Infinity }),
  ],
  [
    'clampText, a limit on lines',
    repeat(`${'x'.repeat(500)}\n`),
    (text) => clampText(text, { maxLineBytes: 200 }),
  ],
  [
    'clampText, all but a char',
    ascii,
    (text) => clampText(text, { ...everything, maxChars: text.length - 1 }),
  ],
  ['clampText, lone surrogates', (size) => '\ud800'.repeat(size), (text) => clampText(text, everything)],
  [
    'clampText, all lines are findings',
    repeat('error: failed\n'),
    (text) => clampText(text, { keep: 'findings', ...few }),
  ],
  [
    'clampText, earlier notices',
    repeat('[... 12 more characters truncated]\n'),
    (text) => clampText(text, few),
  ],
  ['clampText, redacted', log, (text) => clampText(text, { redact: true })],
  ['cleanText, a progress display', repeat('\r 12% of 100\x1b[K'), (text) => cleanText(text)],
  ['cleanText, pages of HTML', page, (text) => cleanText(text, { html: true })],
  ['cleanText, tags without end', repeat('<'), (text) => cleanText(`<p>${text}`, { html: true })],
  ['cleanText, cursor movements', repeat('line\n\x1b[5A'), (text) => cleanText(text)],
  ['cleanText, sequences without end', repeat('\x1b]0;a'), (text) => cleanText(text)],
  [
    'redactText, nothing but secrets',
    repeat('ghp_abcdefghijklmnopqrstuvwxyz0123456789\n'),
    (text) => redactText(text),
  ],
  ['redactText, starts of keys', repeat('-----BEGIN RSA PRIVATE KEY-----\n'), (text) => redactText(text)],
  ['sliceUtf16Safe', ascii, (text) => openclaw.sliceUtf16Safe(text, 1, -1)],
  ['truncateUtf16Safe', ascii, (text) => openclaw.truncateUtf16Safe(text, text.length - 1)],
  ['clampResult, one block', resultOf(ascii), (value) => clampResult(value)],
  ['clampResult, cleaned', resultOf(diff), (value) => clampResult(value, { clean: true })],
  ['clampResult, media, a payload', image, (text) => clampResult(text, noMedia)],
  [
    'clampResult, media, starts of payloads',
    repeat('data:image/png;base64,'),
    (text) => clampResult(text, noMedia),
  ],
  ['clampError', ascii, (text) => clampError(new Error(text))],
  ['sanitizeForDisplay', resultOf(ascii), (value) => sanitizeForDisplay(value)],
  ['formatProcessOutput', log, (text) => formatProcessOutput({ stdout: text, stderr: text, exitCode: 1 })],
  ['classifyProviderError', refusal, (error) => classifyProviderError(error)],
  ['spillway/pi truncateHead', ascii, (text) => own.truncateHead(text)],
  ['spillway/pi truncateLine', repeat('x'), (text) => own.truncateLine(text)],
  ['spillway/daycare stringTruncateTail', ascii, (text) => daycare.stringTruncateTail(text, 8_000)],
  ['spillway/daycare formatExecOutput', ascii, (text) => daycare.formatExecOutput(text, text, true)],
  [
    'spillway/openclaw truncateToolResultText',
    ascii,
    (text) => openclaw.truncateToolResultText(text, 40_000),
  ],
  [
    'spillway/openclaw truncateTextByLinesAndBytesUtf8',
    ascii,
    (text) => openclaw.truncateTextByLinesAndBytesUtf8(text),
  ],
  ['spillway/openclaw countBytesUtf8', ascii, openclaw.countBytesUtf8],
  ['spillway/openclaw countLines', ascii, openclaw.countLines],
  [
    'spillway/openclaw sliceToolResultTextToBudget',
    ascii,
    (text) => openclaw.sliceToolResultTextToBudget(text, 40_000),
  ],
  [
    'spillway/openclaw toolResultFitsBudget',
    ascii,
    (text) => openclaw.toolResultFitsBudget(text, { maxChars: 1e12, maxContextChars: 1e12 }),
  ],
  ['spillway/openclaw sanitizeToolResult', resultOf(ascii), (value) => openclaw.sanitizeToolResult(value)],
]

export const texts = {
  what: 'a text',
  unit: 'B',
  sizes: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8],
  floor: { 'one pass': (given) => Buffer.byteLength(textIn(given)) },
  drawn,
  listed,
}

function textIn(given) {
  if (typeof given === 'string' || ArrayBuffer.isView(given)) return given
  return given.message ?? given.content[0].text
}

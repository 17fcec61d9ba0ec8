// estimateTokens beside a real tokenizer, over many kinds of text and over real files.
//   npm run bench:tokens           the tables, written to bench/TOKENS.md
//   node bench/tokens.mjs --check  the tables alone; fails where a text misses the bounds, as the other form does
import { readFileSync, writeFileSync } from 'node:fs'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { estimateTokens } from 'spillway'
import { corpus, unseen } from './corpus.mjs'
import { files } from './files.mjs'

/** The most that an estimate may be off, in percent. */
const LOW = -15
const HIGH = 50
const FILES = 200

const percent = (estimated, real) => (estimated / real - 1) * 100
const signed = (off) => `${off < 0 ? '-' : '+'}${Math.abs(off).toFixed(0)} %`
const grouped = (number) => number.toLocaleString('en-US')

const missed = []

/** How far off the estimate of a text is, in percent, and what a table says of it. */
function measured(name, text) {
  // The tokenizer of text alone: what looks like a control token is text too.
  const real = countTokens(text, { disallowedSpecial: new Set() })
  const estimated = estimateTokens(text)
  const off = percent(estimated, real)
  if (off < LOW || off > HIGH) missed.push(`${name}: ${signed(off)}`)
  const quarter = signed(percent(Math.ceil(text.length / 4), real))
  return { off, cells: [grouped(real), grouped(estimated), signed(off), quarter] }
}

const table = (columns, rows) =>
  [columns, ['---', ...columns.slice(1).map(() => '--:')], ...rows]
    .map((row) => `| ${row.join(' | ')} |`)
    .join('\n')
const head = ['tokens', 'estimate', 'off', 'chars/4']

const kinds = table(
  ['kind (fitted; held out)', ...head, ...head.map((cell, at) => (at === 0 ? `held out: ${cell}` : cell))],
  corpus.map(([kind, fitted, heldOut]) => [
    kind,
    ...measured(`${kind}, fitted`, fitted).cells,
    ...measured(`${kind}, held out`, heldOut).cells,
  ]),
)
const others = table(
  ['kind (put aside)', ...head],
  unseen.map(([kind, text]) => [kind, ...measured(kind, text).cells]),
)

const offs = files(FILES)
  .map(([path, text]) => measured(path, text).off)
  .sort((a, b) => a - b)
const part = (share) => signed(offs[Math.round(share * (offs.length - 1))])
const real = table(
  ['files', 'lowest', 'of 5 in 100 lower', 'median', 'of 5 in 100 higher', 'highest'],
  [[offs.length, ...[0, 0.05, 0.5, 0.95, 1].map(part)]],
)

const tables = { kinds, others, files: real }
for (const text of Object.values(tables)) console.log(`${text}\n`)

if (!process.argv.includes('--check')) {
  const page = new URL('TOKENS.md', import.meta.url)
  let text = readFileSync(page, 'utf8')
  for (const [name, rows] of Object.entries(tables)) {
    const between = new RegExp(`(?<=<!-- ${name} -->\\n)[\\s\\S]*?(?=<!-- end -->)`)
    if (!between.test(text)) throw new Error(`bench/TOKENS.md has lost a marker of its table ${name}`)
    text = text.replace(between, () => `${rows}\n`)
  }
  writeFileSync(page, text)
}
if (offs.length < FILES) missed.push(`only ${offs.length} files`)
console.log(
  missed.length
    ? `Outside of ${LOW} to +${HIGH} %: ${missed.join('; ')}`
    : `All within ${LOW} to +${HIGH} %.`,
)
process.exitCode = missed.length ? 1 : 0

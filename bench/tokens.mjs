// estimateTokens beside a real tokenizer, over many kinds of text.
//   npm run bench:tokens           the table, written to docs/tokens.md
//   node bench/tokens.mjs --check  the table alone; fails where a kind misses the bounds, as the other form does
import { readFileSync, writeFileSync } from 'node:fs'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { estimateTokens } from 'spillway'
import { corpus } from './corpus.mjs'

/** The most that an estimate may be off, in percent. */
const LOW = -15
const HIGH = 50

const percent = (estimated, real) => (estimated / real - 1) * 100
const signed = (off) => `${off < 0 ? '-' : '+'}${Math.abs(off).toFixed(0)} %`
const grouped = (number) => number.toLocaleString('en-US')

const missed = []
const rows = corpus.map(([kind, ...texts]) => {
  const cells = texts.flatMap((text, at) => {
    // The tokenizer of text alone: what looks like a control token is text too.
    const real = countTokens(text, { disallowedSpecial: new Set() })
    const off = percent(estimateTokens(text), real)
    if (off < LOW || off > HIGH) missed.push(`${kind}, ${at ? 'held out' : 'fitted'}: ${signed(off)}`)
    const quarter = signed(percent(Math.ceil(text.length / 4), real))
    return [grouped(real), grouped(estimateTokens(text)), signed(off), quarter]
  })
  return `| ${kind} | ${cells.join(' | ')} |`
})

const head = ['tokens', 'estimate', 'off', 'chars/4']
const table = [
  `| kind (fitted; held out) | ${[...head, ...head.map((cell, at) => (at === 0 ? `held out: ${cell}` : cell))].join(' | ')} |`,
  `|---|${'--:|'.repeat(head.length * 2)}`,
  ...rows,
].join('\n')
console.log(table)

if (!process.argv.includes('--check')) {
  const page = new URL('../docs/tokens.md', import.meta.url)
  const text = readFileSync(page, 'utf8')
  const between = /(?<=<!-- table -->\n)[\s\S]*(?=<!-- end -->)/
  if (!between.test(text)) throw new Error('docs/tokens.md has lost a marker of its table')
  writeFileSync(
    page,
    text.replace(between, () => `${table}\n`),
  )
}
console.log(
  missed.length
    ? `\nOutside of ${LOW} to +${HIGH} %: ${missed.join('; ')}`
    : `\nAll within ${LOW} to +${HIGH} %.`,
)
process.exitCode = missed.length ? 1 : 0

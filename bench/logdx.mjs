// Scores cuts of CI logs by the benchmark LogDx-CI without a model: node bench/logdx.mjs DIR
//
// DIR holds manifest.json, a list of { id, signals }, and a log of each case as ID.log.gz. A signal
// is { value, aliases, file, importance, evidence_lines }: it survives if its value, an alias or
// its file stands in the cut text without colours, or if all lines of its ranges [first, last] are
// kept. A row shows the mean share of the critical signals that survive, and the share of the cases
// that lose none of them, in percent.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { clampTextWithReport, cleanText } from 'spillway'

const LIMITS = [4_000, 8_000, 16_000, 51_200]
const WAYS = {
  findings: { keep: 'findings' },
  'findings, cleaned': { keep: 'findings', clean: true },
  "'auto', not known to be an error": {},
  head: { keep: 'head' },
  tail: { keep: 'tail' },
  'ends, 20 % head': { keep: 'ends', headShare: 0.2 },
}

const [dir] = process.argv.slice(2)
if (dir === undefined) {
  console.error('Usage: npm run bench:logdx -- DIR (a folder with manifest.json and ID.log.gz)')
  process.exit(2)
}
const cases = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8')).map(({ id, signals }) => ({
  text: gunzipSync(readFileSync(join(dir, `${id}.log.gz`))).toString(),
  critical: signals.filter(({ importance }) => importance === 'critical'),
}))

/** Returns a test of lines, 1-based, that are kept whole by ranges of chars. */
function keptLines(text, ranges) {
  const ends = [...text.matchAll(/\r?\n|$/g)].map(({ index }) => index)
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)]
  return (line) => ranges.some(([start, end]) => start <= starts[line - 1] && ends[line - 1] <= end)
}

function survives(signal, shown, isKept) {
  const { value, aliases, file, evidence_lines: ranges } = signal
  const texts = [value, ...(aliases ?? []), file].filter((text) => text?.trim())
  if (texts.some((text) => shown.includes(text.trim()))) return true
  const lines = (ranges ?? []).flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => first + at),
  )
  return isKept !== undefined && lines.length > 0 && lines.every(isKept)
}

function score({ text, critical }, { clean, ...policy }, maxChars) {
  const input = clean ? cleanText(text) : text
  const { text: cut, ranges } = clampTextWithReport(input, {
    maxBytes: Number.POSITIVE_INFINITY,
    maxLines: Number.POSITIVE_INFINITY,
    maxChars,
    ...policy,
  })
  const isKept = clean ? undefined : keptLines(text, ranges)
  const shown = cleanText(cut, { repeats: false })
  const kept = critical.filter((signal) => survives(signal, shown, isKept)).length
  return critical.length === 0 ? 1 : kept / critical.length
}

const percent = (share) => (100 * share).toFixed(0)
console.log(`| ${cases.length} logs | ${LIMITS.map((limit) => limit.toLocaleString('en-US')).join(' | ')} |`)
console.log(`|---|${LIMITS.map(() => '--:').join('|')}|`)
for (const [name, policy] of Object.entries(WAYS)) {
  const cells = LIMITS.map((limit) => {
    const shares = cases.map((one) => score(one, policy, limit))
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length
    return `${percent(mean)} / ${percent(shares.filter((share) => share === 1).length / shares.length)}`
  })
  console.log(`| ${name} | ${cells.join(' | ')} |`)
}

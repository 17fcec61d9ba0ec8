// Redacts long texts that are full of beginnings of secrets, and asks if time is linear: `npm run
// soak:redact`.
//   node scripts/soak/redact.mjs [MB of the longest text, 4 unless given] [nth, of]
//
// A text is one unit, repeated: each beginning of src/redact/*.json behind each joint, each form
// with each word, forms within forms, and several units in turn. No newline ends the values of most.

import { redactText } from 'spillway'
import formats from '../../src/redact/formats.json' with { type: 'json' }
import keys from '../../src/redact/keys.json' with { type: 'json' }
import { forms } from './secret_forms.mjs'

/** Least MB a second, and most that twice the text may take. Short times differ by chance. */
const SPEED = 20
const GROWTH = 2.6
const SHORT = 60
/** Times that a case may be measured: a busy machine holds up single runs. */
const RUNS = 4

const WORDS = ['password', 'token', 'API_KEY', 'clientSecret', 'pwd', 'x.auth_token', 'authorization']
const VALUES = [
  '',
  'abc',
  '/srv/x/',
  'x^',
  'v1.2',
  'a,',
  '!',
  '-1;',
  '&b',
  '%7',
  '\\',
  '\\"',
  "'",
  '{',
  ':',
  '+/',
]
const JOINTS = [
  '',
  '=',
  ': ',
  ':',
  '="',
  "='",
  '\\"',
  ' ',
  '/',
  '.',
  '+',
  ',',
  ';',
  '&',
  '>',
  '">',
  '-',
  '--',
  '|',
]

const [, , size = '4', nth = '0', of = '1'] = process.argv
const units = cases()
const mine = units.filter((_, at) => at % Number(of) === Number(nth))
let worst = { speed: Number.POSITIVE_INFINITY, unit: '' }
let unmet = 0
for (const unit of mine) measure(unit)
console.log(
  `${mine.length} texts of up to ${size} MB: ${unmet} slow; the slowest takes ${worst.speed.toFixed(0)} MB/s: ${JSON.stringify(worst.unit)}`,
)
if (unmet > 0) process.exitCode = 1

/** Returns all units, each once. */
function cases() {
  const begins = [...formats.flatMap((format) => format.anchors), ...keys.flatMap((key) => key.prefixes)]
  const repeated = begins.flatMap((begin) => JOINTS.flatMap((joint) => [begin + joint, joint + begin]))
  const named = WORDS.flatMap((word) =>
    Object.values(forms).flatMap(({ make }) => VALUES.map((value) => make(word, value))),
  )
  const flat = named.map((text) => text.replace(/\s+/g, ' '))
  const tight = named.map((text) => text.replace(/\s+/g, ''))
  const nested = Object.values(forms).flatMap(({ make }, at) =>
    Object.values(forms).map((inner, other) =>
      make(
        WORDS[at % WORDS.length],
        inner.make(WORDS[other % WORDS.length], VALUES[(at + other) % VALUES.length]),
      ),
    ),
  )
  const all = [
    ...repeated,
    ...named,
    ...flat,
    ...tight,
    ...nested,
    ...nested.map((text) => text.replace(/\s+/g, '')),
  ]
  const turns = all.map(
    (text, at) => text + all[(at * 7 + 3) % all.length] + all[(at * 31 + 11) % all.length],
  )
  return [...new Set([...all, ...turns])].filter((text) => text !== '')
}

function measure(unit) {
  const times = [4, 2, 1].map((part) => {
    const bytes = (Number(size) * 1e6) / part
    const text = unit.repeat(Math.ceil(bytes / unit.length))
    return { bytes: text.length, seconds: () => time(text) }
  })
  let verdict = ''
  for (let run = 0; run < RUNS; run++) {
    const [one, two, four] = times.map(({ seconds }) => seconds())
    const speed = times[2].bytes / 1e6 / four
    if (run === 0 || speed > verdict.speed) verdict = { speed, unit }
    const isSlow = speed < SPEED
    const isLonger = four * 1e3 > SHORT && (two > one * GROWTH || four > two * GROWTH)
    verdict.isMet = !isSlow && !isLonger
    if (verdict.isMet) break
  }
  if (!verdict.isMet) {
    unmet += 1
    console.log(`${verdict.speed.toFixed(2)} MB/s: ${JSON.stringify(unit)}`)
  }
  if (verdict.speed < worst.speed) worst = verdict
}

function time(text) {
  const start = performance.now()
  redactText(text)
  return (performance.now() - start) / 1e3
}

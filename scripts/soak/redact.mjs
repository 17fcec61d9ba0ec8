// Redacts long texts that are full of beginnings of secrets, and asks if time is linear: `npm run
// soak:redact`.
//   node scripts/soak/redact.mjs [MB of the longest text, 4 unless given] [a text of each so many, 1]
//
// A text is one unit, repeated: each beginning of src/redact/*.json behind each joint, each form
// with each word, forms within forms, and several units in turn. In most no newline ends a value.

import { readFileSync } from 'node:fs'
import { redactText } from 'spillway'
import { secondsOf, untilMet } from './measure.mjs'
import { forms } from './secret_forms.mjs'

const table = (name) =>
  JSON.parse(readFileSync(new URL(`../../src/redact/${name}.json`, import.meta.url), 'utf8'))
const [formats, keys] = [table('formats'), table('keys')]

/** Least MB a second of the processor, how many times as long twice the text may take, and seconds
 *  too short to tell. */
const SPEED = 20
const GROWTH = 2.6
const SHORT = 0.06

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

const [, , size = '4', each = '1'] = process.argv
const units = cases()
const mine = units.filter((_, at) => at % Number(each) === 0)
let worst = { speed: Number.POSITIVE_INFINITY, unit: '' }
let unmet = 0
for (const unit of mine) await measure(unit)
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

/** Measures three lengths of a text. */
async function measure(unit) {
  const texts = [4, 2, 1].map((part) => unit.repeat(Math.ceil((Number(size) * 1e6) / part / unit.length)))
  const { speed, isMet } = await untilMet(
    async () => {
      const seconds = []
      for (const text of texts) seconds.push(await secondsOf(() => redactText(text)))
      const [one, two, four] = seconds
      const isLinear = four < SHORT || (two < one * GROWTH && four < two * GROWTH)
      const speed = texts[2].length / 1e6 / four
      return { speed, isMet: speed >= SPEED && isLinear }
    },
    ({ isMet }) => isMet,
  )
  if (!isMet) {
    unmet += 1
    console.log(`**not met**, ${speed.toFixed(2)} MB/s: ${JSON.stringify(unit)}`)
  }
  if (speed < worst.speed) worst = { speed, unit }
}

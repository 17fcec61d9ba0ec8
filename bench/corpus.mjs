// Texts of many kinds in two sets: one that the weights of estimateTokens were adjusted on, and one
// that they never saw. They were written for the purpose, or are files and recorded outputs of this
// project, or are generated the same every time.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

const root = new URL('..', import.meta.url)
const bytesOf = (path) => readFileSync(new URL(path, root))
const file = (path) => bytesOf(path).toString()
const recorded = (name) => gunzipSync(bytesOf(`__test__/outputs/${name}.txt.gz`)).toString()

/** Both sets of a kind that was written for the purpose, under one name or two. */
const written = (kind, fitted, held = fitted) => [
  kind,
  file(`bench/corpus/fitted/${fitted}.txt`),
  file(`bench/corpus/held-out/${held}.txt`),
]

/** A small generator of our own, so that the texts never change. */
function random(seed) {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const next = random(20)
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at))
const noise = (count) => Buffer.from(times(count, () => next(256)))
const lines = (text, width) => text.match(new RegExp(`.{1,${width}}`, 'g')).join('\n')

/** Bytes as programs have them: words, zeros, small numbers, text. */
const program = (count) => {
  const parts = [
    () => noise(4),
    () => Buffer.alloc(2 + next(9)),
    () => Buffer.from([next(9), 0, 0, 0]),
    () => Buffer.from('value_of_item\0'),
  ]
  return Buffer.concat(times(count, () => parts[next(parts.length)]()))
}

/** Bytes as `xxd` and `hexdump -C` print them. */
function dump(bytes, group) {
  const rows = times(Math.ceil(bytes.length / 16), (row) => bytes.subarray(row * 16, row * 16 + 16))
  return rows
    .map((row, at) => {
      const hex = row
        .toString('hex')
        .match(new RegExp(`.{1,${group}}`, 'g'))
        .join(' ')
      const shown = row.toString('latin1').replace(/[^ -~]/g, '.')
      const place = (at * 16).toString(16).padStart(8, '0')
      return group === 2 ? `${place}  ${hex}  |${shown}|` : `${place}: ${hex}  ${shown}`
    })
    .join('\n')
}

const uuid = () =>
  noise(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
const row = (at) => [
  at + 1,
  next(100_000),
  (next(1e6) / 1_000).toFixed(3),
  `2026-0${1 + next(9)}-${10 + next(18)}`,
  next(2) ? 'yes' : 'no',
]
const table = (rows, separator) => times(rows, (at) => row(at).join(separator)).join('\n')
const record = (at) => ({
  id: at,
  uuid: uuid(),
  name: `user ${next(900)}`,
  tags: ['new', 'paid'].slice(next(2)),
  score: next(1000) / 10,
  active: next(2) === 1,
})

/** A progress bar with this many full places. */
const bar = ([full, empty], width, at) => full.repeat(at) + empty.repeat(width - at)
const sequence = (letters, rows) =>
  times(rows, () => times(60, () => letters[next(letters.length)]).join('')).join('\n')
const page = (at) => ({ ...record(at), path: `C:\\work\\page-${at}.txt`, text: 'he said "no"\n' })
/** JSON in a string of JSON, so many times. */
const nested = (depth, rows) =>
  times(depth, (at) => at).reduce((value) => JSON.stringify(value), times(rows, page))

/** Kind, fitted, held out. */
export const corpus = [
  written('English prose', 'english'),
  ['Markdown', file('README.md'), file('docs/what-survives.md')],
  ['TypeScript', file('lib/result/wrap_tool.ts'), file('lib/result/clamp_result.ts')],
  ['JavaScript', file('bench/findings.mjs'), file('bench/pi.test.mjs')],
  ['Rust', file('src/truncate/fit.rs'), file('src/selection/mod.rs')],
  written('Python; Go', 'python', 'go'),
  written('C; Java', 'c', 'java'),
  written('shell script; SQL', 'shell', 'sql'),
  ['log of a build', recorded('cargo-build-script-vv'), recorded('make-keep-going-parallel')],
  ['log of a service', recorded('python-logging-one-row-of-1800'), recorded('python-tqdm-one-sheet')],
  ['log of tests', recorded('vitest-tap-one-of-1000'), recorded('pytest-captured-log')],
  [
    'log in colour',
    file('__test__/outputs/cargo-build-tty-progress.txt'),
    file('__test__/outputs/vitest-tty-timeout.txt'),
  ],
  ['list of files', recorded('ls-recursive'), recorded('tsc-list-files')],
  ['JSON', file('package.json'), file('__test__/outputs/manifest.json')],
  ['JSON on one line', JSON.stringify(times(60, record)), recorded('vitest-json-green')],
  [
    'JSON lines',
    recorded('node-json-log-dropped-order'),
    times(60, (at) => JSON.stringify({ level: 'info', time: 1767348000000 + at * 977, ...record(at) })).join(
      '\n',
    ),
  ],
  ['diff', recorded('git-apply-reject'), recorded('vitest-diff-large')],
  [
    'stack traces',
    file('__test__/outputs/vitest-unhandled-rejection.txt'),
    file('__test__/outputs/python-chained-traceback.txt'),
  ],
  ['table of numbers', table(150, ','), table(150, '\t')],
  ['base64', noise(6_000).toString('base64'), lines(program(500).toString('base64'), 76)],
  [
    'hex',
    noise(4_000).toString('hex'),
    times(60, (at) => `${noise(32).toString('hex')}  src/file-${at}.ts`).join('\n'),
  ],
  ['hex dump', dump(program(300), 4), dump(program(300), 2)],
  ['UUIDs', times(100, uuid).join('\n'), times(100, () => `{"id":"${uuid()}"}`).join(',')],
  [
    'white space',
    times(200, () => `${' '.repeat(next(40))}item ${next(50)}\n${'\n'.repeat(next(2))}`).join(''),
    times(200, () => `${'\t'.repeat(next(8))}<li>${' '.repeat(next(12))}</li>\n`).join(''),
  ],
  [
    'rules and boxes',
    times(40, (at) => `${'-=*#_~'[at % 6].repeat(20 + next(60))}\n${at}. part\n`).join(''),
    times(40, () => `├──${'─'.repeat(next(30))} part\n│   └── leaf\n`).join(''),
  ],
  written('Chinese', 'chinese'),
  written('Japanese', 'japanese'),
  written('Korean', 'korean'),
  written('Arabic', 'arabic'),
  written('Russian', 'russian'),
  written('Hindi', 'hindi'),
  written('German; French', 'german', 'french'),
  written('Thai; Polish', 'thai', 'polish'),
  written('emoji', 'emoji'),
  written('Finnish', 'finnish'),
  written('Hungarian', 'hungarian'),
  written('Swahili', 'swahili'),
  written('Basque', 'basque'),
  written('Welsh', 'welsh'),
  written('Vietnamese', 'vietnamese'),
  written('Hebrew with points', 'hebrew'),
  written('Arabic with vowels', 'arabic-marks'),
  [
    'progress bars; spinners',
    times(60, (at) => `${bar('█░', 30, next(31))} ${at}%\n`).join('') +
      times(30, () => `|${bar('█▓', 20, next(21))}| ${bar('●○', 5, next(6))}\n`).join(''),
    times(80, (at) => `${'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'[at % 10]} building ${bar('▰▱', 10, next(11))}\n`).join(''),
  ],
  ['DNA; protein', sequence('ACGT', 40), sequence('ACDEFGHIKLMNPQRSTVWY', 25)],
  ['JSON in JSON', nested(2, 30), nested(3, 20)],
  [
    'mathematics; figures',
    '∀x∈ℝ: ⌈x⌉ = −⌊−x⌋, α ∧ ¬β ≡ ¬(¬α ∨ β), ∑ᵢ₌₁ⁿ xᵢ² ≤ ∫₀^∞ f(t)dt\n'.repeat(10),
    '♜♞♝♛♚♝♞♜\n♟♟♟♟♟♟♟♟\n♙♙♙♙♙♙♙♙\n♖♘♗♕♔♗♘♖\n☐ open ☑ done ✗ lost\n'.repeat(10),
  ],
]

/** Kinds that no weight was adjusted to, one text of each. */
export const unseen = [
  ...[
    ...[
      'Turkish',
      'Estonian',
      'Latin',
      'Tagalog',
      'Greek',
      'Tamil',
      'LaTeX',
      'assembly',
      'regexes',
      'stylesheet',
    ],
    ...['HTTP headers', 'chess game', 'manifest in YAML', 'drawing in SVG'],
  ].map((kind) => [
    kind,
    file(
      `bench/corpus/unseen/${kind
        .toLowerCase()
        .match(/^http (.*)|^\S+/)
        .findLast(Boolean)}.txt`,
    ),
  ]),
  [
    'coordinates in GeoJSON',
    JSON.stringify({
      type: 'LineString',
      coordinates: times(80, () => [next(36e6) / 1e5 - 180, next(18e7) / 1e6 - 90]),
    }),
  ],
]

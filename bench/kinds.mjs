// Twelve kinds of text that tools print, each of any size and the same every time, and the search
// that a program writes by hand for them.
import { readdirSync, readFileSync } from 'node:fs'

const root = new URL('..', import.meta.url)

/** The texts of the files in a folder of this project whose name ends so. */
function files(folder, end) {
  const names = readdirSync(new URL(folder, root), { recursive: true }).filter((name) => name.endsWith(end))
  return names.sort().map((name) => readFileSync(new URL(`${folder}${name}`, root), 'utf8'))
}

/** Numbers below a number, the same every time. */
function random(seed) {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const HAN = '設定を読み込み中に接続先の処理を終了して結果を一覧へ書き出す前に確認した利用者の画面で表示'
const ERROR = 'error: request to 10.0.0.7:5432 failed: connect ECONNREFUSED'

/** The next line of each kind, by its number. */
const PARTS = {
  'TypeScript sources': () => cycle(files('lib/', '.ts')),
  'lines all unlike': (next) => () => `${words(next, 4 + next(9), 26)}\n`,
  'one error line, repeated': () => () => `${ERROR}\n`,
  'the same with two CJK chars': () => () => `${ERROR} 失敗\n`,
  CSV: (next) => (at) =>
    `${at},user${next(9_999)},${words(next, 1, 26)}@example.com,2026-0${1 + next(9)}-1${next(9)},${next(99_999) / 100},${next(2) === 0}\n`,
  'one line of JSON': (next) => (at) =>
    `{"id":${at},"name":"${words(next, 2, 26)}","tags":["${words(next, 1, 26)}"],"size":${next(9_999)},"open":true},`,
  minified: () => cycle(files('lib/', '.ts').map(minified)),
  'CJK prose': (next) => () =>
    `${Array.from({ length: 9 + next(40) }, () => HAN[next(HAN.length)]).join('')}。\n`,
  'blank lines': () => () => '\n',
  base64: (next) => () => `${Buffer.from(Array.from({ length: 57 }, () => next(256))).toString('base64')}\n`,
  Markdown: () => cycle(files('docs/', '.md')),
  'coloured test output': (next) => (at) =>
    at % 50 === 49
      ? `\x1b[31m ✗ ${words(next, 4, 26)}\x1b[39m\n\x1b[31m   AssertionError: expected ${at} to be ${next(99)}\x1b[39m\n`
      : ` \x1b[32m✓\x1b[39m ${words(next, 5, 26)} \x1b[33m${next(99)}\x1b[2mms\x1b[22m\x1b[39m\n`,
}

/** A module on one line, without its comments. */
const minified = (text) => `${text.replace(/^ *\/?\*.*|\/\/.*$/gm, '').replace(/\s+/g, ' ')}\n`

const cycle = (texts) => (at) => texts[at % texts.length]

function words(next, count, letters) {
  const word = () => String.fromCharCode(...Array.from({ length: 3 + next(7) }, () => 97 + next(letters)))
  return Array.from({ length: count }, word).join(' ')
}

export const KINDS = Object.keys(PARTS)

/** A text of a kind with so many chars, flat in memory as the output of a process is. */
export function textOf(kind, chars) {
  const [part, parts] = [PARTS[kind](random(7)), []]
  for (let at = 0, size = 0; size < chars; at++) {
    parts.push(part(at))
    size += parts[at].length
  }
  return Buffer.from(parts.join('').slice(0, chars)).toString()
}

const FAILURE = /\b(?:error|fail(?:ed|ure)?|fatal|panic|exception|denied|refused|cannot|timed? ?out)\b/i

/** The lines with a word of failure. */
export const grep = (text) => text.split('\n').filter((line) => FAILURE.test(line))

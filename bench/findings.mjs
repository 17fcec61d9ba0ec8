// keep 'findings' as one would first write it: the same words and shapes, by splitting, regular
// expressions and a sort.

const WEIGHTS = new Map(
  Object.entries({
    9: 'panicked segfault sigsegv sigabrt',
    8: 'fatal panic deadlock',
    7: 'fail failed denied refused',
    6: 'error exception failure critical rejected conflict conflicts conflicting malformed corrupt unresolved cannot unable unsatisfied unmet violates enoent eacces eperm econnrefused',
    5: 'aborted crash crashed killed mismatch mismatched invalid illegal unexpected undefined uninitialised uninitialized missing violation destroyed overflow',
    4: 'errors failures traceback abort unreachable timeout',
    3: 'destroy leak',
    2: 'skipped expected want',
    1: 'actual received',
    '-2': 'info debug note help',
    '-3': 'deprecated',
    '-5': 'warning warn',
  }).flatMap(([weight, words]) => words.split(' ').map((word) => [word, Number(weight)])),
)
const PHRASES = Object.entries({
  'not found': 6,
  'not ok': 8,
  'not defined': 6,
  'not assignable': 3,
  'no such': 7,
  'could not': 7,
  "couldn't": 6,
  "can't": 4,
  'does not exist': 6,
  'caused by': 6,
  '[cause]': 7,
  'core dumped': 8,
  'exit code': 3,
  'exit status': 3,
  'exited with': 3,
  'out of memory': 7,
  'is not': 1,
  'stack trace': 2,
  'most recent call last': 2,
})
const WORD = /[a-z]\w*/gi
const NAME = /[a-z](?:Error|Exception)$/
const PLACE = /[\w./-]+\.\w+[:(]\d+/
const STATUS = /" 5\d\d |\bHTTP\/[\d.]+ [45]\d\d\b|"status": ?5\d\d/
const LEVEL = /"(?:level|severity)": ?(?:[56]\d|"(?:error|fatal|critical|high)")|severity: (?:high|critical)/i
const NUMBER = /[=:]\s*-?(?:nan|inf)\b/i
const CODE = /(?:^|[:\s])[EF]\d{3,4}:? /
const GLYPH = /^\s{0,8}[✕✗✘×●❌⨯]/u
const MARK = 24
const BEFORE = 2
const AFTER = 3

function score(line) {
  let [best, less, hits] = [0, 0, 0]
  const hit = (weight) => {
    best = Math.max(best, weight)
    hits++
  }
  for (const { 0: word, index } of line.slice(0, 600).matchAll(WORD)) {
    const weight = WEIGHTS.get(word.toLowerCase())
    const [before, after] = [line.slice(0, index), line.slice(index + word.length)]
    if (weight === undefined) {
      if (NAME.test(word)) hit(after.startsWith(':') ? 10 : 4)
    } else if (/[/\\.$-]$/.test(before) || /^(?:[/\\=-]|\.\w)/.test(after)) {
      // A part of a path or a name.
    } else if (weight < 0) {
      less = Math.min(less, weight)
    } else if (!/(?:^|[^0-9.])(?:0|no) (?:\w+ )?$/i.test(before) && !/^\s*[:=]\s*0\b/.test(after)) {
      const marked = /^[:[\]!]/.test(after) ? 3 : 0
      const shouted = word.length > 3 && word === word.toUpperCase() ? 2 : 0
      hit(weight + marked + shouted + (/^\s*\S{0,3}\s*$/.test(before) ? 2 : 0))
    }
  }
  const low = line.toLowerCase()
  for (const [phrase, weight] of PHRASES) if (low.includes(phrase)) hit(weight)
  if (GLYPH.test(line)) best = Math.max(best, 8)
  if (best > 0 && PLACE.test(line)) best += 2
  if (STATUS.test(line)) best = Math.max(best, 6)
  if (best > 0) best += Math.min(Math.max(hits - 1, 0), 2)
  if (LEVEL.test(line)) best = Math.max(best, 7)
  if (NUMBER.test(line) || CODE.test(line)) best = Math.max(best, 6)
  return best + (best >= 8 ? less / 2 : less)
}

const likeness = (line) =>
  line
    .slice(0, 160)
    .replace(/"[^"]*"|'[^']*'|`[^`]*`/g, 'Q')
    .replace(/0x[0-9a-f]+|\d+/gi, '0')
    .replace(/\s+/g, ' ')

/** Keeps up to `max` chars: some of both ends, and the lines with the highest scores with the lines
 *  around them. */
export function findings(text, max) {
  if (text.length <= max) return text
  const lines = text.split('\n')
  const kept = new Set()
  let room = max
  const keep = (at) => {
    if (at < 0 || at >= lines.length || kept.has(at)) return true
    if (lines[at].length + 1 > room) return false
    kept.add(at)
    room -= lines[at].length + 1
    return true
  }
  for (let at = 0; room > max * 0.85 && keep(at); ) at++
  for (let at = lines.length - 1; room > max * 0.55 && keep(at); ) at--
  const seen = new Map()
  const found = []
  for (const [at, line] of lines.entries()) {
    const worth = score(line)
    if (worth < 4) continue
    const like = likeness(line)
    const before = seen.get(like) ?? 0
    seen.set(like, before + 1)
    found.push({ at, worth: worth * 0.5 ** before })
  }
  found.sort((a, b) => b.worth - a.worth || a.at - b.at)
  for (const { at } of found) {
    if (room < MARK) break
    room -= MARK
    for (let near = at - BEFORE; near <= at + AFTER; near++) keep(near)
  }
  for (let at = lines.length - 1; at >= 0 && keep(at); ) at--
  let before = -1
  const parts = []
  for (const at of [...kept].sort((a, b) => a - b)) {
    if (at !== before + 1) parts.push(`[... ${at - before - 1} lines ...]`)
    parts.push(lines[at])
    before = at
  }
  return parts.join('\n')
}

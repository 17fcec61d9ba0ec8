// Growth of every public function that takes a size, beside peers and floors: pictures and tables of docs/speed.md.
//   npm run bench:growth                          all of it, written to docs/
//   node --expose-gc bench/growth.mjs texts clean      the cases of one picture whose name holds a word, printed
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { blocks } from './growth/blocks.mjs'
import { chart, duration, kindOf } from './growth/chart.mjs'
import { json } from './growth/json.mjs'
import { messages } from './growth/messages.mjs'
import { needlesOf as needles } from './growth/needles.mjs'
import { exponent, pointsOf } from './growth/points.mjs'
import { streams } from './growth/streams.mjs'
import { texts } from './growth/texts.mjs'

const PICTURES = { texts, json, messages, blocks, needles, streams }
/** Above it, a case grows faster than its input. */
const LINEAR = 1.1

const docs = new URL('../docs/', import.meta.url)
const [picture, word = ''] = process.argv.slice(2)

/** Cases of a picture: `[name, input, ours, peers, floor, fresh, sizes]`, of which the last four may be left out. */
function casesOf({ drawn, listed, floor: least, sizes: all }) {
  return [...drawn, ...listed].map(([name, input, ours, peers, floor = least, fresh, sizes = all], at) => ({
    ...{ name, input, fresh, sizes },
    lines: { ours, ...peers, ...floor },
    floor: Object.keys(floor)[0],
    isDrawn: at < drawn.length,
  }))
}

/** Measures a case in a process of its own: what the one before it left in memory decides much. */
function measured(name, at) {
  const args = ['--expose-gc', '--max-old-space-size=6000', fileURLToPath(import.meta.url), name, `=${at}`]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1e8 }))
}

if (word.startsWith('=')) {
  console.log(JSON.stringify(await pointsOf(casesOf(PICTURES[picture])[word.slice(1)])))
  process.exit()
}

const said = (unit) => (size) => {
  const [power, letter] = size >= 1e6 ? [1e6, 'M'] : size >= 1e3 ? [1e3, 'K'] : [1, '']
  return `${size / power}${unit || size >= 1e6 ? ` ${letter}${unit}` : letter && ',000'}`
}
const times = (value) => `${value < 9.95 ? value.toFixed(1) : value.toFixed(0)}x`
const table = (head, rows) =>
  [
    `| ${head.join(' | ')} |`,
    `|${head.map((_, at) => (at ? '--:' : '---')).join('|')}|`,
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')

/** What is said of a case: its last point, how it grows, and how often a peer and the floor take its time there. */
function summary({ name, floor, points, unit }) {
  const { ours, ...others } = points
  const [size, ms] = ours.at(-1)
  const beside = (other) => {
    const both = ours.filter(([size]) => others[other].some(([its]) => its === size)).at(-1)
    return both && others[other].find(([its]) => its === both[0])[1] / both[1]
  }
  const peers = Object.keys(others).filter((other) => other !== floor)
  return {
    ...{ name, ms, size: said(unit)(size), grows: exponent(ours) },
    peers: peers.map((peer) => [peer, beside(peer)]),
    floor: floor && [floor, 1 / beside(floor), exponent(others[floor])],
  }
}

const shown = (value) => value?.toFixed(2) ?? '-'
const all = {}
for (const [name, { unit, ...rest }] of Object.entries(PICTURES)) {
  if (picture && name !== picture) continue
  all[name] = []
  for (const [at, one] of casesOf({ unit, ...rest }).entries()) {
    if (!one.name.includes(word)) continue
    const points = measured(name, at)
    all[name].push({ ...one, unit, points })
    for (const [line, its] of Object.entries(points)) {
      const row = its.map(([size, ms]) => `${said(unit)(size)} ${duration(ms)}`).join(', ')
      console.log(
        `${shown(exponent(its))}  ${line === 'ours' ? `${name}: ${one.name}` : `      ${line}`}: ${row}`,
      )
    }
  }
}

if (!picture) {
  for (const [name, cases] of Object.entries(all)) {
    const { what, unit, sizes } = PICTURES[name]
    const panels = cases
      .filter(({ isDrawn }) => isDrawn)
      .map(({ name, floor, points }) => ({
        title: name,
        lines: Object.entries(points).map(([line, its]) => [
          line === 'ours' ? 'spillway' : line,
          kindOf(line, floor),
          its,
        ]),
      }))
    const label = `Time over the size of ${what}: ${panels.map(({ title }) => title).join('; ')}`
    writeFileSync(new URL(`speed-${name}.svg`, docs), chart({ label, sizes, say: said(unit), panels }))
  }
  const rows = Object.values(all).flat().map(summary)
  const floorOf = ({ floor }) => (floor ? [`${floor[0]} ${times(floor[1])}`, shown(floor[2])] : ['-', '-'])
  const faster = rows
    .filter(({ grows }) => grows > LINEAR)
    .map((row) => [row.name, row.size, duration(row.ms), shown(row.grows), shown(row.floor?.[2])])
  const slower = rows.flatMap(({ name, size, ms, peers }) =>
    peers
      .filter(([, ratio]) => ratio < 1)
      .map(([peer, ratio]) => [name, size, duration(ms), `${peer} ${times(ratio)}`]),
  )
  const every = rows.map((row) => [
    row.name,
    row.size,
    duration(row.ms),
    shown(row.grows),
    row.peers.map(([peer, ratio]) => `${peer} ${times(ratio)}`).join('; '),
    floorOf(row)[0],
  ])
  const [cpu] = os.cpus()
  const parts = {
    machine: `${cpu?.model ?? 'Unknown processor'}, ${os.cpus().length} cores, Node ${process.versions.node}.`,
    faster: table(['case', 'at', 'takes', 'exponent', "floor's"], faster),
    slower: table(['case', 'at', 'takes', 'faster than the peer'], slower),
    every: table(['case', 'at', 'takes', 'exponent', 'faster than the peer', 'times the floor'], every),
  }
  const page = new URL('speed.md', docs)
  const renewed = Object.entries(parts).reduce(
    (text, [name, part]) =>
      text.replace(
        new RegExp(`(<!-- ${name} -->\n)[^]*?(<!-- end -->)`),
        (_, start, end) => `${start}${part}\n${end}`,
      ),
    readFileSync(page, 'utf8'),
  )
  writeFileSync(page, renewed)
}

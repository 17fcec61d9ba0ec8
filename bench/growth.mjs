// Growth of every public function that takes a size, beside peers and floors: pictures and tables
// of docs/speed.md.
//   npm run bench:growth                       all of it, written to docs/
//   node bench/growth.mjs texts clean          the cases of one picture whose name holds a word, printed
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { blocks } from './growth/blocks.mjs'
import { duration } from './growth/chart.mjs'
import { json } from './growth/json.mjs'
import { messages } from './growth/messages.mjs'
import { needlesOf as needles } from './growth/needles.mjs'
import { draw, said, write } from './growth/page.mjs'
import { exponent, pointsOf } from './growth/points.mjs'
import { streams } from './growth/streams.mjs'
import { texts } from './growth/texts.mjs'

const PICTURES = { texts, json, messages, blocks, needles, streams }
const [picture, word = ''] = process.argv.slice(2)

/** Cases of a picture: `[name, input, ours, peers, floor, fresh, sizes]`. The last four may be left
 *  out. */
function casesOf({ drawn, listed, floor: least, sizes: all, unit }) {
  return [...drawn, ...listed].map(([name, input, ours, peers, floor = least, fresh, sizes], at) => ({
    ...{ name, input, fresh, sizes: sizes ?? all, unit: sizes ? '' : unit },
    lines: { ours, ...peers, ...floor },
    floor: Object.keys(floor)[0],
    isDrawn: at < drawn.length,
  }))
}

/** Measures a case in a process of its own: what the one before it left in memory decides much. */
function measured(name, at) {
  const args = ['--max-old-space-size=6000', fileURLToPath(import.meta.url), name, `=${at}`]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

if (word.startsWith('=')) {
  console.log(JSON.stringify(await pointsOf(casesOf(PICTURES[picture])[word.slice(1)])))
  process.exit()
}

const all = []
for (const [name, settings] of Object.entries(PICTURES)) {
  if (picture && name !== picture) continue
  const cases = []
  for (const [at, one] of casesOf(settings).entries()) {
    if (!one.name.includes(word)) continue
    const points = measured(name, at)
    cases.push({ ...one, points })
    for (const [line, its] of Object.entries(points)) {
      const row = its.map(([size, ms]) => `${said(one.unit)(size)} ${duration(ms)}`).join(', ')
      console.log(
        `${exponent(its)?.toFixed(2)}  ${line === 'ours' ? `${name}: ${one.name}` : `    ${line}`}: ${row}`,
      )
    }
  }
  if (!picture) draw(name, settings, cases)
  all.push(...cases)
}
if (!picture) write(all)

// The pictures and tables of docs/speed.md and bench/GROWTH.md, made of the points of all cases.
import { readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { chart, duration } from './chart.mjs'
import { exponent } from './points.mjs'

/** Above it a case grows faster than its input, unless its floor does too: beyond the caches all
 *  memory is slower. */
const LINEAR = 1.1
const docs = new URL('../../docs/', import.meta.url)

/** Writes a size: 10 KB, 1,000. */
export const said = (unit) => (size) => {
  if (!unit) return size.toLocaleString('en-US')
  return size >= 1e6 ? `${size / 1e6} M${unit}` : size >= 1e3 ? `${size / 1e3} K${unit}` : `${size} ${unit}`
}

/** Draws the cases of one picture that are for drawing. */
export function draw(name, { what, unit, sizes }, cases) {
  const panels = cases
    .filter(({ isDrawn }) => isDrawn)
    .map(({ name, floor, points }) => ({
      title: name,
      lines: Object.entries(points).map(([line, its]) =>
        line === 'ours' ? ['spillway', 'ours', its] : [line, line === floor ? 'floor' : 'peer', its],
      ),
    }))
  const label = `Time over the size of ${what}: ${panels.map(({ title }) => title).join('; ')}`
  writeFileSync(new URL(`speed-${name}.svg`, docs), chart({ label, sizes, say: said(unit), panels }))
}

/** Writes the tables into the pages, each between its marks. */
export function write(cases) {
  const rows = cases.map(summary)
  const over = rows.filter(({ grows }) => grows > LINEAR).sort((a, b) => b.grows - a.grows)
  const faster = over.filter(({ grows, floor }) => grows > Math.max(1, floor?.grows ?? 1) + LINEAR - 1)
  const slower = rows.filter(({ peer }) => peer?.times < 1).sort((a, b) => a.peer.times - b.peer.times)
  const [cpu] = os.cpus()
  const parts = {
    machine: `${cpu?.model ?? 'Unknown processor'}, ${os.cpus().length} cores, Node ${process.versions.node}; ${rows.length} cases.`,
    faster: table(
      ['case', 'at', 'takes', 'exponent', 'of its floor'],
      faster.map(({ name, at, takes, grows, floor }) => [name, at, takes, shown(grows), shown(floor?.grows)]),
    ),
    memory: `${over.length - faster.length} more have an exponent over ${LINEAR}, but not by 0.1 over that of their floor.`,
    slower: table(
      ['case', 'at', 'takes', 'peer', 'faster than it'],
      slower.map(({ name, peer }) => [name, peer.at, peer.takes, peer.name, times(peer.times)]),
    ),
  }
  const all = {
    every: table(
      ['case', 'at', 'takes', 'exponent', 'peer', 'faster than it', 'floor', 'times the floor'],
      rows.map(({ name, at, takes, grows, peer, floor }) => [
        ...[name, at, takes, shown(grows)],
        ...(peer ? [peer.name, times(peer.times)] : ['', '']),
        ...(floor ? [floor.name, times(1 / floor.times)] : ['', '']),
      ]),
    ),
  }
  fill(new URL('speed.md', docs), parts)
  fill(new URL('../GROWTH.md', import.meta.url), all)
}

/** Writes parts of a page between their marks. */
function fill(page, parts) {
  let text = readFileSync(page, 'utf8')
  for (const [name, part] of Object.entries(parts)) {
    const [before, rest] = text.split(`<!-- ${name} -->\n`)
    text = `${before}<!-- ${name} -->\n${part}\n${rest.slice(rest.indexOf('<!-- end -->'))}`
  }
  writeFileSync(page, text)
}

/** Cells of a case: its last point, how it grows, and how it compares at the last size that both
 *  have. */
function summary({ name, unit, floor, points }) {
  const { ours, ...others } = points
  const beside = (other) => {
    const [size, ms] = ours.findLast(([size]) => others[other].some(([its]) => its === size))
    const [, its] = others[other].find(([at]) => at === size)
    return {
      ...{ name: other, at: said(unit)(size), takes: duration(ms) },
      ...{ times: its / ms, grows: exponent(others[other]) },
    }
  }
  const [size, ms] = ours.at(-1)
  const peer = Object.keys(others).find((other) => other !== floor)
  return {
    ...{ name, at: said(unit)(size), takes: duration(ms), grows: exponent(ours) },
    ...{ peer: peer && beside(peer), floor: floor && beside(floor) },
  }
}

const shown = (value) => value?.toFixed(2) ?? '-'
const times = (value) => {
  const digits = value < 0.095 ? 3 : value < 0.95 ? 2 : value < 9.95 ? 1 : 0
  return `${Number(value.toFixed(digits)).toLocaleString('en-US')}x`
}
function table(head, rows) {
  const lines = [head, head.map((name) => (WORDS.has(name) ? '---' : '--:')), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
/** Columns of words. */
const WORDS = new Set(['case', 'peer', 'floor'])

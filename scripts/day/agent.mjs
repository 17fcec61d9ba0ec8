// Random agents that work for a day. The number of an agent determines it.
//
// The figures below were counted in recorded sessions of coding agents; nothing else of those is
// here. 60,872 results: 7.9 % have over 8,000 chars and 3.8 % over 16,000, which a lognormal size
// fits. Of 486 long results whose words were used within five answers, the share whose words an
// answer used for the first time, by how many answers later it came. Later uses were not recorded:
// `old` is drawn for each agent.
import { random } from '../soak/simulation.mjs'

const SIZE = { mean: 6.31, deviation: 1.9 }
const USED = [293, 139, 97, 85, 87]

/** Prices of a token, of the plain price of input: cache writes, cache reads. */
export const PRICES = [
  { name: 'Anthropic', write: 1.25, read: 0.1, input: 1 },
  { name: 'OpenAI', write: 1, read: 0.1, input: 1 },
  { name: 'Gemini', write: 1, read: 0.25, input: 1 },
]
export const WINDOWS = [32_000, 128_000, 200_000, 1_000_000]

/** Ways in which agents differ, to see that nothing is fitted to one. `old`: share of requests that
 *  need a result of more than five answers ago; `recent`: of those that need a later one. */
export const KINDS = {
  counted: { old: [0.01, 0.15], recent: 0.7, again: 0.25 },
  forgetful: { old: [0.002, 0.004], recent: 0.4, again: 0.05 },
  returning: { old: [0.25, 0.35], recent: 0.9, again: 0.5 },
}

/** Returns an agent: its window, and its turns as names, sizes and needs of results. */
export function agentOf(number, kind = 'counted') {
  const rng = random(Math.imul(number + 1, 0x9e3779b1) ^ 0x5bd1e995)
  const normal = () => Math.sqrt(-2 * Math.log(1 - rng.next())) * Math.cos(2 * Math.PI * rng.next())
  const { old, recent, again } = KINDS[kind]
  const calls = rng.scaled(200, 2_000)
  const window = rng.pick(WINDOWS)
  const prices = rng.pick(PRICES)
  const oldShare = old[0] * (old[1] / old[0]) ** rng.next()
  const scale = Math.exp(normal() / 2)
  /** Chars of the longest result: tools are bounded to a tenth of the window. */
  const longest = Math.min(60_000, window * 0.36)
  const size = () =>
    Math.round(Math.min(longest, Math.max(20, scale * Math.exp(SIZE.mean + SIZE.deviation * normal()))))
  const files = []
  const fresh = () => {
    files.push({ path: `src/part${files.length}.ts`, version: 0, chars: size() })
    return files.at(-1)
  }
  const callOf = () => {
    const kind = rng.next()
    if (kind < 0.15) {
      const file = files.length > 0 && rng.next() < 0.7 ? rng.pick(files) : fresh()
      file.version += 1
      return {
        tool: 'write',
        path: file.path,
        argument: Math.min(longest, rng.scaled(200, 10_000)),
        chars: 40,
      }
    }
    if (kind < 0.55) {
      const { path, version, chars } = files.length > 0 && rng.next() < again ? rng.pick(files) : fresh()
      return { tool: 'read', path, version, chars }
    }
    if (kind < 0.57) return { tool: 'screenshot', path: 'screen', chars: 0 }
    return { tool: 'run', path: `task${rng.below(1e6)}`, chars: size() }
  }
  const turns = []
  for (let made = 0; made < calls; ) {
    const count = rng.next() < 0.8 ? 1 : 1 + rng.below(4)
    const own = Array.from({ length: count }, (_, at) => ({
      id: `call_${made + at}`,
      seed: made + at,
      ...callOf(),
    }))
    made += count
    const needs = []
    const need = (age) => {
      const call = rng.pick(turns[Math.max(0, turns.length - 1 - age)].calls)
      if (call.tool === 'read' || call.tool === 'run') needs.push(call)
    }
    if (turns.length > 0 && rng.next() < recent) need(weighted(rng, USED))
    if (turns.length > USED.length && rng.next() < oldShare)
      need(Math.floor(USED.length * (turns.length / USED.length) ** rng.next()))
    turns.push({ words: rng.scaled(60, 900), calls: own, needs })
  }
  const told = rng.next() < 1 / 6 ? Math.round(window * (1 + rng.next())) : window
  return {
    number,
    kind,
    window,
    told,
    prices,
    turns,
    system: rng.scaled(5_000, window > 1e5 ? 45_000 : 15_000),
  }
}

function weighted(rng, weights) {
  let left = rng.next() * weights.reduce((sum, one) => sum + one, 0)
  return weights.findIndex((one) => {
    left -= one
    return left < 0
  })
}

/** Writes messages of an agent in the form of Anthropic. */
export class Writer {
  #lines
  /** Texts of results by what they show, since the same call on the same file shows the same. */
  #shown = new Map()

  constructor(lines) {
    this.#lines = lines
  }

  text(chars, seed) {
    const parts = []
    for (let [left, at] = [chars, Math.imul(seed + 1, 2_654_435_761) >>> 0]; left > 0; at++) {
      const line = this.#lines[at % this.#lines.length]
      parts.push(line.slice(0, left))
      left -= line.length
    }
    return parts.join('')
  }

  /** Returns what a call shows. A file that was written shows a few other lines than before. */
  shown({ tool, path, version = 0, chars, seed }) {
    if (tool !== 'read') return this.text(chars, seed)
    const name = `${path} ${version}`
    if (!this.#shown.has(name)) {
      const text = this.text(chars, Number(path.match(/\d+/)) + 7_000)
      const changes = Array.from({ length: version }, (_, at) => `// change ${at} of ${path}\n`)
      this.#shown.set(name, `${changes.join('')}${text}`)
    }
    return this.#shown.get(name)
  }

  answer(words, calls) {
    const text = this.text(words, calls[0].seed + 31)
    const uses = calls.map(({ id, tool, path, argument, input, seed }) => ({
      type: 'tool_use',
      id,
      name: tool,
      input: input ?? { path, ...(argument && { content: this.text(argument, seed + 77) }) },
    }))
    return frozen({ role: 'assistant', content: [{ type: 'text', text }, ...uses] })
  }

  results(calls) {
    return frozen({
      role: 'user',
      content: calls.map((call) => ({
        type: 'tool_result',
        tool_use_id: call.id,
        content: call.tool === 'screenshot' ? [IMAGE] : (call.shows ?? this.shown(call)),
      })),
    })
  }
}

/** Freezes a message, so that nothing can change it for the next policy. */
function frozen(value) {
  for (const member of Object.values(value)) if (typeof member === 'object') frozen(member)
  return Object.freeze(value)
}

/** A screenshot of 1,092 by 1,092 pixels, with the least bytes that say so. */
const PNG = Buffer.from('89504e470d0a1a0a0000000d494844520000044400000444080200000000000000', 'hex')
const IMAGE = {
  type: 'image',
  source: {
    type: 'base64',
    media_type: 'image/png',
    data: Buffer.concat([PNG, Buffer.alloc(3_000)]).toString('base64'),
  },
}

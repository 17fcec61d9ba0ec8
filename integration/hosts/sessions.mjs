// Sessions that a host writes by itself, and the ways to open them.
import assert from 'node:assert/strict'
import { ask, drive } from './drive.mjs'
import { filesIn } from './homes.mjs'
import { memoryOf, opened, promptOf } from './memory.mjs'
import { DONE } from './provider.mjs'
import { faultsOf } from './rules.mjs'

const LAST = promptOf(99)
const FORK = promptOf(98)

/** Puts words on one line, without the folders of paths. */
export const oneLine = (text, most = 300) =>
  text
    .replaceAll(/\s*\n\s*/g, ' / ')
    .replaceAll(/[^\s"'(]*\/([^\s"'/)]*)/g, '$1')
    .slice(-most)

const asker =
  (host, home) =>
  (...asked) =>
    ask(host, home, ...asked)

/** Makes a session and returns all that was sent of it, by key. A result that a run begins with,
 *  and that was not sent before, is the host's own for one that is missing. */
export async function make(host, home, { runs, edit, hasFork }) {
  const known = new Map()
  const own = new Set()
  const answers = []
  const main = () => filesIn(home, host.sessions)[0]
  const start = async (steps, options) => {
    const { code, requests, said } = await drive(host, steps, { home, ...options })
    if (!options.kill) assert.equal(code, 0, said)
    for (const [nth, request] of requests.entries())
      for (const entry of memoryOf(request)) {
        const { key, kind } = entry
        if (nth === 0 && kind === 'result' && !known.has(key)) own.add(key)
        if (!own.has(key)) known.set(key, entry)
      }
    // The last answer of a run is sent by the next one only.
    answers.push(...steps.flatMap(({ text, hangs }) => (text && !hangs ? [text] : [])), DONE.text)
    for (const entry of memoryOf({ history: answers.map((text) => ({ kind: 'assistant', text })) }))
      known.set(entry.key, entry)
    host.unpack?.(home, asker(host, home))
  }
  for (const [turn, { steps, kill, prompt = promptOf(turn) }] of runs.entries())
    await start(steps, { how: turn > 0 ? { resume: main() } : {}, prompt, kill })
  assert.ok(main(), 'it has written no session')
  edit?.(main(), host)
  if (hasFork) await start([], { how: { fork: main() }, prompt: FORK })
  return known
}

/** The ways into a home: its sessions resumed, a fork made of the first. */
export function waysOf(host, paths, { isForked, hasFork }) {
  const [main, other] = paths
  return [
    { name: 'resumed', how: { resume: main } },
    ...(hasFork ? [{ name: 'the fork resumed', how: { resume: other } }] : []),
    ...((isForked || hasFork) && host.hasForks ? [{ name: 'forked', how: { fork: main } }] : []),
  ]
}

/** Opens a session by one of its ways, and returns what the model was sent. */
export async function open(host, home, { how }) {
  host.pack?.(home, asker(host, home))
  const run = await drive(host, [], { home, how, prompt: LAST })
  // What a host says in the place of an image is not what the tool said.
  const isSaid = ({ kind, text }) => kind === 'result' && host.placeholder?.test(text)
  const memory = opened(run)?.map((entry) => (isSaid(entry) ? { ...entry, text: '' } : entry))
  const [request] = run.requests
  // Habits of a host are not those of a repair.
  const judged = memory && { ...request, body: host.judged?.(request.body) ?? request.body }
  return { memory, faults: judged ? faultsOf(judged) : [], said: oneLine(run.said) }
}

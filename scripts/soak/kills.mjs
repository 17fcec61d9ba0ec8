// Kills repairs of sessions of every layout, at random points and right after the exchange of
// names, while rows are appended to those that have rows, some of them damaged. Counts the rows
// that are lost or doubled.
//   node scripts/soak/kills.mjs [kills, 507 unless given]
import { fork } from 'node:child_process'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as soon, setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { repairSession } from 'spillway'

const script = fileURLToPath(import.meta.url)
const [, , role = '507', path = '', layout = ''] = process.argv

/** The rest of a row that a crash tore. */
const TORN = '{"type":"message","id":"torn","message":{"role":"too'

/** Layouts of rows: those before the results, a result, and its id. */
const ROWS = {
  pi: {
    head: [{ type: 'session', version: 3, id: 's' }],
    of: (id, text) => ({
      type: 'message',
      id,
      message: { role: 'toolResult', toolCallId: id, content: text },
    }),
    id: ({ id }) => id,
  },
  'claude-code': {
    head: [],
    of: (id, text) => ({
      type: 'user',
      uuid: id,
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
      toolUseResult: { stdout: text },
    }),
    id: ({ uuid }) => uuid,
  },
  codex: {
    head: [{ type: 'session_meta', payload: { id: 's' } }],
    of: (id, text) => ({
      type: 'response_item',
      payload: { type: 'function_call_output', call_id: id, output: text },
    }),
    id: ({ payload }) => payload.call_id,
  },
  copilot: {
    head: [{ type: 'session.start', data: { sessionId: 's' } }],
    of: (id, text) => ({
      type: 'tool.execution_complete',
      data: { toolCallId: id, success: true, result: { content: text, detailedContent: text } },
      id,
    }),
    id: ({ id }) => id,
  },
  'gemini-cli': {
    head: [{ sessionId: 's', projectHash: 'f00' }],
    of: (id, text) => geminiRecord(id, text),
    id: ({ id }) => id,
  },
}
const geminiRecord = (id, text) => ({
  id,
  type: 'gemini',
  toolCalls: [
    { id, name: 't', result: [{ functionResponse: { id, name: 't', response: { output: text } } }] },
  ],
})
const message = (id, text) => ({
  role: 'user',
  content: [{ type: 'tool_result', tool_use_id: id, content: text }],
  ts: 1,
})
const part = (id, text) => ({
  id,
  sessionID: 's',
  messageID: 'm',
  type: 'tool',
  callID: id,
  tool: 't',
  state: { status: 'completed', input: {}, output: text },
})

/** Documents of results with these texts by id, and the ids that are in one. */
const DOCUMENTS = {
  'gemini-cli document': {
    of: (all) => ({
      sessionId: 's',
      projectHash: 'f00',
      messages: all.map(([id, text]) => geminiRecord(id, text)),
    }),
    ids: ({ messages }) => messages.map(({ id }) => id),
  },
  'cline list': {
    of: (all) => all.map(([id, text]) => message(id, text)),
    ids: (list) => list.map(({ content }) => content[0].tool_use_id),
  },
  'cline document': {
    of: (all) => ({ version: 1, messages: all.map(([id, text]) => message(id, text)) }),
    ids: ({ messages }) => messages.map(({ content }) => content[0].tool_use_id),
  },
  'opencode export': {
    of: (all) => ({
      info: { id: 's' },
      messages: [{ info: {}, parts: all.map(([id, text]) => part(id, text)) }],
    }),
    ids: ({ messages }) => messages[0].parts.map(({ callID }) => callID),
  },
  'opencode part': {
    of: ([[id, text]]) => part(id, text),
    ids: ({ callID }) => [callID],
  },
}

const TOO_LONG = 'too long '.repeat(9_000)
const row = (id, text) => `${JSON.stringify(ROWS[layout].of(id, text))}\n`
const texts = Array.from({ length: 30 }, (_, at) => [`old${at}`, at % 3 ? 'short' : TOO_LONG])

/** A session in which every third row is too long. Some rows are glued together, behind a torn one
 *  or after NUL bytes. */
const session = ({ head, of }) =>
  [
    ...head.map((first) => `${JSON.stringify(first)}\n`),
    ...texts.map(([id, text], at) => damaged(at, `${JSON.stringify(of(id, text))}\n`)),
  ].join('')
const damaged = (at, text) => {
  if (at % 10 === 3) return text.trimEnd()
  return at === 16 ? TORN + text : at % 10 === 7 ? '\0'.repeat(4_096) + text : text
}

const started = (child) => new Promise((resolve) => child.once('message', resolve))
const ended = (child) => new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))

if (role === 'append') append()
else if (role === 'repair') await repair()
else await soak(Number(role))

/** Appends rows as Pi does, opening the file for each, until it receives a message. */
function append() {
  let at = 0
  const next = () => {
    appendFileSync(path, row(`new${at++}`, 'late'))
    timer = setTimeout(next, 1)
  }
  let timer = setTimeout(next, 1)
  process.once('message', () => {
    clearTimeout(timer)
    process.send(at, () => process.exit())
  })
  process.send('started')
}

async function repair() {
  process.send('started')
  await repairSession(path, { backup: false, damaged: 'mend' })
  process.exit()
}

async function soak(kills) {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-soak-'))
  const sum = { kills: 0, rows: 0, recovered: 0, lost: 0, doubled: 0, left: 0 }
  const all = [...Object.keys(ROWS), ...Object.keys(DOCUMENTS)]
  const byLayout = Object.fromEntries(all.map((name) => [name, 0]))
  try {
    for (let round = 0; sum.kills < kills; round++) {
      const name = all[round % all.length]
      const before = sum.kills
      const path = join(dir, `${round}.${name in ROWS ? 'jsonl' : 'json'}`)
      await (name in ROWS ? rows(path, name, sum) : document(path, DOCUMENTS[name], sum))
      byLayout[name] += sum.kills - before
    }
  } finally {
    rmSync(dir, { recursive: true })
  }
  console.log(JSON.stringify({ ...sum, byLayout }))
  if (sum.lost + sum.doubled + sum.left > 0) process.exitCode = 1
}

/** Waits until the new file has the session's name. Late rows have yet to be carried over then. */
async function exchanged(path, ino) {
  const end = Date.now() + 400
  while (Date.now() < end && statSync(path).ino === ino) await soon()
}

/** Starts a repair and kills it: at any moment, or right after the exchange. */
async function killed(path, isRandom, sum) {
  const { ino } = statSync(path)
  const child = fork(script, ['repair', path])
  const end = ended(child)
  await started(child)
  if (isRandom) await wait(Math.random() * 40)
  else await exchanged(path, ino)
  child.kill('SIGKILL')
  sum.kills += Number((await end) === 'SIGKILL')
}

/** Counts the ids that are gone, those that are there more than once, and the files that a repair
 *  left. */
function count(path, expected, found, sum) {
  const seen = new Map()
  for (const id of found) seen.set(id, (seen.get(id) ?? 0) + 1)
  sum.rows += expected.length
  sum.lost += expected.filter((id) => !seen.has(id)).length
  sum.doubled += [...seen.values()].filter((times) => times > 1).length
  const name = path.slice(path.lastIndexOf('/') + 1)
  sum.left += readdirSync(join(path, '..')).filter((other) => other.startsWith(`${name}.`)).length
}

/** Runs one session of rows. Two repairs are killed before one ends. */
async function rows(path, name, sum) {
  const { head, of, id } = ROWS[name]
  writeFileSync(path, session(ROWS[name]))
  const appender = fork(script, ['append', path, name])
  await started(appender)
  for (let run = 0; run < 2; run++) {
    await killed(path, run === 0, sum)
    // Gives the next repair something to do.
    appendFileSync(path, `${JSON.stringify(of(`more${run}`, TOO_LONG))}\n`)
  }
  const done = started(appender)
  appender.send('stop')
  const appended = await done
  const { recovered = 0 } = await repairSession(path, { backup: false, damaged: 'mend' })
  sum.recovered += recovered
  // The torn row was put aside once, however often a repair was killed.
  const aside = readFileSync(`${path}.damaged`, 'utf8').split('\n')
  const torn = aside.filter((text) => text === TORN).length
  sum.lost += Number(torn === 0)
  sum.doubled += Number(torn > 1)
  rmSync(`${path}.damaged`)
  const expected = [
    ...texts.map(([id]) => id),
    ...Array.from({ length: appended }, (_, at) => `new${at}`),
    'more0',
    'more1',
  ]
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n').slice(head.length)
  count(
    path,
    expected,
    lines.map((text) => id(JSON.parse(text))),
    sum,
  )
}

/** Runs one document, to which nobody appends. Two repairs are killed, each of a new one, before
 *  one ends. */
async function document(path, { of, ids }, sum) {
  // One result alone is the file of a part.
  const all = [['first', TOO_LONG], ...texts]
  const text = JSON.stringify(of(all))
  const expected = ids(JSON.parse(text))
  const found = () => ids(JSON.parse(readFileSync(path, 'utf8')))
  for (let run = 0; run < 2; run++) {
    writeFileSync(path, text)
    await killed(path, run === 0, sum)
    // The old document or the new one is there, and whole.
    sum.lost += Number(found().length !== expected.length)
  }
  await repairSession(path, { backup: false })
  sum.lost += Number(readFileSync(path, 'utf8').includes(TOO_LONG))
  count(path, expected, found(), sum)
}

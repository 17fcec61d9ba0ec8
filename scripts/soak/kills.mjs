// Kills repairs and undos of sessions of every layout, at random points and right after the
// exchange of names, while rows are appended to those that have rows, some of them damaged. Counts
// the rows that are lost or doubled, and the repairs that cannot be undone then: the note of a
// session, which a kill may leave at any moment, contradicts its files.
//   node scripts/soak/kills.mjs [kills, 1000 unless given]
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
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as soon, setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { inspectSession, repairSession } from 'spillway'

const script = fileURLToPath(import.meta.url)
const [, , role = '1000', path = '', layout = '', how = ''] = process.argv

/** Repairs, each with its options. An undo is one of a repair that came to its end. */
const WAYS = {
  plain: {},
  mend: { damaged: 'mend' },
  pairs: { pairs: true },
  undo: {},
}

/** The rest of a row that a crash tore. */
const TORN = '{"type":"message","id":"torn","message":{"role":"too'

/** Layouts of rows: those before the results, a call, a result, and what a result's id follows. */
const ROWS = {
  pi: {
    head: [{ type: 'session', version: 3, id: 's' }],
    // A result follows its call: one on no branch with it is removed by `pairs`.
    of: (id, text) => ({
      type: 'message',
      id,
      parentId: `call-${id}`,
      message: { role: 'toolResult', toolCallId: id, content: text },
    }),
    call: (id) => ({
      type: 'message',
      id: `call-${id}`,
      message: { role: 'assistant', content: [{ type: 'toolCall', id, name: 't', arguments: {} }] },
    }),
    mark: /"toolCallId":"(\w+)"/g,
  },
  'claude-code': {
    head: [],
    of: (id, text) => ({
      type: 'user',
      uuid: id,
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }] },
      toolUseResult: { stdout: text },
    }),
    call: (id) => ({
      type: 'assistant',
      uuid: `call-${id}`,
      message: { role: 'assistant', content: [{ type: 'tool_use', id, name: 't', input: {} }] },
    }),
    mark: /"tool_use_id":"(\w+)"/g,
  },
  codex: {
    head: [{ type: 'session_meta', payload: { id: 's' } }],
    of: (id, text) => ({
      type: 'response_item',
      payload: { type: 'function_call_output', call_id: id, output: text },
    }),
    call: (id) => ({
      type: 'response_item',
      payload: { type: 'function_call', name: 't', arguments: '{}', call_id: id },
    }),
    mark: /"function_call_output","call_id":"(\w+)"/g,
  },
  qwen: {
    head: [],
    of: (id, text) => ({
      uuid: id,
      parentUuid: `call-${id}`,
      type: 'tool_result',
      message: { role: 'user', parts: [{ functionResponse: { id, name: 't', response: { output: text } } }] },
    }),
    call: (id) => ({
      uuid: `call-${id}`,
      parentUuid: null,
      type: 'assistant',
      message: { role: 'model', parts: [{ functionCall: { id, name: 't', args: {} } }] },
    }),
    mark: /"functionResponse":\{"id":"(\w+)"/g,
  },
  kimi: {
    head: [{ role: '_system_prompt', content: 'You build.' }],
    of: (id, text) => ({ role: 'tool', tool_call_id: id, content: text }),
    call: (id) => ({ role: 'assistant', content: '', tool_calls: [chatCall(id)] }),
    mark: /"tool_call_id":"(\w+)"/g,
  },
  'kimi-code': {
    head: [{ type: 'metadata', protocol_version: '1.1', created_at: 1 }],
    of: (id, text) => loopEvent({ type: 'tool.result', toolCallId: id, result: { output: text } }),
    call: (id) => loopEvent({ type: 'tool.call', toolCallId: id, name: 't', args: {} }),
    mark: /"tool\.result","toolCallId":"(\w+)"/g,
  },
  copilot: {
    head: [{ type: 'session.start', data: { sessionId: 's' } }],
    of: (id, text) => ({
      type: 'tool.execution_complete',
      data: { toolCallId: id, success: true, result: { content: text, detailedContent: text } },
      id,
    }),
    call: (id) => ({
      type: 'assistant.message',
      data: { content: '', toolRequests: [{ toolCallId: id, name: 't', arguments: {} }] },
      id: `call-${id}`,
    }),
    mark: /"toolCallId":"(\w+)","success"/g,
  },
  'gemini-cli': {
    head: [{ sessionId: 's', projectHash: 'f00' }],
    of: (id, text) => geminiRecord(id, text),
    mark: /"functionResponse":\{"id":"(\w+)"/g,
  },
}
const chatCall = (id) => ({ id, type: 'function', function: { name: 't', arguments: '{}' } })
const loopEvent = (event) => ({ type: 'context.append_loop_event', agentId: 'main', event, time: 1 })
const geminiRecord = (id, text) => ({
  id,
  type: 'gemini',
  toolCalls: [
    { id, name: 't', result: [{ functionResponse: { id, name: 't', response: { output: text } } }] },
  ],
})
const exchange = ([id, text]) => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 't', input: {} }], ts: 1 },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text }], ts: 1 },
]
const answered = (all) =>
  all.filter(({ role }) => role === 'user').map(({ content }) => content[0].tool_use_id)
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
    of: (all) => all.flatMap(exchange),
    ids: answered,
  },
  'cline document': {
    of: (all) => ({ version: 1, messages: all.flatMap(exchange) }),
    ids: ({ messages }) => answered(messages),
  },
  continue: {
    of: (all) => ({
      sessionId: 's',
      history: all.map(([id, text]) => ({
        message: { role: 'assistant', content: '', toolCalls: [chatCall(id)] },
        contextItems: [],
        toolCallStates: [
          {
            toolCallId: id,
            toolCall: chatCall(id),
            status: 'done',
            parsedArgs: {},
            output: [{ content: text }],
          },
        ],
      })),
    }),
    ids: ({ history }) => history.map(({ toolCallStates: [{ toolCallId }] }) => toolCallId),
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
/** Returns a call, where a layout has them in rows of their own, and its result. */
const row = ({ of, call }, id, text) =>
  [call?.(id), of(id, text)].map((one) => (one ? `${JSON.stringify(one)}\n` : '')).join('')
const texts = Array.from({ length: 30 }, (_, at) => [`old${at}`, at % 3 ? 'short' : TOO_LONG])

/** A session in which every third result is too long. If it is damaged, some rows are glued
 *  together, behind a torn one or after NUL bytes. */
const session = (kind, isDamaged) =>
  [
    ...kind.head.map((first) => `${JSON.stringify(first)}\n`),
    ...texts.map(([id, text], at) => (isDamaged ? damaged : (_, same) => same)(at, row(kind, id, text))),
  ].join('')
const damaged = (at, text) => {
  if (at % 10 === 3) return text.trimEnd()
  return at === 16 ? TORN + text : at % 10 === 7 ? '\0'.repeat(4_096) + text : text
}

const started = (child) => new Promise((resolve) => child.once('message', resolve))
const ended = (child) => new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))

if (role === 'append') append()
else if (role === 'repair') await change()
else await soak(Number(role))

/** Appends rows as Pi does, opening the file for each, until it receives a message. */
function append() {
  let at = 0
  const next = () => {
    appendFileSync(path, row(ROWS[layout], `new${at++}`, 'late'))
    timer = setTimeout(next, 1)
  }
  let timer = setTimeout(next, 1)
  process.once('message', () => {
    clearTimeout(timer)
    process.send(at, () => process.exit())
  })
  process.send('started')
}

/** Repairs the session, or undoes that. */
async function change() {
  await inspectSession(path)
  process.send('started')
  const done = how === 'undo' ? undo(path) : repairSession(path, WAYS[how])
  await done.catch((error) => {
    // Calls are not paired while rows come all the time.
    if (error.code !== 'ERR_SPILLWAY_CHANGED') throw error
  })
  process.exit()
}

/** Undoes the latest repair. Returns its report, or its failure. */
async function undo(path) {
  const native = createRequire(script)('../../dist/spillway.node')
  const born = Date.now() - process.uptime() * 1_000
  const all = { first: false, keepAppended: true, discardChanges: false, born }
  return JSON.parse(await native.undoRepair(path, all, native.startWatch()))
}

async function soak(kills) {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-soak-'))
  const sum = { kills: 0, rows: 0, recovered: 0, lost: 0, doubled: 0, left: 0, undone: 0, contradicted: 0 }
  const all = [...Object.keys(ROWS), ...Object.keys(DOCUMENTS)]
  const runs = all.flatMap((name) => Object.keys(WAYS).map((way) => [name, way]))
  const counts = (names) => Object.fromEntries(names.map((name) => [name, 0]))
  const [byLayout, byWay] = [counts(all), counts(Object.keys(WAYS))]
  try {
    for (let round = 0; sum.kills < kills; round++) {
      const [name, way] = runs[round % runs.length]
      const before = sum.kills
      const path = join(dir, `${round}.${name in ROWS ? 'jsonl' : 'json'}`)
      await (name in ROWS ? rows(path, name, way, sum) : document(path, DOCUMENTS[name], way, sum))
      byLayout[name] += sum.kills - before
      byWay[way] += sum.kills - before
    }
  } finally {
    rmSync(dir, { recursive: true })
  }
  console.log(JSON.stringify({ ...sum, byLayout, byWay }))
  if (sum.lost + sum.doubled + sum.left + sum.contradicted > 0) process.exitCode = 1
}

/** Waits until the new file has the session's name, unless the child ends before. Late rows have
 *  yet to be carried over then. */
async function exchanged(path, ino, child) {
  while (child.exitCode === null && statSync(path).ino === ino) await soon()
}

/** Starts a repair or an undo and kills it: at any moment, or right after the exchange. */
async function killed(path, isRandom, way, sum) {
  const { ino } = statSync(path)
  const child = fork(script, ['repair', path, '', way])
  const end = ended(child)
  await started(child)
  if (isRandom) await wait(Math.random() * 40)
  else await exchanged(path, ino, child)
  child.kill('SIGKILL')
  sum.kills += Number((await end) === 'SIGKILL')
}

/** Counts the ids that are gone and those that are there more than once. */
function count(expected, found, sum) {
  const seen = new Map()
  for (const id of found) seen.set(id, (seen.get(id) ?? 0) + 1)
  sum.rows += expected.length
  sum.lost += expected.filter((id) => !seen.has(id)).length
  sum.doubled += [...seen.values()].filter((times) => times > 1).length
}

/** Counts the files that a repair left beside its backups. */
function countLeft(path, sum) {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const others = readdirSync(join(path, '..')).filter((other) => other.startsWith(`${name}.`))
  sum.left += others.filter((other) => !/\.(?:bak(?:\.latest|\.note)?|damaged)$/.test(other)).length
}

/** Undoes the latest repair, which has to be possible. */
async function undone(path, sum) {
  const { code } = await undo(path)
  sum.undone += Number(code === undefined)
  sum.contradicted += Number(code !== undefined)
}

/** Runs one session of rows. Two repairs are killed before one ends. */
async function rows(path, name, way, sum) {
  const kind = ROWS[name]
  // Rows that others hold offsets of are not mended.
  const isDamaged = way === 'mend' && name !== 'codex'
  const done = (path) => (way === 'undo' ? undo(path) : repairSession(path, WAYS[way]))
  writeFileSync(path, session(kind, isDamaged))
  if (way === 'undo') await repairSession(path)
  const appender = fork(script, ['append', path, name])
  await started(appender)
  for (let run = 0; run < 2; run++) {
    await killed(path, run === 0, way, sum)
    // Gives the next repair something to do.
    appendFileSync(path, row(kind, `more${run}`, TOO_LONG))
  }
  const stopped = started(appender)
  appender.send('stop')
  const appended = await stopped
  const { recovered = 0 } = await done(path)
  sum.recovered += recovered
  if (isDamaged) {
    // The torn row was put aside once, however often a repair was killed.
    const aside = readFileSync(`${path}.damaged`, 'utf8').split('\n')
    const torn = aside.filter((text) => text === TORN).length
    sum.lost += Number(torn === 0)
    sum.doubled += Number(torn > 1)
  }
  const expected = [
    ...texts.map(([id]) => id),
    ...Array.from({ length: appended }, (_, at) => `new${at}`),
    'more0',
    'more1',
  ]
  const found = () => [...readFileSync(path, 'utf8').matchAll(kind.mark)].map(([, id]) => id)
  for (const line of readFileSync(path, 'utf8').trimEnd().split('\n')) JSON.parse(line)
  count(expected, found(), sum)
  await undone(path, sum)
  count(expected, found(), sum)
  countLeft(path, sum)
}

/** Runs one document, to which nobody appends. Two repairs are killed, each of a new one, before
 *  one ends. */
async function document(path, { of, ids }, way, sum) {
  // One result alone is the file of a part.
  const all = [['first', TOO_LONG], ...texts]
  const text = JSON.stringify(of(all))
  const expected = ids(JSON.parse(text))
  const found = () => ids(JSON.parse(readFileSync(path, 'utf8')))
  for (let run = 0; run < 2; run++) {
    writeFileSync(path, text)
    if (way === 'undo') await repairSession(path)
    await killed(path, run === 0, way, sum)
    // The old document or the new one is there, and whole.
    sum.lost += Number(found().length !== expected.length)
  }
  await repairSession(path, WAYS[way])
  sum.lost += Number(readFileSync(path, 'utf8').includes(TOO_LONG))
  count(expected, found(), sum)
  await undone(path, sum)
  sum.lost += Number(readFileSync(path, 'utf8') !== text)
  countLeft(path, sum)
}

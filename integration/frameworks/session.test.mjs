import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { fauxAssistantMessage, fauxToolCall } from '@earendil-works/pi-ai'
import { SessionManager } from '@earendil-works/pi-coding-agent'
import { inspectSession, repairSession } from 'spillway'
import { IMAGE_BLOCK, makeTool, openSession, textOf } from './pi.mjs'
import { bytes, DECISIVE, FAILURE, LIMIT, largest, TEXT } from './scenario.mjs'

const directory = mkdtempSync(join(tmpdir(), 'spillway-session-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const tools = [
  makeTool('big', async () => ({
    content: [{ type: 'text', text: TEXT }, IMAGE_BLOCK],
    details: { exitCode: 3, raw: TEXT },
  })),
  makeTool('boom', async () => {
    throw new Error(FAILURE)
  }),
]

const resultsOf = (messages) => messages.filter(({ role }) => role === 'toolResult')
const rowsOf = (file) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row))

const WINDOW = 200_000

/** Runs a real agent over a session, which answers with each of `answers`; what each provider call
 *  was sent. */
async function turn(sessionManager, prompt, answers) {
  const { session, faux } = await openSession({ directory, tools, sessionManager, contextWindow: WINDOW })
  const sent = []
  faux.setResponses(
    answers.map((answer) => ({ messages }) => {
      sent.push(structuredClone(messages))
      return answer
    }),
  )
  await session.prompt(prompt)
  session.dispose()
  return sent
}

const calling = (name) => fauxAssistantMessage([fauxToolCall(name, {})], { stopReason: 'toolUse' })

/** A session that two results have bricked. */
async function bricked() {
  const manager = SessionManager.create(directory, directory)
  await turn(manager, 'go', [calling('big'), calling('boom'), fauxAssistantMessage('done')])
  return manager.getSessionFile()
}

test('a session that two results of 5 MB have bricked opens again, and the next call is within the window', async () => {
  const file = await bricked()
  const before = readFileSync(file, 'utf8')
  const rows = rowsOf(file)
  assert.ok(statSync(file).size > 15_000_000)
  const seen = await inspectSession(file)
  assert.equal(seen.format, 'pi')
  assert.equal(seen.oversized, 2)
  assert.deepEqual(seen.byTool.map(({ tool }) => tool).sort(), ['big', 'boom'])

  const report = await repairSession(file)
  assert.equal(report.changed, true)
  assert.equal(report.clamped, 2)
  assert.ok(report.bytesAfter < 150_000, String(report.bytesAfter))
  assert.equal(readFileSync(report.backupPath, 'utf8'), before)
  assert.equal((await repairSession(file)).changed, false)

  // Every other row has every byte.
  const repaired = readFileSync(file, 'utf8')
  const [was, is] = [before, repaired].map((text) => text.split('\n'))
  assert.equal(is.length, was.length)
  const changed = was.flatMap((row, at) => (row === is[at] ? [] : at))
  assert.deepEqual(
    changed.map((at) => rows[at].message.toolName),
    ['big', 'boom'],
  )
  const left = rowsOf(file)
  for (const [at, row] of left.entries()) {
    const without = ({ content, details, ...message }) => message
    if (row.message) assert.deepEqual(without(row.message), without(rows[at].message))
    assert.deepEqual({ ...row, message: 0 }, { ...rows[at], message: 0 })
  }
  const [big, boom] = resultsOf(left.flatMap(({ message }) => message ?? []))
  assert.ok(bytes(textOf(big)) <= LIMIT && bytes(textOf(boom)) <= LIMIT)
  assert.deepEqual(big.content[1], IMAGE_BLOCK)
  assert.equal(big.details.exitCode, 3)
  assert.ok(bytes(big.details) <= 8_192)
  assert.ok(textOf(boom).includes(DECISIVE))

  // Pi opens it with the same entries in the same tree, and leaves it as it is.
  const manager = SessionManager.open(file)
  assert.ok(isDeepStrictEqual(manager.getEntries(), left.slice(1)))
  assert.equal(manager.getLeafId(), rows.at(-1).id)
  assert.deepEqual(
    manager.getEntries().map(({ id, parentId }) => [id, parentId]),
    rows.slice(1).map(({ id, parentId }) => [id, parentId]),
  )
  assert.equal(readFileSync(file, 'utf8'), repaired)

  const [sent] = await turn(manager, 'and now?', [fauxAssistantMessage('well')])
  assert.equal(resultsOf(sent).length, 2)
  assert.ok(largest(resultsOf(sent).map(textOf)) <= LIMIT)
  assert.ok(bytes(sent) / 4 < WINDOW / 2, String(bytes(sent)))
  const after = readFileSync(file, 'utf8')
  assert.ok(after.startsWith(repaired) && after.length > repaired.length)
})

test('a budget shortens what is on the active branch, and an abandoned one stays', async () => {
  const manager = SessionManager.create(directory, directory)
  const text = 'a line of output\n'.repeat(2_000)
  const append = (id) =>
    manager.appendMessage({
      role: 'toolResult',
      toolCallId: id,
      toolName: 'big',
      content: [{ type: 'text', text }],
      isError: false,
      timestamp: 1,
    })
  manager.appendMessage({ role: 'user', content: [{ type: 'text', text: 'go' }], timestamp: 1 })
  const start = manager.appendMessage({ ...fauxAssistantMessage('I look'), timestamp: 1 })
  append('left')
  manager.branch(start)
  append('one')
  append('two')
  const file = manager.getSessionFile()
  const { clamped } = await repairSession(file, { aggregate: { maxChars: 20_000 } })
  assert.equal(clamped, 2)
  const reopened = SessionManager.open(file)
  const results = resultsOf(reopened.buildSessionContext().messages)
  assert.deepEqual(
    results.map(({ toolCallId }) => toolCallId),
    ['one', 'two'],
  )
  assert.ok(textOf(results[0]).length + textOf(results[1]).length <= 20_000)
  const left = reopened.getEntries().find(({ message }) => message?.toolCallId === 'left')
  assert.equal(textOf(left.message), text)
})

test('a session of the first version keeps its rows, their number and their order, as its compactions count them', async () => {
  const file = join(directory, 'first.jsonl')
  const message = (id, text) => ({
    type: 'message',
    timestamp: '2025-01-01T00:00:00.000Z',
    message: {
      role: 'toolResult',
      toolCallId: id,
      toolName: 't',
      content: [{ type: 'text', text }],
      isError: false,
    },
  })
  const rows = [
    { type: 'session', id: 's', timestamp: '2025-01-01T00:00:00.000Z', cwd: directory },
    message('old', TEXT),
    message('kept', TEXT),
    {
      type: 'compaction',
      timestamp: '2025-01-01T00:00:00.000Z',
      summary: 's',
      firstKeptEntryIndex: 2,
      tokensBefore: 9,
    },
    message('new', 'short'),
  ]
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const { clamped } = await repairSession(file)
  assert.equal(clamped, 2)
  assert.equal(rowsOf(file).length, rows.length)
  const { messages } = SessionManager.open(file).buildSessionContext()
  assert.deepEqual(
    resultsOf(messages).map(({ toolCallId }) => toolCallId),
    ['kept', 'new'],
  )
  for (const result of resultsOf(messages)) assert.ok(bytes(textOf(result)) <= LIMIT)
})

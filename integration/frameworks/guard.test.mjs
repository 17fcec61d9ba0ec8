import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { fauxAssistantMessage, fauxToolCall } from '@earendil-works/pi-ai'
import { SessionManager } from '@earendil-works/pi-coding-agent'
import { ToolMessage } from '@langchain/core/messages'
import { guardSession, wrapTools } from 'spillway'
import { IMAGE_BLOCK, makeTool, openSession, textOf } from './pi.mjs'
import { bytes, DECISIVE, FAILURE, LIMIT, largest, TEXT } from './scenario.mjs'

const directory = mkdtempSync(join(tmpdir(), 'spillway-guard-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const tools = [
  makeTool('big', async () => ({ content: [{ type: 'text', text: TEXT }, IMAGE_BLOCK], details: {} })),
  makeTool('boom', async () => {
    throw new Error(FAILURE)
  }),
  makeTool('details', async () => ({
    content: [{ type: 'text', text: 'done' }],
    details: { exitCode: 3, raw: TEXT },
  })),
]

const resultsOf = (messages) => messages.filter(({ role }) => role === 'toolResult')
const named = (messages, name) => messages.find(({ toolName }) => toolName === name)

const ONE_BY_ONE = [['big'], ['boom'], ['details'], ['n'.repeat(90_000)]]
const AT_ONCE = [['big', 'boom', 'details', 'missing', 'boom', 'big']]

/**
 * A real session in which `guard` was put in front of its manager, and a real agent that makes each
 * of `calls`, answers, and is asked once more. `sent`: the tool results that each provider call
 * saw.
 */
async function turns(guard = () => undefined, { calls = ONE_BY_ONE, given = tools } = {}) {
  const sessionManager = SessionManager.create(directory, directory)
  const ids = []
  const guarded = guard(sessionManager)
  const { appendMessage } = sessionManager
  sessionManager.appendMessage = (message) => {
    ids.push(appendMessage.call(sessionManager, message))
    return ids.at(-1)
  }
  const names = tools.map(({ name }) => name)
  const { session, faux } = await openSession({ directory, tools: given, names, sessionManager })
  const sent = []
  const answering =
    (make) =>
    ({ messages }) => {
      sent.push(structuredClone(resultsOf(messages)))
      return make()
    }
  faux.setResponses([
    ...calls.map((names) =>
      answering(() =>
        fauxAssistantMessage(
          names.map((name) => fauxToolCall(name, {})),
          { stopReason: 'toolUse' },
        ),
      ),
    ),
    answering(() => fauxAssistantMessage('done')),
    answering(() => fauxAssistantMessage('done again')),
  ])
  await session.prompt('go')
  await session.prompt('and now?')
  session.dispose()
  const file = sessionManager.getSessionFile()
  const rows = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row))
  return { sent, ids, rows, file, guarded, size: statSync(file).size, sessionManager }
}

const shapeOf = ({ type, message }) => [type, message?.role, message?.toolName, message?.isError]

/** Tool results among the rows of a session. */
const stored = (rows) => resultsOf(rows.flatMap(({ message }) => message ?? []))

test('without a guard a session holds 15 MB, and the model is sent 10 MB', async () => {
  const { size, sent } = await turns()
  assert.ok(size > 15_000_000, String(size))
  for (const name of ['big', 'boom']) assert.ok(bytes(textOf(named(sent.at(-1), name))) > 5_000_000, name)
})

test('guarded, every row is small, and the next provider call is sent what was stored', async () => {
  const { size, sent, rows, guarded } = await turns((manager) => guardSession(manager))
  // 180 KB of these are the name of a tool that is not there, in the model's call and beside the
  // answer to it.
  assert.ok(size < 400_000, String(size))
  assert.equal(guarded.clamped, 4)
  const results = stored(rows)
  assert.ok(largest(results) < 60_000 + 90_000)
  assert.deepEqual(
    results.map(({ toolName, isError }) => [toolName.slice(0, 7), isError]),
    [
      ['big', false],
      ['boom', true],
      ['details', false],
      ['nnnnnnn', true],
    ],
  )
  for (const message of results) assert.ok(bytes(textOf(message)) <= LIMIT)
  assert.ok(textOf(named(results, 'boom')).includes(DECISIVE))
  assert.deepEqual(named(results, 'big').content[1], IMAGE_BLOCK)
  const { details } = named(results, 'details')
  assert.equal(details.exitCode, 3)
  assert.ok(bytes(details) <= 8_192)
  // Each call saw the results so far, just as they were stored.
  assert.equal(sent.length, 6)
  for (const [at, messages] of sent.entries())
    assert.ok(isDeepStrictEqual(messages, results.slice(0, at)), `call ${at}`)
})

test('a guarded session reopens, with the ids and the tree that Pi gave', async () => {
  const { rows, ids, file, sent, sessionManager } = await turns((manager) => guardSession(manager))
  const messages = rows.filter(({ type }) => type === 'message')
  assert.deepEqual(
    messages.map(({ id }) => id),
    ids,
  )
  for (const [at, { parentId }] of rows.slice(1).entries())
    assert.equal(parentId, at === 0 ? null : rows[at].id)
  const unguarded = await turns()
  assert.deepEqual(rows.map(shapeOf), unguarded.rows.map(shapeOf))
  const before = readFileSync(file, 'utf8')
  const reopened = SessionManager.open(file)
  assert.ok(isDeepStrictEqual(reopened.getEntries(), rows.slice(1)))
  assert.equal(reopened.getLeafId(), sessionManager.getLeafId())
  assert.ok(isDeepStrictEqual(resultsOf(reopened.buildSessionContext().messages), sent.at(-1)))
  assert.equal(readFileSync(file, 'utf8'), before)
})

test('with copies the file is as small, but Pi 0.74 sends what it did not store', async () => {
  const { size, sent } = await turns((manager) => guardSession(manager, { inPlace: false }))
  assert.ok(size < 400_000, String(size))
  for (const name of ['big', 'boom']) assert.ok(bytes(textOf(named(sent.at(-1), name))) > 5_000_000, name)
})

test('of calls at once all are stored small; the loop of Pi 0.74 may be ahead once, wrapped tools may not', async () => {
  const guard = (manager) => guardSession(manager)
  const guarded = await turns(guard, { calls: AT_ONCE })
  assert.ok(guarded.size < 350_000, String(guarded.size))
  const [, , later] = guarded.sent
  assert.ok(isDeepStrictEqual(later, stored(guarded.rows)))
  const wrapped = await turns(guard, { calls: AT_ONCE, given: wrapTools(tools, { sideData: 'cap' }) })
  for (const messages of wrapped.sent.slice(1)) assert.ok(isDeepStrictEqual(messages, stored(wrapped.rows)))
  assert.ok(largest(wrapped.sent[1].map(textOf)) <= LIMIT)
})

test('what an override after the guard does stays, and uninstalling ends it', () => {
  const manager = SessionManager.inMemory(directory)
  const prototype = Object.getPrototypeOf(manager)
  const { appendMessage } = prototype
  const guard = guardSession(manager)
  assert.equal(prototype.appendMessage, appendMessage)
  const make = () => ({
    role: 'toolResult',
    toolCallId: 'c',
    toolName: 't',
    content: [{ type: 'text', text: TEXT }],
    isError: false,
    timestamp: 1,
  })
  const id = manager.appendMessage(make())
  assert.equal(manager.getLeafId(), id)
  assert.ok(bytes(textOf(manager.getEntry(id).message)) <= LIMIT)
  guard.uninstall()
  assert.ok(!Object.hasOwn(manager, 'appendMessage'))
  assert.equal(textOf(manager.getEntry(manager.appendMessage(make())).message), TEXT)
})

test("a message of LangChain's class stays one, and lets go of the old text", () => {
  const kept = []
  const manager = { appendMessage: (message) => kept.push(message) }
  guardSession(manager)
  const message = new ToolMessage({ content: TEXT, tool_call_id: 'c', artifact: { raw: TEXT } })
  manager.appendMessage(message)
  assert.equal(kept[0], message)
  assert.ok(ToolMessage.isInstance(message))
  assert.ok(bytes(message.content) <= LIMIT)
  assert.equal(message.lc_kwargs.content, message.content)
  assert.ok(bytes(message) < 64_000, String(bytes(message)))
  assert.equal(message.toDict().data.tool_call_id, 'c')
})

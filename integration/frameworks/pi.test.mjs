import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Agent } from '@earendil-works/pi-agent-core'
import { fauxAssistantMessage, fauxToolCall, registerFauxProvider } from '@earendil-works/pi-ai'
import { SessionManager } from '@earendil-works/pi-coding-agent'
import { clampMessages, clampResult, wrapTool, wrapTools } from 'spillway'
import { IMAGE_BLOCK, makeTool, openSession, textOf } from './pi.mjs'
import { bytes, DECISIVE, documented, FAILURE, LIMIT, largest, size, TEXT } from './scenario.mjs'

const directory = mkdtempSync(join(tmpdir(), 'spillway-pi-'))
after(() => rmSync(directory, { recursive: true, force: true }))

/** Arguments that Pi handed to `big`. */
const calls = []

const tools = [
  makeTool('big', async (_id, _params, signal, onUpdate, context) => {
    calls.push({ signal, cwd: context.cwd })
    onUpdate?.({ content: [{ type: 'text', text: TEXT }], details: { partial: true } })
    return { content: [{ type: 'text', text: TEXT }], details: { raw: TEXT.slice(0, 300_000) } }
  }),
  makeTool('boom', async () => {
    throw Object.assign(new Error(FAILURE), { code: 'EBIG' })
  }),
  makeTool('shot', async () => ({ content: [{ type: 'text', text: TEXT }, IMAGE_BLOCK], details: {} })),
]

/** One turn of a real session: three calls of the tools and one of a tool that is not there, then
 *  an answer. */
async function turn({ tools: given = tools, extension } = {}) {
  const { session, sessionManager, faux } = await openSession({ directory, tools: given, extension })
  let sent = []
  const shown = []
  session.subscribe((event) => {
    if (event.type === 'tool_execution_update') shown.push(textOf(event.partialResult))
  })
  faux.setResponses([
    fauxAssistantMessage(
      [...given.map(({ name }) => name), 'missing'].map((name) =>
        fauxToolCall(name, name === 'missing' ? { junk: TEXT.slice(0, 190_000) } : {}),
      ),
      { stopReason: 'toolUse' },
    ),
    ({ messages }) => {
      sent = structuredClone(messages.filter(({ role }) => role === 'toolResult'))
      return fauxAssistantMessage('done')
    },
  ])
  await session.prompt('go')
  const file = sessionManager.getSessionFile()
  const rows = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((row) => JSON.parse(row))
  session.dispose()
  return { sent, shown, file, rows, stored: statSync(file).size }
}

const named = (messages, name) => messages.find(({ toolName }) => toolName === name)

/** Hooks of Pi, as docs/frameworks.md lists them. */
const hooks = {
  none: () => turn(),
  wrapTools: () => {
    const clamped = wrapTools(tools)
    return turn({ tools: clamped })
  },
  "wrapTools, sideData: 'cap'": () => turn({ tools: wrapTools(tools, { sideData: 'cap' }) }),
  tool_result: () => {
    const extension = (pi) => {
      pi.on('tool_result', (event) => clampResult(event, { dialect: 'pi' }))
    }
    return turn({ extension })
  },
  context: () => {
    const extension = (pi) => {
      pi.on('context', ({ messages }) => clampMessages(messages))
    }
    return turn({ extension })
  },
}

const turns = new Map()

function hooked(name) {
  if (!turns.has(name)) turns.set(name, hooks[name]())
  return turns.get(name)
}

for (const name of Object.keys(hooks)) {
  test(`${name}: what the model was sent, the session holds and the screen showed`, async () => {
    const { sent, stored, shown } = await hooked(name)
    const measured = [largest(sent.map(textOf)), stored, largest(shown)].map(size)
    assert.deepEqual(measured, documented('Pi and OpenClaw')[name])
  })
}

test('without a clamp 5 MB go everywhere', async () => {
  const { sent, stored, shown } = await hooked('none')
  assert.ok(stored > 11_000_000)
  assert.ok(shown[0] === TEXT)
  for (const name of ['big', 'boom', 'shot']) assert.ok(bytes(textOf(named(sent, name))) > 5_000_000, name)
})

test('wrapped tools: every result within the limits, a file under 700 KB', async () => {
  const { sent, stored, shown, rows, file } = await hooked('wrapTools')
  assert.ok(stored <= 700 * 1_024, String(stored))
  assert.deepEqual(
    sent.map(({ toolName, isError }) => [toolName, isError]),
    [
      ['big', false],
      ['boom', true],
      ['shot', false],
      ['missing', true],
    ],
  )
  for (const message of sent) assert.ok(bytes(textOf(message)) <= LIMIT)
  for (const text of shown) assert.ok(bytes(text) <= LIMIT)
  assert.ok(textOf(named(sent, 'boom')).includes(DECISIVE))
  assert.deepEqual(named(sent, 'shot').content[1], IMAGE_BLOCK)
  assert.equal(named(sent, 'big').details.raw.length, 300_000)
  const stays = rows.flatMap(({ message }) => (message?.role === 'toolResult' ? [message] : []))
  assert.deepEqual(stays, sent)
  const reopened = SessionManager.open(file).buildSessionContext().messages
  assert.deepEqual(
    reopened.filter(({ role }) => role === 'toolResult'),
    sent,
  )
})

test('message_end: the file is small, but the loop does not wait for it', async () => {
  const extension = (pi) => {
    pi.on('message_end', ({ message }) => ({ message: clampResult(message) }))
  }
  const { stored, rows } = await turn({ extension })
  assert.ok(stored <= 700 * 1_024, String(stored))
  const results = rows.filter(({ message }) => message?.role === 'toolResult')
  assert.equal(results.length, 4)
})

test('details are dropped or capped as sideData says', async () => {
  const { stored, sent } = await hooked("wrapTools, sideData: 'cap'")
  assert.ok(bytes(named(sent, 'big').details) <= 8_192)
  assert.ok(stored <= 400 * 1_024, String(stored))
})

test('a definition gets its five arguments', async () => {
  calls.length = 0
  const { sent } = await turn({ tools: wrapTools(tools) })
  assert.ok(bytes(textOf(named(sent, 'big'))) <= LIMIT)
  assert.equal(calls.length, 1)
  assert.ok(calls[0].signal instanceof AbortSignal)
  assert.equal(calls[0].cwd, directory)
})

test('an agent without sessions calls with four, and its abort arrives', async () => {
  const faux = registerFauxProvider({ models: [{ id: 'faux-1' }], tokensPerSecond: 0 })
  faux.setResponses([fauxAssistantMessage([fauxToolCall('wait', {})], { stopReason: 'toolUse' })])
  const updates = []
  const wait = wrapTool(
    makeTool('wait', async (...args) => {
      const [id, params, signal, onUpdate] = args
      assert.deepEqual([args.length, id, params], [4, id, {}])
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
      onUpdate({ content: [{ type: 'text', text: TEXT }], details: {} })
      await aborted
      throw new Error(FAILURE)
    }),
  )
  const agent = new Agent({
    initialState: { model: faux.getModel(), tools: [wait] },
    getApiKey: () => 'faux-key',
  })
  agent.subscribe((event) => {
    if (event.type !== 'tool_execution_update') return
    updates.push(textOf(event.partialResult))
    agent.abort()
  })
  await agent.prompt('go')
  const result = agent.state.messages.find(({ role }) => role === 'toolResult')
  assert.ok(result.isError)
  assert.ok(textOf(result).includes(DECISIVE))
  assert.ok(bytes(textOf(result)) <= LIMIT)
  assert.equal(updates.length, 1)
  assert.ok(bytes(updates[0]) <= LIMIT)
})

test('the handler for OpenClaw answers at once, and keeps what it does not cut', async () => {
  const { sent } = await hooked('none')
  const persist = (event) => ({ message: clampResult(event.message) })
  for (const message of sent.slice(0, 3)) {
    const { message: kept } = persist({ message, toolName: message.toolName, toolCallId: message.toolCallId })
    assert.ok(bytes(textOf(kept)) <= LIMIT)
    assert.deepEqual({ ...kept, content: null }, { ...message, content: null })
    assert.equal(persist({ message: kept }).message, kept)
  }
})

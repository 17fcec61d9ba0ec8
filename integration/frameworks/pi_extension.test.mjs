// spillway/pi-extension in a session of Pi's coding agent: sent, stored, read back and cleared.
import assert from 'node:assert/strict'
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fauxAssistantMessage, fauxToolCall } from '@earendil-works/pi-ai'
import { createContext, createSpillStore } from 'spillway'
import { spillwayExtension } from 'spillway/pi-extension'
import { makeTool, openSession, textOf } from './pi.mjs'
import { bytes, DECISIVE, FAILURE, TEXT } from './scenario.mjs'

const LIMIT = 8_000
const tools = [
  makeTool('big', async () => ({
    content: [{ type: 'text', text: TEXT }],
    details: { raw: TEXT.slice(0, 300_000) },
  })),
  makeTool('boom', async () => {
    throw new Error(FAILURE)
  }),
]
const names = ['big', 'boom', 'read_output']
const folder = () => mkdtempSync(join(tmpdir(), 'spillway-pi-'))
const stored = () => createSpillStore({ dir: folder(), reference: 'id' })
const calls = (...all) => fauxAssistantMessage(all, { stopReason: 'toolUse' })
const resultsIn = (messages) => messages.filter(({ role }) => role === 'toolResult')

test('the extension bounds results and thrown errors, and offers read_output', async () => {
  const directory = folder()
  const extension = spillwayExtension({ maxBytes: LIMIT, sideData: 'cap', spill: stored() })
  const { session, sessionManager, faux } = await openSession({ directory, tools, names, extension })
  let sent = []
  faux.setResponses([
    calls(fauxToolCall('big', {}), fauxToolCall('boom', {})),
    ({ messages }) => {
      const id = /saved as ([0-9a-f]{16})/.exec(textOf(resultsIn(messages)[1]))?.[1]
      return calls(fauxToolCall('read_output', { id, line: 23_000, lines: 200 }))
    },
    ({ messages }) => {
      sent = structuredClone(resultsIn(messages))
      return fauxAssistantMessage('done')
    },
  ])
  await session.prompt('go')
  assert.deepEqual(
    sent.map(({ toolName, isError }) => [toolName, isError]),
    [
      ['big', false],
      ['boom', true],
      ['read_output', false],
    ],
  )
  const [big, boom, page] = sent.map(textOf)
  for (const text of [big, boom]) assert.ok(bytes(text) <= LIMIT)
  assert.ok(boom.includes(DECISIVE))
  assert.ok(bytes(sent[0].details) <= 8_192)
  // A page stays whole, though it exceeds the limits of other results.
  assert.ok(page.includes(DECISIVE))
  assert.ok(bytes(page) > LIMIT, `${bytes(page)} bytes`)
  assert.match(page, /\[next: line \d+\]$/)
  assert.ok(statSync(sessionManager.getSessionFile()).size < 80_000)
  session.dispose()
})

test('a result that came before the extension is cut in each request, and the file stays', async () => {
  const directory = folder()
  const { session, sessionManager, faux } = await openSession({ directory, tools, names })
  faux.setResponses([calls(fauxToolCall('big', {})), fauxAssistantMessage('done')])
  await session.prompt('go')
  session.dispose()
  const before = statSync(sessionManager.getSessionFile()).size
  const extension = spillwayExtension({ maxBytes: LIMIT })
  const later = await openSession({ directory, tools, names, sessionManager, extension })
  let sent
  later.faux.setResponses([
    ({ messages }) => {
      sent = resultsIn(messages).map(textOf)
      return fauxAssistantMessage('done')
    },
  ])
  await later.session.prompt('and now')
  assert.equal(sent.length, 1)
  assert.ok(bytes(sent[0]) <= LIMIT)
  assert.ok(statSync(sessionManager.getSessionFile()).size >= before)
  later.session.dispose()
})

test('a context clears, and learns from the refusal that ends a turn', async () => {
  const directory = folder()
  const spill = stored()
  const sessions = []
  const context = createContext({ contextTokens: 60_000, reserveTokens: 1_000, spill })
  const find = ({ sessionManager }) => {
    sessions.push(sessionManager.getSessionId())
    return context
  }
  const extension = spillwayExtension({ context: find, maxTokens: 3_000, spill })
  let count = 0
  const build = makeTool('build', async () => ({
    content: [{ type: 'text', text: TEXT.replaceAll('line', `line ${count++}`) }],
    details: {},
  }))
  const { session, sessionManager, faux } = await openSession({
    directory,
    tools: [build],
    names: ['build', 'read_output'],
    extension,
  })
  const sizes = []
  const step = (answer) => (request) => {
    const tokens = Math.ceil(JSON.stringify(request.messages).length / 4)
    sizes.push(tokens)
    if (tokens <= 20_000) return answer
    const errorMessage = `prompt is too long: ${tokens} tokens > 20000 maximum`
    return fauxAssistantMessage('', { stopReason: 'error', errorMessage })
  }
  const builds = Array.from({ length: 12 }, () => step(calls(fauxToolCall('build', {}))))
  faux.setResponses([...builds, step(fauxAssistantMessage('done'))])
  await session.prompt('go')
  const refused = () => sizes.filter((tokens) => tokens > 20_000).length
  assert.equal(refused(), 1)
  // The next turn is planned for the window that the refusal named.
  await session.prompt('go on')
  assert.equal(refused(), 1)
  assert.ok(sizes.at(-1) <= 20_000)
  assert.deepEqual([...new Set(sessions)], [sessionManager.getSessionId()])
  session.dispose()
})

test('a call of a script is redacted, and stays whole', async () => {
  const handlers = {}
  const SECRET = ['ghp', 'a1B2'.repeat(9)].join('_')
  spillwayExtension({ maxBytes: LIMIT, redact: true })({
    on: (event, handler) => {
      handlers[event] = handler
    },
    registerTool: () => {},
  })
  const text = `token=${SECRET}\n${TEXT.slice(0, 100_000)}`
  const event = {
    type: 'tool_result',
    toolName: 'big',
    toolCallId: 'c1/1',
    input: {},
    content: [{ type: 'text', text }],
    details: {},
    structuredContent: { text },
    isError: false,
  }
  const nested = await handlers.tool_result({ ...event, parentToolCallId: 'c1' })
  assert.ok(bytes(textOf(nested)) > 100_000)
  assert.ok(!JSON.stringify(nested).includes(SECRET))
  const direct = await handlers.tool_result(event)
  assert.ok(bytes(textOf(direct)) <= LIMIT)
  assert.ok(!JSON.stringify(direct).includes(SECRET))
  assert.equal(typeof direct.structuredContent.text, 'string')
})

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, test } from 'node:test'
import { fauxAssistantMessage, fauxToolCall, Type } from '@earendil-works/pi-ai'
import { SessionManager } from '@earendil-works/pi-coding-agent'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { generateText, jsonSchema, stepCountIs, tool } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { createSpillStore, spillTool, wrapTools } from 'spillway'
import { z } from 'zod'
import { IMAGE_BLOCK, openSession } from './pi.mjs'
import { bytes, DECISIVE, FAILURE, IMAGE, LIMIT, TEXT } from './scenario.mjs'

const directory = mkdtempSync(join(tmpdir(), 'spillway-spill-'))
after(() => rmSync(directory, { recursive: true, force: true }))

let stores = 0
const makeStore = (options) => createSpillStore({ dir: join(directory, String(++stores)), ...options })

/** Bytes of an answer of read_output, and requests that a model makes of a framework, at most. */
const ANSWER = 40_960
const STEPS = 20

/** The same result for Pi and MCP. */
const outputs = {
  big: async () => ({ content: [{ type: 'text', text: FAILURE }] }),
  boom: async () => {
    throw new Error(FAILURE)
  },
  shot: async () => ({ content: [{ type: 'text', text: TEXT }, IMAGE_BLOCK] }),
}
const DECISIVE_LINE = FAILURE.split('\n').indexOf(DECISIVE) + 1
const WHOLES = { big: FAILURE, boom: FAILURE, shot: TEXT }

const seenIn = ({ content }) => ({
  text: content.map(({ text = '' }) => text).join(''),
  image: content.find(({ type }) => type === 'image')?.data,
})

// Each framework runs a script: a generator that is a model. It yields calls, [name, input] each,
// and is sent their results, { name, text, image } each.

async function pi(script, store) {
  const tools = Object.entries(outputs).map(([name, execute]) => ({
    name,
    label: name,
    description: name,
    parameters: Type.Object({}),
    execute: async () => ({ ...(await execute()), details: {} }),
  }))
  const clamped = wrapTools(tools, { spill: store })
  function extension(pi) {
    const { name, description, parameters, execute } = spillTool(store)
    pi.registerTool({
      name,
      label: 'Read output',
      description,
      parameters,
      execute: async (_callId, input) => ({
        content: [{ type: 'text', text: await execute(input) }],
        details: {},
      }),
    })
  }
  const { session, faux } = await openSession({
    directory,
    tools: clamped,
    names: [...Object.keys(outputs), 'read_output'],
    sessionManager: SessionManager.inMemory(),
    contextWindow: 900_000,
    extension,
  })
  const rounds = []
  const answer = ({ messages }) => {
    const results = messages.filter(({ role }) => role === 'toolResult').slice(rounds.flat().length)
    if (results.length > 0)
      rounds.push(results.map((result) => ({ name: result.toolName, ...seenIn(result) })))
    const { done, value: calls } = script.next(rounds.at(-1))
    if (done) return fauxAssistantMessage('done')
    return fauxAssistantMessage(
      calls.map(([name, input]) => fauxToolCall(name, input)),
      { stopReason: 'toolUse' },
    )
  }
  faux.setResponses(Array(STEPS).fill(answer))
  await session.prompt('go')
  const said = seenIn(session.messages.at(-1)).text
  session.dispose()
  return { rounds, said }
}

const inputSchema = z.object({})
const aiTools = {
  big: tool({ inputSchema, execute: async () => FAILURE }),
  boom: tool({ inputSchema, execute: outputs.boom }),
  shot: tool({
    inputSchema,
    execute: async () => ({ text: TEXT, image: IMAGE }),
    toModelOutput: async ({ output }) => ({
      type: 'content',
      value: [
        { type: 'text', text: output.text },
        { type: 'image-data', data: output.image, mediaType: 'image/png' },
      ],
    }),
  }),
}
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

function makeModel(script, rounds) {
  return new MockLanguageModelV3({
    doGenerate: async ({ prompt }) => {
      const results = prompt
        .flatMap(({ role, content }) => (role === 'tool' ? content : []))
        .slice(rounds.flat().length)
      if (results.length > 0) rounds.push(results.map(seenByModel))
      const { done, value: calls } = script.next(rounds.at(-1))
      const content = done
        ? [{ type: 'text', text: 'done' }]
        : calls.map(([toolName, input], at) => ({
            type: 'tool-call',
            toolCallId: `call ${rounds.length}.${at}`,
            toolName,
            input: JSON.stringify(input),
          }))
      const unified = done ? 'stop' : 'tool-calls'
      return { content, finishReason: { unified, raw: unified }, usage, warnings: [] }
    },
  })
}

async function aiSdk(script, store) {
  const rounds = []
  const model = makeModel(script, rounds)
  const prompt = 'go'
  const tools = aiTools
  const clamped = wrapTools(tools, { spill: store })
  const { name, description, parameters, execute } = spillTool(store)
  const read = tool({ description, inputSchema: jsonSchema(parameters), execute })
  const all = { ...clamped, [name]: read }
  const { text } = await generateText({ model, prompt, tools: all, stopWhen: stepCountIs(20) })
  return { rounds, said: text }
}

function seenByModel({ toolName: name, output: { type, value } }) {
  if (type !== 'content') return { name, text: typeof value === 'string' ? value : JSON.stringify(value) }
  return { name, text: value[0].text, image: value[1].data }
}

/** A client that calls what its model asks for. */
async function callAll(server, script) {
  const [here, there] = InMemoryTransport.createLinkedPair()
  const client = new Client({ name: 'client', version: '1.0.0' })
  await Promise.all([server.connect(here), client.connect(there)])
  const listed = (await client.listTools()).tools.map(({ name }) => name)
  assert.deepEqual(listed, [...Object.keys(outputs), 'read_output'])
  const rounds = []
  for (let step = script.next(); !step.done; step = script.next(rounds.at(-1))) {
    const results = []
    for (const [name, input] of step.value) {
      const result = await client.callTool({ name, arguments: input }).catch((error) => ({
        content: [{ type: 'text', text: error.message }],
      }))
      results.push({ name, ...seenIn(result) })
    }
    rounds.push(results)
  }
  await client.close()
  return { rounds, said: 'done' }
}

async function mcp(script, store) {
  const tools = outputs
  const clamped = wrapTools(tools, { spill: store })
  const server = new McpServer({ name: 'server', version: '1.0.0' })
  for (const [name, handler] of Object.entries(clamped))
    server.registerTool(name, { inputSchema: {} }, handler)
  const { name, description, parameters, execute } = spillTool(store)
  server.registerTool(name, { description, inputSchema: z.fromJSONSchema(parameters) }, async (input) => ({
    content: [{ type: 'text', text: await execute(input) }],
  }))
  return callAll(server, script)
}

async function mcpServer(script, store) {
  const tools = outputs
  const clamped = wrapTools(tools, { spill: store })
  const server = new Server({ name: 'server', version: '1.0.0' }, { capabilities: { tools: {} } })
  const listed = Object.keys(outputs).map((name) => ({ name, inputSchema: { type: 'object' } }))
  const call = ({ name }) => clamped[name]()
  const { name, description, parameters, execute } = spillTool(store)
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...listed, { name, description, inputSchema: parameters }],
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    if (params.name !== name) return call(params)
    return { content: [{ type: 'text', text: await execute(params.arguments ?? {}) }] }
  })
  return callAll(server, script)
}

const frameworks = { Pi: pi, 'AI SDK': aiSdk, 'MCP, McpServer': mcp, 'MCP, Server': mcpServer }

/** Words that the MCP SDK puts before the message of an error; they come on top of the limits. */
const MCP_WORDS = /^MCP error -\d+: /
const CALLS = Object.keys(outputs).map((name) => [name, {}])
const placeIn = ({ text }) =>
  /; full output saved as (\S+), (?:read or search it there|page or search it with read_output)\]/.exec(
    text,
  )?.[1]

/** A model that saw three cut outputs looks for what went wrong: with a pattern, then page after
 *  page without one. */
function* investigate() {
  const [id] = (yield CALLS).map(placeIn)
  const [found] = yield [['read_output', { id, pattern: ' - error: ' }]]
  const match = Number(/^(\d+): .* - error: /m.exec(found.text)?.[1])
  yield [['read_output', { id, line: match, lines: 1 }]]
  const [first] = yield [['read_output', { id }]]
  const total = Number(/ of (\d+) lines, /.exec(first.text)?.[1])
  for (let line = Math.floor(total / 2) - 600; line > 0; ) {
    const [page] = yield [['read_output', { id, line }]]
    line = page.text.includes(DECISIVE) ? 0 : Number(/\[next: line (\d+)\]$/.exec(page.text)?.[1])
  }
}

for (const [framework, run] of Object.entries(frameworks)) {
  for (const reference of ['path', 'id']) {
    test(`${framework}: what was cut is on disk, and found by its ${reference}`, async () => {
      const store = makeStore({ reference })
      const { rounds, said } = await run(investigate(), store)
      assert.equal(said, 'done')
      const [cut, [found], [line], [first], ...pages] = rounds
      const saved = await store.list()
      assert.equal(saved.length, 3)
      for (const result of cut) {
        const { name, text } = result
        assert.ok(bytes(text.replace(MCP_WORDS, '')) <= LIMIT, name)
        const record = saved.find((record) => record[reference] === placeIn(result))
        assert.ok(basename(record.path).startsWith(`${record.id}.${name}.`), record.path)
        assert.ok(readFileSync(record.path).equals(Buffer.from(WHOLES[name])), name)
        assert.ok(record.complete)
      }
      assert.deepEqual(
        cut.map(({ name, text, image }) => [name, text.includes(DECISIVE), image]),
        [
          ['big', true, undefined],
          ['boom', true, undefined],
          ['shot', false, IMAGE],
        ],
      )
      assert.ok(found.text.includes(`\n${DECISIVE_LINE}: ${DECISIVE}\n`))
      assert.equal(line.text.split('\n')[1], `${DECISIVE_LINE}: ${DECISIVE}`)
      assert.ok(first.text.split('\n').at(1).startsWith('1: line of tool output'))
      assert.ok(pages.length > 1)
      assert.ok(pages.at(-1)[0].text.includes(`\n${DECISIVE_LINE}: ${DECISIVE}\n`))
      for (const [{ text }] of rounds.slice(1)) assert.ok(bytes(text) <= ANSWER)
    })
  }

  test(`${framework}: an id that the model made up is answered with a sentence`, async () => {
    const store = makeStore()
    const inputs = [{ id: '../../../etc/passwd' }, { id: 'ffffffffffffffff' }, { id: '' }, {}]
    const script = saying([CALLS, ...inputs.map((input) => [['read_output', input]])])
    const { rounds, said } = await run(script, store)
    assert.equal(said, 'done')
    const [path, unknown, empty, none] = rounds.slice(1).map(([{ text }]) => text)
    assert.match(path, /^id must be the id of a saved output, .* got "\.\.\/\.\.\/\.\.\/etc\/passwd"\.$/)
    assert.match(unknown, /^no output is saved under ffffffffffffffff: .*\.$/)
    assert.match(empty, /^Pass the id of a saved output, .*\.$/)
    // Frameworks that hold an input against its schema say so in their own words.
    assert.match(none, /\bid\b/)
    assert.ok(none.length < 300)
    assert.equal((await store.list()).length, 3)
  })

  test(`${framework}: where nothing can be saved, the run goes on and the notice says so`, async () => {
    const dir = join(directory, `a file, ${framework}`)
    writeFileSync(dir, 'not touched')
    const store = createSpillStore({ dir })
    const { rounds, said } = await run(saying([CALLS, [['read_output', { id: '0123456789abcdef' }]]]), store)
    assert.equal(said, 'done')
    const [cut, [read]] = rounds
    for (const { name, text } of cut) {
      // The client of MCP puts its code before the message of an error.
      assert.ok(bytes(text.replace(/^MCP error -\d+: /, '')) <= LIMIT, name)
      assert.match(text, /; the rest could not be saved \(ERR_SPILLWAY_SPILL\); ask for less, /)
    }
    assert.ok(cut[1].text.includes(DECISIVE))
    assert.equal(cut[2].image, IMAGE)
    assert.match(read.text, /which is not a directory\. /)
    assert.equal(readFileSync(dir, 'utf8'), 'not touched')
  })
}

/** A model that makes these calls, whatever comes of them. */
function* saying(rounds) {
  yield* rounds
}

test('wrapped with the others, under limits of less than a page: its answers are shorter pages, and not saved again', async () => {
  const store = makeStore({ reference: 'id' })
  const { name, description, parameters, execute } = spillTool(store)
  const read = tool({ description, inputSchema: jsonSchema(parameters), execute })
  const tools = wrapTools({ ...aiTools, [name]: read }, { spill: store, maxBytes: 4_096 })
  const rounds = []
  const model = makeModel(investigate(), rounds)
  await generateText({ model, prompt: 'go', tools, stopWhen: stepCountIs(STEPS) })
  const [cut, [found], , [first]] = rounds
  for (const { text } of rounds.flat()) assert.ok(bytes(text) <= 4_096)
  assert.deepEqual((await store.list()).map(({ id }) => id).sort(), cut.map(placeIn).sort())
  assert.ok(found.text.includes(DECISIVE))
  assert.match(
    first.text,
    /^\[[0-9a-f]{16}: lines 1-(\d+) of 46001 lines, [^\n]*\n[\s\S]*\n\1: [^\n]*\n\[next: line \d+\]$/,
  )
})

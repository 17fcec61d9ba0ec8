import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Agent, MemorySession, Runner, RunState, setTracingDisabled, tool, Usage } from '@openai/agents'
import { clampMessages, wrapTool, wrapTools } from 'spillway'
import { z } from 'zod'
import { bytes, DECISIVE, documented, FAILURE, IMAGE, LIMIT, largest, ROWS, size, TEXT } from './scenario.mjs'

setTracingDisabled(true)

const parameters = z.object({})

const makeTool = (name, execute, more) => tool({ name, description: name, parameters, execute, ...more })

const all = [
  makeTool('big', async () => TEXT),
  makeTool('object', async () => ({ rows: ROWS })),
  makeTool('shot', async () => [
    { type: 'text', text: TEXT },
    { type: 'image', image: { data: IMAGE, mediaType: 'image/png' } },
  ]),
  makeTool(
    'boom',
    async () => {
      throw Object.assign(new Error(FAILURE), { code: 'EBIG' })
    },
    { errorFunction: null },
  ),
  makeTool(
    'told',
    async () => {
      throw new Error(FAILURE)
    },
    { errorFunction: (_context, error) => error.message },
  ),
]

/** A model that calls every tool at first, and then is done. */
class Scripted {
  sent = []

  constructor(names) {
    this.names = names
  }

  async getResponse({ input }) {
    const results = input.filter?.(({ type }) => type === 'function_call_result') ?? []
    this.sent.push(...structuredClone(results))
    const calls = this.names.map((name) => ({
      type: 'function_call',
      callId: `call ${name}`,
      name,
      arguments: '{}',
      status: 'completed',
    }))
    const done = [
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'done' }],
      },
    ]
    return { usage: new Usage(), output: results.length > 0 ? done : calls }
  }
}

function textOf({ output }) {
  if (typeof output === 'string') return output
  const blocks = Array.isArray(output) ? output : [output]
  return blocks.map(({ text = '' }) => text).join('')
}

/** All but `boom`, which ends a run. */
const tools = all.filter(({ name }) => name !== 'boom')

async function turn({ tools: given = tools, session = new MemorySession(), ...hook } = {}) {
  const model = new Scripted(given.map(({ name }) => name))
  const agent = new Agent({ name: 'agent', model, tools: given })
  const { state } = await new Runner().run(agent, 'go', { session, ...hook })
  const stored = (await session.getItems()).filter(({ type }) => type === 'function_call_result')
  return { sent: model.sent, stored, state: state.toString() }
}

/** Hooks of OpenAI Agents, as docs/frameworks.md lists them. */
const hooks = {
  none: () => turn(),
  wrapTools: () => {
    const clamped = wrapTools(tools)
    return turn({ tools: clamped })
  },
  callModelInputFilter: () => {
    const callModelInputFilter = ({ modelData }) => ({
      ...modelData,
      input: clampMessages(modelData.input).messages,
    })
    return turn({ callModelInputFilter })
  },
  addItems: () => {
    const session = new MemorySession()
    const { addItems } = session
    session.addItems = (items) => addItems.call(session, clampMessages(items).messages)
    return turn({ session })
  },
}

const turns = new Map()

function hooked(name) {
  if (!turns.has(name)) turns.set(name, hooks[name]())
  return turns.get(name)
}

for (const name of Object.keys(hooks)) {
  test(`${name}: what the model was sent, the session holds and the state says`, async () => {
    const { sent, stored, state } = await hooked(name)
    const measured = [largest(sent.map(textOf)), bytes(stored), bytes(state)].map(size)
    assert.deepEqual(measured, documented('OpenAI Agents')[name])
  })
}

test('without a clamp megabytes go everywhere', async () => {
  const { sent, stored, state } = await hooked('none')
  assert.equal(sent.length, 4)
  for (const result of sent) assert.ok(bytes(textOf(result)) > 2_000_000, result.name)
  assert.ok(bytes(stored) > 11_000_000)
  assert.ok(bytes(state) > 20_000_000)
})

test('wrapped tools: every result is within the limits, and so are the session and the state', async () => {
  const { sent, stored, state } = await hooked('wrapTools')
  assert.deepEqual(
    sent.map(({ name, callId, status }) => [name, callId, status]),
    tools.map(({ name }) => [name, `call ${name}`, 'completed']),
  )
  for (const result of [...sent, ...stored]) {
    assert.ok(bytes(textOf(result)) <= LIMIT, result.name)
    assert.ok(bytes(textOf(result)) > LIMIT / 2, result.name)
  }
  const [, object, shot] = sent
  assert.ok(textOf(object).startsWith('{"rows":["line of tool'))
  assert.deepEqual(
    shot.output.map(({ type }) => type),
    ['input_text', 'input_image'],
  )
  assert.ok(JSON.stringify(shot.output[1]).includes(IMAGE))
  // Each result is in the state twice at most, with a few lines around it.
  assert.ok(bytes(state) <= 2 * 4 * LIMIT * 1.1 + 16_384, String(bytes(state)))
})

test('what a tool throws through the run is short, and the same error', async () => {
  const boom = all.find(({ name }) => name === 'boom')
  const thrown = async (given) => turn({ tools: [given] }).catch((error) => error)
  assert.ok(bytes((await thrown(boom)).message) > 5_000_000)
  const error = await thrown(wrapTool(boom))
  assert.ok(bytes(error.message) <= LIMIT * 1.1)
  assert.ok(error.message.includes(DECISIVE))
  assert.equal(error.error?.code ?? error.code, 'EBIG')
})

test('a tool with an outputSchema gives its object with fewer rows where its result is over the limits', async () => {
  const schema = { outputSchema: z.object({ rows: z.array(z.string()) }) }
  const small = makeTool('small', async () => ({ rows: ROWS.slice(0, 2) }), schema)
  const large = makeTool('large', async () => ({ rows: ROWS }), schema)
  const { sent } = await turn({ tools: wrapTools([small, large]) })
  assert.deepEqual(JSON.parse(textOf(sent[0])), { rows: ROWS.slice(0, 2) })
  const { rows, ...said } = JSON.parse(textOf(sent[1]))
  assert.ok(rows.length > 2 && rows.every((row) => row.startsWith(ROWS[0].slice(0, 40))))
  assert.match(said['[...]'], /elements? omitted|omitted with/)
  assert.ok(bytes(textOf(sent[1])) <= LIMIT * 1.1)
})

test('what an errorFunction tells the model is a result like any other; a wrapped execute fails in few words', async () => {
  const fail = async () => {
    throw new Error(FAILURE)
  }
  const told = { errorFunction: (_context, error) => error.message }
  const { sent } = await turn({
    tools: [wrapTool(makeTool('late', fail, told)), makeTool('early', wrapTool(fail), told)],
  })
  const [late, early] = sent.map(textOf)
  assert.ok(bytes(late) <= LIMIT && bytes(early) <= LIMIT)
  assert.ok(late.includes(DECISIVE) && early.includes(DECISIVE))
})

test('a tool that needs approval still asks for it', async () => {
  const asks = wrapTool(makeTool('asks', async () => TEXT, { needsApproval: async () => true }))
  const model = new Scripted(['asks'])
  const agent = new Agent({ name: 'agent', model, tools: [asks] })
  const { state, interruptions } = await new Runner().run(agent, 'go')
  assert.equal(interruptions.length, 1)
  state.approve(interruptions[0])
  await new Runner().run(agent, state)
  assert.ok(bytes(textOf(model.sent[0])) <= LIMIT && bytes(textOf(model.sent[0])) > LIMIT / 2)
})

test('items that were stored are clamped and sent again, each call with its result', async () => {
  const session = new MemorySession()
  const { stored } = await turn({ session })
  const items = clampMessages(await session.getItems())
  assert.equal(items.clamped, 4)
  const model = new Scripted([])
  const agent = new Agent({ name: 'agent', model, tools: tools })
  await new Runner().run(agent, [...items.messages, { role: 'user', content: 'again' }])
  assert.equal(model.sent.length, 4)
  for (const result of model.sent) assert.ok(bytes(textOf(result)) <= LIMIT, result.name)
  assert.ok(bytes(stored) > 11_000_000)
})

test('a state is resumed from its text', async () => {
  const { state } = await hooked('wrapTools')
  const agent = new Agent({ name: 'agent', model: new Scripted([]), tools: wrapTools(tools) })
  const resumed = await RunState.fromString(agent, state)
  assert.ok(bytes(resumed.toString()) <= bytes(state))
  assert.ok(bytes(state) <= 500_000, String(bytes(state)))
})

test('an abort arrives at the tool', async () => {
  const controller = new AbortController()
  const aborted = []
  const wait = makeTool('wait', async (_input, _context, { signal }) => {
    const abort = new Promise((resolve) => signal.addEventListener('abort', resolve))
    controller.abort()
    await abort
    aborted.push(signal.aborted)
    return TEXT
  })
  await turn({ tools: [wrapTool(wait)], signal: controller.signal }).catch(() => {})
  assert.deepEqual(aborted, [true])
})

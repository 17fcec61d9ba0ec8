// The oracle itself, without hosts: what the model on the loopback reads of a request, what it
// rejects, and what counts as a loss or a gain.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { png } from './media.mjs'
import { gainsOf, lossesOf, memoryOf, NOTHING, promptOf, UNDONE } from './memory.mjs'
import { provider } from './provider.mjs'
import { faultsOf } from './rules.mjs'

const image = (bytes) => bytes.toString('base64')
const PNG = image(png(8, 8))
const json = '{"path":"a"}'

/** One conversation in each API: a prompt, two calls, a text and an image as their results. `edit`
 *  gets its messages. */
const SPOKEN = {
  messages: (data, name = 'read') => ({
    path: '/v1/messages',
    list: 'messages',
    history: [
      { role: 'user', content: promptOf(1) },
      {
        role: 'assistant',
        content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name, input: { path: 'a' } })),
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'one' },
          {
            type: 'tool_result',
            tool_use_id: 'b',
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data } }],
          },
        ],
      },
    ],
  }),
  chat: (data, name = 'read') => ({
    path: '/v1/chat/completions',
    list: 'messages',
    history: [
      { role: 'user', content: promptOf(1) },
      {
        role: 'assistant',
        content: null,
        tool_calls: ['a', 'b'].map((id) => ({ id, type: 'function', function: { name, arguments: json } })),
      },
      { role: 'tool', tool_call_id: 'a', content: 'one' },
      {
        role: 'tool',
        tool_call_id: 'b',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } }],
      },
    ],
  }),
  responses: (data, name = 'read') => ({
    path: '/v1/responses',
    list: 'input',
    history: [
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: promptOf(1) }] },
      ...['a', 'b'].map((id) => ({ type: 'function_call', call_id: id, name, arguments: json })),
      { type: 'function_call_output', call_id: 'a', output: 'one' },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: [{ type: 'input_image', image_url: `data:image/png;base64,${data}` }],
      },
    ],
  }),
  gemini: (data, name = 'read') => ({
    path: '/v1beta/models/m:generateContent',
    list: 'contents',
    history: [
      { role: 'user', parts: [{ text: promptOf(1) }] },
      { role: 'model', parts: ['a', 'b'].map((id) => ({ functionCall: { id, name, args: { path: 'a' } } })) },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name, response: { output: 'one' } } },
          {
            functionResponse: {
              id: 'b',
              name,
              response: { output: '' },
              parts: [{ inlineData: { mimeType: 'image/png', data } }],
            },
          },
        ],
      },
    ],
  }),
}

/** Sends a history to a model, and returns the request as it was read. */
async function sent({ path, list, history }, edit = (all) => all) {
  const { url, requests, close } = await provider([])
  const body = { model: 'm', tools: [{}], [list]: edit(structuredClone(history)) }
  const answer = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) })
  assert.match(await answer.text(), /done/)
  close()
  return requests[0]
}

const withoutResult = (all) => {
  const last = all.at(-1)
  const list = last.parts ?? (Array.isArray(last.content) && last.role !== 'tool' ? last.content : all)
  list.splice(-1, 1)
  return all
}
const twice = (all) => {
  const last = all.at(-1)
  const list = last.parts ?? (Array.isArray(last.content) && last.role !== 'tool' ? last.content : all)
  list.push(list.at(-1))
  return all
}

for (const [name, spoken] of Object.entries(SPOKEN))
  test(`${name}: what a request carries, and what a provider rejects`, async () => {
    const sound = await sent(spoken(PNG))
    assert.deepEqual(faultsOf(sound), [])
    const memory = memoryOf(sound)
    assert.deepEqual(
      memory.map(({ key }) => key),
      [`words ${promptOf(1)}`, 'call a', 'call b', 'result a', 'result b'],
    )
    assert.equal(memory.at(-2).text, 'one')
    assert.equal(memory.at(-1).images.length, 1)
    const wide = image(png(9_000, 1))
    const rejected = {
      'a result is missing': await sent(spoken(PNG), withoutResult),
      'a result stands twice': await sent(spoken(PNG), twice),
      'bytes of another type': await sent(spoken(image(Buffer.from('GIF89a and more')))),
      'no base64': await sent(spoken(`${PNG.slice(0, -2)}?`)),
      'a call without a name': await sent(spoken(PNG, '')),
      'more than a window': await sent(spoken(PNG), (all) =>
        JSON.parse(JSON.stringify(all).replace('one', 'one '.repeat(300_000))),
      ),
      ...(['messages', 'chat'].includes(name) && { 'an image too wide': await sent(spoken(wide)) }),
    }
    for (const [what, request] of Object.entries(rejected))
      assert.equal(faultsOf(request).length > 0, true, what)
    const lost = memoryOf(rejected['a result is missing'])
    const known = new Map(memory.map((entry) => [entry.key, entry]))
    const report = { clamped: 0, paired: 0, orphans: 0, media: 0 }
    assert.deepEqual(lossesOf({ before: memory, after: memory, known, report }), [])
    assert.deepEqual(lossesOf({ before: memory, after: lost, known, report }), ['result b is lost'])
    assert.deepEqual(lossesOf({ before: memory, after: undefined, known, report }), [
      'it does not open any more',
    ])
    const patient = { memory: lost, faults: faultsOf(rejected['a result is missing']) }
    const healed = { memory, faults: [] }
    assert.equal(gainsOf({ before: patient, after: healed, known })[0], 'result b is back')
    assert.deepEqual(gainsOf({ before: healed, after: healed, known }), [])
    assert.deepEqual(gainsOf({ before: healed, after: patient, known }), [])
  })

test('a result counts as cut if the report says so', () => {
  const entry = (text, images = []) => ({ key: 'result a', kind: 'result', id: 'a', text, images })
  const call = { key: 'call a', kind: 'call', id: 'a', text: '{}', images: [] }
  const facts = (after, report) => ({
    before: [call, entry('long '.repeat(100))],
    after: [call, after],
    known: new Map([['result a', entry('long '.repeat(100))]]),
    report: { clamped: 0, paired: 0, orphans: 0, media: 0, ...report },
  })
  const cut = entry('long [tool output truncated]')
  assert.deepEqual(lossesOf(facts(cut, { clamped: 1 })), [])
  assert.equal(lossesOf(facts(cut, {})).length, 1)
  assert.equal(lossesOf(facts(entry('[No result]'), { clamped: 1, paired: 1 })).length, 1)
  // The same words are allowed where the host itself had put in a result.
  const own = facts(entry('[No result]'), { paired: 1 })
  own.known.clear()
  assert.deepEqual(lossesOf(own), [])
  // After an undo a host may leave out a call without a result, and no other.
  const left = { ...own, after: [], report: UNDONE }
  assert.deepEqual(lossesOf(left), [])
  assert.deepEqual(lossesOf({ ...left, report: NOTHING }), ['call a is lost'])
  left.known.set('result a', entry('long '.repeat(100)))
  assert.deepEqual(lossesOf(left), ['call a is lost', 'result a is lost'])
})

// `spillway/otel` with the real API of OpenTelemetry, over a provider that keeps all in memory.
import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { context, metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api'
import { createSpillStore, wrapTool } from 'spillway'
import { instrument } from 'spillway/otel'

/** Keeps the active context across promises, as OpenTelemetry's own manager does. */
const storage = new AsyncLocalStorage()
const manager = {
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (given, run, self, ...args) => storage.run(given, () => run.apply(self, args)),
  bind:
    (given, run) =>
    (...args) =>
      storage.run(given, () => run(...args)),
  enable: () => manager,
  disable: () => manager,
}
const spans = []
const points = []
const span = (name) => {
  const own = { name, events: [], addEvent: (event, attributes) => own.events.push({ event, attributes }) }
  spans.push(own)
  return own
}
const note = (name) => (value, attributes) => points.push({ name, value, attributes })
context.setGlobalContextManager(manager)
metrics.setGlobalMeterProvider({
  getMeter: () => ({
    createCounter: (name) => ({ add: note(name) }),
    createHistogram: (name) => ({ record: note(name) }),
  }),
})
after(() => context.disable())

test('events stand on the span of the tool that was called, also where two calls overlap', async () => {
  const stop = instrument({ trace, metrics })
  const spill = createSpillStore({ dir: mkdtempSync(join(tmpdir(), 'spillway-')), reference: 'id' })
  const execute = async (callId) => {
    await new Promise((resolve) => setTimeout(resolve, callId === 'c1' ? 20 : 1))
    return `${callId} one more line\n`.repeat(50_000)
  }
  const build = wrapTool({ name: 'build', execute }, { spill })
  const call = (id) => {
    const own = span(`execute_tool ${id}`)
    return context.with(trace.setSpan(context.active(), own), () =>
      build.execute(id, {}, undefined, undefined),
    )
  }
  await Promise.all([call('c1'), call('c2')])
  stop()
  for (const [at, { events }] of spans.entries()) {
    assert.deepEqual(
      events.map(({ event }) => event),
      ['spillway.save', 'spillway.cut'],
    )
    for (const { attributes } of events) assert.equal(attributes['gen_ai.tool.call.id'], `c${at + 1}`)
    assert.equal(events[1].attributes['spillway.saved'], events[0].attributes['spillway.saved'])
  }
  const names = points.map(({ name }) => name).sort()
  const each = ['spillway.result.kept', 'spillway.result.size', 'spillway.results', 'spillway.saves']
  assert.deepEqual(names, [...each, ...each].sort())
})

import { channel } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { wrapTool } from 'spillway'
import { instrument, type OtelAttributes } from 'spillway/otel'
import { afterEach, describe, expect, it } from 'vitest'

/** An API that notes what it is given. */
function api() {
  const events: [name: string, attributes: OtelAttributes][] = []
  const points: [name: string, value: number, attributes: OtelAttributes][] = []
  const instrumentOf = (name: string) => (value: number, attributes: OtelAttributes) =>
    void points.push([name, value, attributes])
  const span = { addEvent: (name: string, attributes: OtelAttributes) => events.push([name, attributes]) }
  return {
    events,
    points,
    trace: { getActiveSpan: () => span },
    metrics: {
      getMeter: () => ({
        createCounter: (name: string) => ({ add: instrumentOf(name) }),
        createHistogram: (name: string) => ({ record: instrumentOf(name) }),
      }),
    },
  }
}

let stop = () => {}
afterEach(() => stop())

const SECRET = 'q7Wm2Zx9Kd4Vt8Rb1Ls6'
const execute = (_callId: string, ..._: unknown[]) => `API_TOKEN=${SECRET}\n${'one more line\n'.repeat(500)}`
const call = (policy = {}) =>
  wrapTool({ name: 'build', execute }, { maxChars: 300, redact: true, ...policy }).execute('c1', 0, 0, 0)

/** Names of events, metrics and attributes in the tables of the page. */
const page = readFileSync(join(__dirname, '../../docs/observability.md'), 'utf8')
const listed = new Set(
  [...page.matchAll(/`((?:spillway|gen_ai|error)?(?:\.[a-z_]+)+)`/g)].map(([, name = '']) =>
    name.startsWith('.') ? `spillway${name}` : name,
  ),
)

describe('instrument', () => {
  it('adds events to the active span, and measures, without content', () => {
    const { events, points, ...given } = api()
    stop = instrument(given)
    call()
    const who = { 'gen_ai.tool.name': 'build', 'gen_ai.tool.call.id': 'c1' }
    expect(events).toEqual([
      [
        'spillway.cut',
        {
          ...who,
          'spillway.reason': 'limits',
          'spillway.phase': 'result',
          'spillway.applied': true,
          'spillway.exceeded': ['chars'],
          'spillway.total.bytes': expect.any(Number),
          'spillway.total.lines': 501,
          'spillway.kept.bytes': expect.any(Number),
          'spillway.kept.lines': expect.any(Number),
        },
      ],
      ['spillway.redacted', expect.objectContaining({ ...who, 'spillway.reason': 'secret' })],
    ])
    const tool = { 'gen_ai.tool.name': 'build', 'spillway.applied': true }
    const cut = { ...tool, 'spillway.action': 'cut', 'spillway.reason': 'limits' }
    expect(points.map(([name, , attributes]) => [name, attributes])).toEqual([
      ['spillway.results', cut],
      ['spillway.result.size', cut],
      ['spillway.result.kept', cut],
      ['spillway.results', { ...tool, 'spillway.action': 'redacted', 'spillway.reason': 'secret' }],
      ['spillway.secrets', { ...tool, 'spillway.secret': expect.any(String) }],
    ])
    expect(JSON.stringify([events, points])).not.toContain(SECRET)
  })

  it('says what was only observed, and no more once it is stopped', () => {
    const { events, points, ...given } = api()
    stop = instrument(given)
    call({ observe: true })
    for (const [, attributes] of events) expect(attributes['spillway.applied']).toBe(false)
    const seen = [events.length, points.length]
    expect(seen).toEqual([2, 5])
    stop()
    call()
    expect([events.length, points.length]).toEqual(seen)
  })

  it('makes names that the page lists, of every channel, and keeps ids off metrics', () => {
    const { events, points, ...given } = api()
    stop = instrument(given)
    call()
    const size = { bytes: 1, chars: 1, lines: 1 }
    const base = { phase: 'result', total: size, kept: size, exceeded: [], tool: 't', callId: 'c' }
    const send = (name: string, message: object) => channel(`spillway:${name}`).publish(message)
    send('clamp', { ...base, action: 'omitted', reason: 'media', media: { items: 1, bytes: 2 } })
    send('clamp', { ...base, action: 'cleared', reason: 'window', saved: 'id' })
    send('clamp', { ...base, action: 'skipped', reason: 'stream', phase: 'update' })
    send('spill', { tool: 't', record: { id: 'id', path: '/id', bytes: 1, lines: 1, complete: true } })
    send('spill', { error: new TypeError('x') })
    send('recovery', { type: 'send', attempt: 1, route: 'fits', estimatedTokens: 5, reason: 'it fits' })
    send('repair', { path: 'p', changed: true, rows: 1, clamped: 1, bytesBefore: 2, bytesAfter: 1 })
    const all = [...events, ...points.map(([name, , attributes]) => [name, attributes] as const)]
    for (const [name, attributes] of all)
      for (const one of [name, ...Object.keys(attributes)]) expect(listed).toContain(one)
    for (const name of listed)
      if (name !== 'spillway.jsonl')
        expect(all.some(([own, attributes]) => own === name || name in attributes)).toBe(true)
    for (const [, , attributes] of points)
      expect(Object.keys(attributes).filter((name) => /\.id$|saved/.test(name))).toEqual([])
  })

  it('takes either part, and minds no error of it', () => {
    const { events, points, trace, metrics } = api()
    stop = instrument({ trace })
    call()
    stop()
    expect([events.length, points.length]).toEqual([2, 0])
    stop = instrument({ metrics })
    call()
    stop()
    expect([events.length, points.length]).toEqual([2, 5])
    stop = instrument({ trace: { getActiveSpan: () => undefined }, metrics })
    call()
    stop()
    stop = instrument({
      trace: {
        getActiveSpan: () => {
          throw new Error('no span')
        },
      },
    })
    expect(call()).toContain('one more line')
  })

  it.each([[{}], [undefined], [{ trace: {} }], [{ metrics: 5 }]])('rejects %j', (given) => {
    expect(() => instrument(given as never)).toThrow(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
  })
})

// Events on the span that is active, and metrics. No span of our own: a framework makes one for
// each call of a tool, and readers of traces count calls by them. Names and attributes are those of
// OpenTelemetry's conventions for GenAI where they have one, and under `spillway.` otherwise. Ids
// stand on spans alone, since each value of an attribute of a metric is a series of its own.
import type { ChannelMessages, ClampEvent, RecoveryEvent } from 'spillway'
import type { instrument as Declared, OtelAttributes, OtelMetrics } from 'spillway/otel'
import { isObject } from '../untrusted.js'
import { checkOptions, optionError } from '../validate.js'
import { listen, type Messages } from './channels.js'

/** Events that measure a result before and after. */
const SHORTER: readonly ClampEvent['action'][] = ['cut', 'cleared']

export const instrument: typeof Declared = (api) => {
  const { trace, metrics } = checkOptions('api', api)
  check('api.trace', trace, 'getActiveSpan')
  check('api.metrics', metrics, 'getMeter')
  if (!trace && !metrics) throw optionError(TypeError, 'api', 'an object with `trace` or `metrics`', api)
  const meters = metrics && new Meters(metrics)
  const add = (name: string, attributes: OtelAttributes) => trace?.getActiveSpan()?.addEvent(name, attributes)
  return listen({
    clamp: (event) => {
      meters?.clamp(event)
      add(`spillway.${event.action}`, { ...named(event), ...changeOf(event) })
    },
    spill: (event) => {
      meters?.saves.add(1, { ...toolOf(event), ...failureOf(event) })
      add('spillway.save', { ...named(event), ...failureOf(event), ...saveOf(event) })
    },
    recovery: (event) => {
      meters?.steps.add(1, { 'spillway.step': event.type, ...appliedOf(event) })
      add('spillway.recovery', { 'spillway.step': event.type, ...appliedOf(event), ...stepOf(event) })
    },
    repair: (event) => {
      meters?.repairs.add(1, { 'spillway.changed': event.changed })
      add('spillway.repair', repairOf(event))
    },
  })
}

function check(field: string, value: unknown, method: string): void {
  if (value === undefined) return
  if (!isObject(value) || typeof (value as Record<string, unknown>)[method] !== 'function')
    throw optionError(TypeError, field, `of @opentelemetry/api, with a method ${method}`, value)
}

class Meters {
  readonly saves
  readonly steps
  readonly repairs
  readonly #results
  readonly #total
  readonly #kept
  readonly #secrets

  constructor(metrics: OtelMetrics) {
    const meter = metrics.getMeter('spillway')
    const counter = (name: string, unit: string, description: string) =>
      meter.createCounter(name, { unit, description })
    this.#results = counter('spillway.results', '{result}', 'Results that were changed, or left as they are')
    this.#secrets = counter('spillway.secrets', '{secret}', 'Secrets that marks replaced')
    this.saves = counter('spillway.saves', '{output}', 'Outputs that were saved, or could not be')
    this.steps = counter('spillway.recovery.steps', '{step}', 'Steps of recovery')
    this.repairs = counter('spillway.repairs', '{session}', 'Sessions that were repaired')
    const size = (name: string, description: string) =>
      meter.createHistogram(name, { unit: 'By', description })
    this.#total = size('spillway.result.size', 'Bytes of a result that was cut or cleared, before')
    this.#kept = size('spillway.result.kept', 'Bytes that were kept of it')
  }

  clamp(event: ClampEvent): void {
    const { action, reason, phase, total, kept, redacted = {} } = event
    // The result of a call comes after its updates.
    if (phase === 'update') return
    const tool = { ...toolOf(event), ...appliedOf(event) }
    const attributes = { ...tool, 'spillway.action': action, 'spillway.reason': reason }
    this.#results.add(1, attributes)
    for (const [kind, times] of Object.entries(redacted))
      this.#secrets.add(times, { ...tool, 'spillway.secret': kind })
    if (!SHORTER.includes(action)) return
    this.#total.record(total.bytes, attributes)
    this.#kept.record(kept.bytes, attributes)
  }
}

function toolOf({ tool }: { readonly tool?: string }): OtelAttributes {
  return tool === undefined ? {} : { 'gen_ai.tool.name': tool }
}

function named(event: { readonly tool?: string; readonly callId?: string }): OtelAttributes {
  const { callId } = event
  return { ...toolOf(event), ...(callId !== undefined && { 'gen_ai.tool.call.id': callId }) }
}

function appliedOf({ applied }: { readonly applied?: false }): OtelAttributes {
  return { 'spillway.applied': applied !== false }
}

function changeOf(event: ClampEvent): OtelAttributes {
  const { action, reason, phase, total, kept, exceeded, saved, media, redacted } = event
  const isMeasured = SHORTER.includes(action)
  return {
    'spillway.reason': reason,
    'spillway.phase': phase,
    ...appliedOf(event),
    ...(exceeded.length > 0 && { 'spillway.exceeded': [...exceeded] }),
    ...(isMeasured && {
      'spillway.total.bytes': total.bytes,
      'spillway.total.lines': total.lines,
      'spillway.kept.bytes': kept.bytes,
      'spillway.kept.lines': kept.lines,
    }),
    ...(saved !== undefined && { 'spillway.saved': saved }),
    ...(media && { 'spillway.media.items': media.items, 'spillway.media.bytes': media.bytes }),
    ...(redacted && {
      'spillway.secrets': Object.entries(redacted).map(([kind, times]) => `${kind}: ${times}`),
    }),
  }
}

function failureOf({ error }: ChannelMessages['spill']): OtelAttributes {
  return error ? { 'error.type': error.name } : {}
}

function saveOf({ record }: ChannelMessages['spill']): OtelAttributes {
  if (!record) return {}
  const { id, bytes, complete } = record
  return { 'spillway.saved': id, 'spillway.saved.bytes': bytes, 'spillway.saved.complete': complete }
}

function stepOf({ attempt, route, estimatedTokens, reason }: RecoveryEvent): OtelAttributes {
  return {
    'spillway.attempt': attempt,
    ...(route !== undefined && { 'spillway.route': route }),
    ...(estimatedTokens !== undefined && { 'spillway.tokens.estimated': estimatedTokens }),
    ...(reason !== undefined && { 'spillway.reason': reason }),
  }
}

function repairOf({ changed, rows, clamped, bytesBefore, bytesAfter }: Messages['repair']): OtelAttributes {
  return {
    'spillway.changed': changed,
    'spillway.rows': rows,
    'spillway.rows.cut': clamped,
    'spillway.total.bytes': bytesBefore,
    'spillway.kept.bytes': bytesAfter,
  }
}

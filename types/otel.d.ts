/**
 * OpenTelemetry: events on the span that is active, and metrics. `trace` and `metrics` are those of
 * your own `@opentelemetry/api`, 1.3 or later, so nothing of it is imported here.
 * docs/observability.md lists all names.
 */

/** Attributes of an event or a measurement. */
export type OtelAttributes = { [name: string]: string | number | boolean | string[] }

/** The member of `trace` that is used. */
export interface OtelTrace {
  getActiveSpan(): { addEvent(name: string, attributes: OtelAttributes): unknown } | undefined
}

/** The members of `metrics` that are used. */
export interface OtelMetrics {
  getMeter(name: string): {
    createCounter(name: string, options: OtelUnit): { add(value: number, attributes: OtelAttributes): void }
    createHistogram(
      name: string,
      options: OtelUnit,
    ): { record(value: number, attributes: OtelAttributes): void }
  }
}

export interface OtelUnit {
  unit: string
  description: string
}

/**
 * Adds an event to the active span for each event of this package, and counts them, until the
 * function that it returns is called. Without `trace` or `metrics` that part is left out. Makes no
 * span. Throws ERR_SPILLWAY_OPTION if `api` is neither.
 *
 * @example
 * import { metrics, trace } from '@opentelemetry/api'
 * import { instrument } from 'spillway/otel'
 *
 * instrument({ trace, metrics })
 */
export function instrument(api: {
  trace?: OtelTrace | undefined
  metrics?: OtelMetrics | undefined
}): () => void

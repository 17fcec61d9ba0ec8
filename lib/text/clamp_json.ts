import { types } from 'node:util'
import type { clampJsonWithReport as Declared, ResultPolicy, TextPolicy } from 'spillway'
import { type EnginePolicy, handleOf } from '../compiled.js'
import { native } from '../engine.js'
import { jsonOf } from '../json.js'
import { compile } from '../policy.js'
import { tryRead } from '../untrusted.js'
import { fromUtf8, inputOf } from './input.js'
import { exceededBy } from './limits.js'
import { redacted } from './redact.js'
import { clampTextWithReport } from './text.js'

type JsonPolicy = TextPolicy & Pick<ResultPolicy, 'schema'>

export function clampJson(json: unknown, policy?: JsonPolicy): string {
  return clampJsonWithReport(json, policy).text
}

export function clampJsonWithReport(json: unknown, policy?: JsonPolicy): ReturnType<typeof Declared> {
  const compiled = compile(policy)
  const text = given(json, compiled)
  const none = { omittedElements: 0, shortenedStrings: 0, droppedMembers: 0 }
  const validates = (value: boolean) => (compiled.schema === undefined ? {} : { validates: value })
  const asText = () => {
    const { text: cut, truncated, total, kept } = clampTextWithReport(text, policy)
    return { text: cut, truncated, total, kept, ...none, ...validates(!truncated) }
  }
  if (compiled.clean && !isJson(text)) return asText()
  const input = inputOf(text)
  const total = { ...input.total() }
  if (exceededBy(input, compiled).length === 0)
    return { text, truncated: false, total, kept: total, ...none, ...validates(true) }
  const made = native.shapeJson(handleOf(compiled), text)
  if (!made) return asText()
  return {
    text: made.json,
    truncated: made.isLess,
    total,
    kept: { ...inputOf(made.json).total() },
    omittedElements: made.elements,
    shortenedStrings: made.strings,
    droppedMembers: made.members,
    ...validates(made.validates),
  }
}

function isJson(text: string): boolean {
  return tryRead(() => [JSON.parse(text)]) !== undefined
}

/** Returns a text as it is, and any other value as JSON: well-formed, without secrets. A value
 *  without JSON is null. */
function given(json: unknown, policy: EnginePolicy): string {
  const isText = typeof json === 'string' || types.isUint8Array(json)
  const text = redacted(isText ? (json as string | Uint8Array) : (jsonOf(json) ?? 'null'), policy)
  return typeof text === 'string' ? text.toWellFormed() : fromUtf8(text)
}

import type { Origin } from '../clamp_event.js'
import type { EnginePolicy } from '../compiled.js'
import { jsonBytes, roomAfter } from '../json.js'
import { get, isObject, isPlain, isPromise } from '../untrusted.js'
import { handBack } from './gate.js'
import { clampReturn } from './tool_return.js'
import { type ToolFunction, wrapCall, wrappedOf } from './wrap_call.js'

/** Returns true for a tool of the AI SDK. Other frameworks' tools with an `inputSchema` are class
 *  instances or have a name of their own, which a record of tools gives to those of the AI SDK. */
export function isAiSdkTool(tool: object): boolean {
  return isPlain(tool) && get(tool, 'inputSchema') !== undefined && typeof get(tool, 'name') !== 'string'
}

/** The converters that were added to tools, by the call whose output they convert. */
const converters = new WeakMap<ToolFunction, ToolFunction>()
const added = new WeakSet<ToolFunction>()

/** Returns true for a `toModelOutput` that was added to a tool. */
export function isAdded(toModelOutput: unknown): boolean {
  return added.has(toModelOutput as ToolFunction)
}

/** Returns the `toModelOutput` for a wrapped call: what the AI SDK sends of an output by itself, of
 *  the clamped output. */
export function converterFor(execute: ToolFunction): ToolFunction {
  const known = converters.get(execute)
  if (known) return known
  const { clamping, sent } = wrappedOf(execute) as NonNullable<ReturnType<typeof wrappedOf>>
  // An output from elsewhere, such as a stored message, is clamped here, and saved where the AI SDK
  // waits for a promise.
  const clamped = wrapCall(
    (given) => {
      const call = callIn(given)
      if (!call) return given
      return clamping.policy.spill ? Promise.resolve(call.output) : call.output
    },
    { ...clamping, returns: 'content', updates: false, isConverter: true },
  )
  const said = (output: unknown) => {
    const value = withoutLongSide(output, clamping.policy)
    return typeof value === 'string' ? { type: 'text', value } : { type: 'json', value: value ?? null }
  }
  const convert: ToolFunction = (given) => {
    const call = callIn(given)
    const output = call ? call.output : given
    const text = isObject(output) ? sent.get(output) : undefined
    const made = text ?? clamped(given)
    return isPromise(made) ? made.then(said) : said(made)
  }
  converters.set(execute, convert)
  added.add(convert)
  return convert
}

/** Returns the call that AI SDK 6 and 7 hand to a `toModelOutput`. AI SDK 5 hands it the output
 *  alone. */
function callIn(given: unknown): { readonly output: unknown } | undefined {
  const isCall =
    isObject(given) && typeof get(given, 'toolCallId') === 'string' && 'input' in given && 'output' in given
  return isCall ? { output: get(given, 'output') } : undefined
}

/** Caps the side data of a result over the limits, since the AI SDK sends all of a result as
 *  JSON. */
function withoutLongSide(output: unknown, policy: EnginePolicy): unknown {
  const room = policy.limits.bytes
  if (!isObject(output) || roomAfter(output, room) >= 0 || jsonBytes(output) <= room) return output
  const origin: Origin = { phase: 'result', isTrial: true }
  return handBack(policy, origin, output, (own) => clampReturn(output, { ...policy, sideData: 'cap' }, own))
}

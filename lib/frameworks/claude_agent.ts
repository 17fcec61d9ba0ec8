// The hook of the Claude Agent SDK. Hooks of one event run in parallel on the original result, and
// the last answer wins, so one hook both redacts and clamps. A result has to keep the shape of its
// tool, or the SDK drops the answer without a word: the shapes are those of `spillway hook`. A tool
// whose shape is not known is redacted string by string and never cut.

import type { WrapPolicy } from 'spillway'
import type { spillwayHooks as Declared, HookAnswer, HookInput } from 'spillway/claude-agent'
import { clampCall, type HookCall } from '../hook/clamp_call.js'
import { HOST_BYTES, HOSTS, type Host, type HostShape, rowOf } from '../hook/hosts.js'
import { sayMode } from '../mode.js'
import { compile } from '../policy.js'
import { originIn, tellingRedacted } from '../result/gate.js'
import { redactValue } from '../result/redact_value.js'

const EVENT = 'PostToolUse'
const HOST = HOSTS['claude-code'] as Host

/** Tools that page saved outputs, as `wrapServer` names them. A page has more bytes than a result
 *  of other tools may. */
const READER = /^mcp__.+__read_output(?:_\d+)?$/
const PAGE_BYTES = 51_200

export const spillwayHooks: typeof Declared = ({ spill, ...given } = {}) => {
  const policy = { maxBytes: HOST_BYTES, ...given }
  // A wrong option throws here, not with the first result.
  const compiled = compile(policy)
  const { mode, onClamp } = compiled
  const storing = spill && mode === 'on' && { storing: () => spill }
  const hook = async (event: HookInput): Promise<HookAnswer> => {
    if (mode !== 'on') sayMode()
    if (event.hook_event_name !== EVENT || mode === 'off') return {}
    const { tool_name: name = '', tool_input: input, tool_response: result } = event
    const isPage = READER.test(name)
    const limits = isPage ? { ...policy, maxBytes: PAGE_BYTES } : { ...policy, ...storing }
    const cut = await clamped({ name, input, result }, limits)
    const origin = { ...originIn(mode), tool: name, onClamp }
    const kept = tellingRedacted(compiled, origin, cut, () => redactValue(cut, compiled))
    return kept === result || mode !== 'on'
      ? {}
      : { hookSpecificOutput: { hookEventName: EVENT, updatedToolOutput: kept } }
  }
  return { [EVENT]: [{ hooks: [hook] }] }
}

/** Returns a result within the limits, in its own shape: the same object if nothing changes. */
async function clamped(call: HookCall, policy: Parameters<typeof clampCall>[3]): Promise<unknown> {
  const row = rowOf(HOST, call.name)
  const outcome = row && (await outcomeOf(row, call, policy))
  return outcome?.output ?? call.result
}

function outcomeOf(row: HostShape, call: HookCall, policy: WrapPolicy) {
  const { whole: _, ...shown } = row
  // The file with the whole output may be gone; the event has its beginning.
  return clampCall(HOST, row, call, policy).catch(() => clampCall(HOST, shown, call, policy))
}

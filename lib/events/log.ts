import type { ChannelMessages, ClampEvent, RecoveryEvent } from 'spillway'
import { callback } from '../kinds.js'
import { show } from '../validate.js'
import { listen, type Messages } from './channels.js'

export function logEvents(write: (line: string) => void = console.error): () => void {
  callback('write', write)
  const say = (words: string) => write(`spillway: ${words}`)
  return listen({
    clamp: (event) => say(changeIn(event)),
    spill: (event) => say(saveIn(event)),
    recovery: (event) => say(stepIn(event)),
    repair: (event) => say(repairIn(event)),
  })
}

function changeIn(event: ClampEvent): string {
  const { applied, phase, saved } = event
  const subject = phase === 'result' ? nameOf(event) : `${nameOf(event)}, ${phase},`
  const was = event.action === 'skipped' ? 'is' : applied === false ? 'would be' : 'was'
  const named = saved === undefined ? '' : `; saved as ${show(saved).slice(1, -1)}`
  return `${subject} ${was} ${whatOf(event)}${named}`
}

function whatOf({ action, reason, total, kept, exceeded, media, redacted = {} }: ClampEvent): string {
  const from = `${count(total.chars)} chars`
  const because = exceeded.length > 0 ? `${reason}: ${exceeded.join(', ')}` : reason
  if (action === 'cut') return `cut from ${from} to ${count(kept.chars)} (${because})`
  if (action === 'cleared') return `cleared of ${from} (${reason})`
  if (action === 'omitted') return `sent without ${count(media?.items ?? 0)} payloads (${reason})`
  if (action === 'skipped') return `left as it is (${reason})`
  return `redacted (${Object.entries(redacted)
    .map(([kind, times]) => `${times} ${kind}`)
    .join(', ')})`
}

function saveIn({ record, error, ...call }: ChannelMessages['spill']): string {
  return record
    ? `${count(record.bytes)} bytes of ${nameOf(call)} were saved as ${record.id}`
    : `the output of ${nameOf(call)} was not saved: ${show(error?.message).slice(1, -1)}`
}

function stepIn({ type, attempt, reason = '', applied }: RecoveryEvent): string {
  return `${applied === false ? 'recovery would' : 'recovery'}: ${type}, request ${attempt} (${reason})`
}

function repairIn({ path, changed, rows, clamped }: Messages['repair']): string {
  return `${show(path)} was ${changed ? 'repaired' : 'left as it is'}: ${count(clamped)} of ${count(rows)} rows`
}

/** Returns the name of a tool as one line, since a server chooses it. */
function nameOf({ tool, callId }: { tool?: string; callId?: string }): string {
  const id = callId === undefined ? '' : ` ${show(callId).slice(1, -1)}`
  return tool === undefined ? `a result${id}` : `${show(tool).slice(1, -1)}${id}`
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

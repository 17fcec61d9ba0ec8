import type { ClampEvent, WrapPolicy } from 'spillway'
import { type EnginePolicy, paged } from './compiled.js'
import { notify } from './untrusted.js'

/** Combines the policies of a tool that is wrapped again: the tighter limit of each kind, and the
 *  later policy's other options. */
export function layered(inner: EnginePolicy, outer: EnginePolicy): EnginePolicy {
  if (outer === inner || outer === inner.latest) return inner
  const spill = inner.given.spill ?? outer.given.spill
  const onClamp = both(inner.onClamp, outer.onClamp)
  const options: WrapPolicy = {
    ...inner.given,
    ...outer.given,
    ...tighter(inner, outer),
    ...tighterSide(inner, outer),
    ...tighterMedia(inner, outer),
    ...moreRedacted(inner.given, outer.given),
    ...(spill && { spill }),
    // Either may be meant to cut.
    observe: inner.given.observe === true && outer.given.observe === true,
    ...(onClamp && { onClamp }),
  }
  const speaker = outer.given.notice === undefined ? inner : outer
  const made = { ...speaker.remake(options), dialect: outer.dialect ?? inner.dialect, latest: outer }
  return inner.pages || outer.pages ? paged(made) : made
}

function tighter({ limits: a }: EnginePolicy, { limits: b }: EnginePolicy): WrapPolicy {
  return {
    maxBytes: Math.min(a.bytes, b.bytes),
    maxLines: Math.min(a.lines, b.lines),
    maxChars: Math.min(a.chars, b.chars),
    maxTokens: Math.min(a.tokens, b.tokens),
    maxLineBytes: Math.min(a.lineBytes, b.lineBytes),
  }
}

/** The tighter of two bounds of side data. If either policy has none, the later one decides. */
function tighterSide(inner: EnginePolicy, outer: EnginePolicy): WrapPolicy {
  if (inner.sideData !== 'cap' || outer.sideData !== 'cap') return {}
  return { sideData: { maxBytes: Math.min(inner.maxSideBytes, outer.maxSideBytes) } }
}

/** The tighter bound of each kind. The later policy says which payloads stay. */
function tighterMedia({ media: a }: EnginePolicy, { media: b }: EnginePolicy): WrapPolicy {
  const [one, other] = [b ?? a, a ?? b]
  if (!one || !other) return {}
  const maxBytes = Math.min(one.maxBytes, other.maxBytes)
  const maxItems = Math.min(one.maxItems, other.maxItems)
  return { media: { maxBytes, maxItems, order: one.first ? 'newest' : 'oldest' } }
}

/** Redacts all that either redacts. */
function moreRedacted({ redact: a }: WrapPolicy, { redact: b }: WrapPolicy): WrapPolicy {
  if (!a || !b) return { redact: a || b || false }
  const [one, other] = [a, b].map((redact) => (redact === true ? {} : redact))
  const kinds = one?.kinds && other?.kinds ? { kinds: [...one.kinds, ...other.kinds] } : {}
  return { redact: { ...kinds, patterns: [...(one?.patterns ?? []), ...(other?.patterns ?? [])] } }
}

type Listener = (event: ClampEvent) => void

/** The original listeners of each joined listener. */
const joined = new WeakMap<Listener, readonly Listener[]>()

/** Joins two listeners, which may be joined already, so that each original one is called once. */
function both(a: Listener | undefined, b: Listener | undefined): Listener | undefined {
  const given = [a, b].filter((one) => one !== undefined)
  const all = [...new Set(given.flatMap((one) => joined.get(one) ?? [one]))]
  if (all.length < 2) return all[0]
  const listen = (event: ClampEvent) => {
    for (const one of all) notify(() => one({ ...event }))
  }
  joined.set(listen, all)
  return listen
}

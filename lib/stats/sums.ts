import type { Figures } from './record.js'

/** A call that repeats one of this many earlier calls counts as repeated. */
const AGAIN = 5

/** Chars of the results of one tool, or of all tools. */
export interface Sums {
  calls: number
  cut: number
  /** Results that the hook could not shorten, since it does not know the tool. */
  left: number
  shown: number
  sent: number
  readBack: number
  repeated: number
  /** Chars that would have been saved of results that were only observed. */
  observed: number
}

/** Returns the chars saved. The number is negative if more chars were sent, read back and repeated
 *  than the whole results contain. */
export function savedOf({ shown, sent, readBack, repeated }: Sums): number {
  return shown - sent - readBack - repeated
}

/** Sums the figures by tool, in the order of their calls. */
export function sumsOf(all: Iterable<Figures>): Map<string, Sums> {
  const tools = new Map<string, Sums>()
  const latest = new Map<string, Figures[]>()
  for (const figures of all) {
    const { session, tool, call, shown, cut, back, left, observed } = figures
    const sent = observed ? shown : figures.sent
    const sums = tools.get(tool) ?? none()
    tools.set(tool, sums)
    const before = latest.get(session) ?? []
    if (observed) sums.observed += shown - figures.sent
    const isAgain =
      call !== undefined && before.some((other) => other.cut && !other.observed && other.call === call)
    latest.set(session, [...before, figures].slice(-AGAIN))
    sums.calls += 1
    if (cut && !observed) sums.cut += 1
    if (left) sums.left += 1
    if (back) sums.readBack += sent
    else if (isAgain) sums.repeated += sent
    else {
      sums.shown += shown
      sums.sent += sent
    }
  }
  return tools
}

export function none(): Sums {
  return { calls: 0, cut: 0, left: 0, shown: 0, sent: 0, readBack: 0, repeated: 0, observed: 0 }
}

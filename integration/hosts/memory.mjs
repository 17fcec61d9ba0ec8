// The conversation that a request carries: calls, results, words of the model, images and our own
// prompts. What hosts say beside these (dates, reminders, settings) differs from run to run.

/** The prompt of a turn. */
export const promptOf = (turn) => `please do step ${turn}`

const AGAIN = ' again '

/** Lists what a request carries, each with a key that is its own. */
export function memoryOf({ history }) {
  const seen = new Map()
  const keyed = (key, rest) => {
    const nth = seen.get(key) ?? 0
    seen.set(key, nth + 1)
    return { key: nth > 0 ? `${key}${AGAIN}${nth}` : key, ...rest }
  }
  return history.flatMap(({ kind, id, name, text, images = [] }) => {
    if (kind === 'call' || kind === 'result') return keyed(`${kind} ${id}`, { kind, id, name, text, images })
    const prompts = text.match(/please do step \d+/g) ?? []
    const said = ['assistant', 'model'].includes(kind) && text ? [text] : []
    return [
      ...[...new Set(prompts), ...said].map((text) =>
        keyed(`words ${text.slice(0, 60)}`, { kind, text, images: [] }),
      ),
      ...images.map((image) => keyed(`image ${image}`, { kind: 'image', text: '', images: [image] })),
    ]
  })
}

/** Returns the entries that a host sent when it was started, undefined if it did not open the
 *  session. */
export const opened = ({ code, requests }) =>
  code === 0 && requests.length > 0 ? memoryOf(requests[0]) : undefined

const charsOf = (memory) => memory.reduce((sum, { text }) => sum + text.length, 0)
const hasSame = (one, other) => one.text === other?.text && `${one.images}` === `${other?.images}`

/** A result is still that of the tool if something was put in behind its start. */
const START = 6
const beginsAs = (one, other) => other?.text && other.text.slice(0, START) === one.text.slice(0, START)

/** A report of no change. */
export const NOTHING = { clamped: 0, paired: 0, orphans: 0, damaged: 0, media: 0 }
/** A report for an undo. Once a turn is behind a call without a result, a host words the result
 *  that it puts in otherwise, or leaves the call out. Claude Code does so in sessions that were
 *  never repaired: they open without a call whose result is lost. */
export const UNDONE = { ...NOTHING, paired: 1, unanswered: true }

/** Says what a repair took away or put in, beyond what its report says. `known` is what was sent
 *  while the session was made. */
export function lossesOf({ before, after, known, report }) {
  if (!before) return []
  if (!after) return ['it does not open any more']
  const { clamped, paired, orphans, media, unanswered } = report
  const kept = new Map(after.map((entry) => [entry.key, entry]))
  const had = new Map(before.map((entry) => [entry.key, entry]))
  const told = []
  const cut = new Set()
  const own = new Set()
  const isOfTool = (entry, sent = known.get(entry?.key)) =>
    entry !== undefined && (hasSame(entry, sent) || beginsAs(entry, sent))
  for (const entry of before) {
    const { kind, key, id } = entry
    const now = kept.get(key)
    // A host puts a result of its own where there is none, and words for what it left out.
    const isOwn = kind === 'result' ? !isOfTool(entry) : kind !== 'call' && !known.has(key)
    if (isOwn) own.add(key)
    if (!now) {
      const isAlone = kind === 'result' && orphans > 0 && !had.has(`call ${id}`)
      const isUnanswered = unanswered && kind === 'call' && !isOfTool(had.get(`result ${id}`))
      if (!isAlone && !isUnanswered && !(kind === 'image' && media > 0) && !isOwn) told.push(`${key} is lost`)
    } else if (!hasSame(entry, now)) {
      if (isOwn && (paired > 0 || hasSame(now, known.get(key)))) continue
      const isShorter = now.text.length < entry.text.length && /truncated|omitted/.test(now.text)
      const isCut = clamped > 0 && isShorter && `${entry.images}` === `${now.images}`
      const isWithoutImage = media > 0 && now.images.length < entry.images.length
      if (isCut || isWithoutImage) cut.add(id)
      else told.push(`${key} was ${show(entry)} and is ${show(now)}`)
    }
  }
  if (cut.size > clamped + media) told.push(`${cut.size} results are cut, ${clamped} by the report`)
  // New words are those of another turn.
  for (const { key, kind, id, ...entry } of after) {
    const [whole] = key.split(AGAIN)
    if (had.has(key) || known.has(whole) || !['call', 'result', 'image'].includes(kind)) continue
    const isAdded = kind === 'result' && (paired > 0 || had.has(`call ${id}`))
    if (!isAdded) told.push(`${key} is new: ${show(entry)}`)
  }
  const order = (entries, other) => entries.flatMap(({ key }) => (other.has(key) && !own.has(key) ? key : []))
  const [was, is] = [order(before, kept), order(after, had)]
  if (`${was}` !== `${is}`) told.push(`in another order: ${was.find((key, at) => key !== is[at])}`)
  return told
}

const show = ({ text, images }) =>
  `${JSON.stringify(text.slice(0, 60))} (${text.length} chars, ${images.length} images)`

/** A tenth, and more than the words that a host puts in for a missing result. */
const isLess = (before, after) => before - after > Math.max(before / 10, 10_000)

/** Says what a repair is good for: it opens, it is sent what it has, less is rejected, or a tenth
 *  less is sent. */
export function gainsOf({ before, after, known }) {
  if (!after.memory) return []
  if (!before.memory) return ['it opens']
  const had = new Map(before.memory.map((entry) => [entry.key, entry]))
  const isAsSent = (entry) => entry !== undefined && hasSame(entry, known.get(entry.key))
  const back = after.memory.filter((entry) => isAsSent(entry) && !isAsSent(had.get(entry.key)))
  const mended = before.faults.filter((fault) => !after.faults.includes(fault))
  return [
    ...back.map(({ key }) => `${key} is back`),
    ...(after.faults.length < before.faults.length ? mended.map((fault) => `mended: ${fault}`) : []),
    ...(isLess(charsOf(before.memory), charsOf(after.memory)) ? ['it sends less'] : []),
  ]
}

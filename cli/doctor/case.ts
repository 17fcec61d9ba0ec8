import type { MediaOptions, RepairOptions, RepairReport, ResultPolicy } from 'spillway'
import type { Taken } from '../../lib/session/session.js'
import { layouts } from '../../src/layouts.json'
import { repairLine } from '../cuts.js'
import { type Losses, lossesOf } from '../taken.js'
import type { Args } from '../term/args.js'
import { present } from '../term/table.js'
import type { HomeFile } from './homes.js'

/** A file with its size and the time of its last change. */
export interface SizedFile extends HomeFile {
  readonly modified: Date
  readonly bytes: number
}

/** A session that needs a repair, or that no repair helps. */
export interface Case extends SizedFile {
  readonly bytesAfter: number
  readonly over: number
  readonly damaged: number
  readonly paired: number
  readonly unpaired: number
  readonly orphans: number
  readonly rearranged: number
  readonly media: number
  readonly provider?: NonNullable<MediaOptions['provider']>
  /** Tokens of results that each fit, if together they exceed every window. */
  readonly together?: number
  /** Results without a call that no repair removes. */
  readonly strays?: number
  /** Lines with a fault that no repair mends. */
  readonly invalidName?: number
  readonly lostParent?: number
  /** Figures of all that the command takes away. */
  readonly takes?: Losses
  /** The command line that repairs the session, if a repair helps. */
  readonly command?: string
}

/** Tokens of the largest context window. A host can then not even ask for a summary. */
const WINDOW = 1_000_000

/** Returns what a repair would do, by a dry run of it. */
export async function examine(
  file: SizedFile,
  policy: ResultPolicy,
  args: Args,
): Promise<Case | 'unknown' | undefined> {
  const { triageSession, repairCounted } = await import('../../lib/session/session.js')
  const { path } = file
  const { format: seen, resultBytes, flaws, ...may } = await triageSession(path, policy)
  const { damaged: isDamaged } = may
  if (seen === 'unknown' && !isDamaged) return 'unknown'
  // A token takes a byte at least.
  const mayExceed = resultBytes > WINDOW
  const isFlawed = Object.keys(flaws).length > 0
  if (!Object.values(may).includes(true) && !mayExceed && !isFlawed) return undefined
  // The rows before the first damaged one do not tell the layout if that is the first row.
  const mended = { ...policy, dryRun: true, damaged: 'mend' } as const
  const format = seen === 'unknown' ? (await repairCounted(path, mended)).format : seen
  const media = isDamaged || may.media ? (policy.media ?? (await mediaOf(path, format, policy))) : undefined
  const dryRun = (how: Pick<RepairOptions, 'pairs' | 'aggregate' | 'damaged'>) =>
    repairCounted(path, { ...policy, media, dryRun: true, ...how })
  const whole = await dryRun({ pairs: isDamaged || may.pairs, damaged: isDamaged ? 'mend' : 'leave' })
  if (whole.report.reason === 'format unknown') return 'unknown'
  const isLeft = isDamaged && format !== 'messages' && whole.cuts.mended === 0
  const kept = isLeft && hasWork(whole, format) ? await dryRun({ pairs: true, damaged: 'leave' }) : whole
  // Damage is a reason only if a mend brings back a row that the host does not read, or if a row
  // that the host reads out of it is to be cut. A host that is not known may reject the file.
  const mends = isDamaged && (!isLeft || workOf(whole) > workOf(kept))
  const first = mends ? whole : kept
  const {
    paired = 0,
    unpaired = 0,
    orphans: gone = 0,
    rearranged: moved = 0,
    strays: alone = 0,
  } = first.report
  const damaged = mends ? first.report.damaged : 0
  const [orphans, rearranged, strays] = mendsResults(format) ? [0, 0, 0] : [gone, moved, alone]
  const items = first.report.media?.items ?? 0
  const over = first.cuts.worth
  const together = mayExceed ? await togetherOf(path, policy) : undefined
  // A row that comes back may be the row that others follow.
  const left = mends ? {} : flaws
  // A host that resumes a session answers a call without a result, or leaves the call out, so such
  // a call is not a reason for a repair, unless the host is known to send it. Plain messages are
  // taken as sent.
  const lacking = sendsCalls(format) ? paired : 0
  const asksPairs = orphans + rearranged + lacking > 0
  const isFound = over + damaged + items > 0 || asksPairs || together !== undefined
  if (!isFound && strays === 0 && Object.keys(left).length === 0) return undefined
  const aggregate = together && { maxChars: together.maxChars }
  const isAgain = (paired + gone + moved > 0 && !asksPairs) || aggregate !== undefined
  const damage = mends ? 'mend' : 'leave'
  const again = { pairs: asksPairs, damaged: damage, ...(aggregate && { aggregate }) } as const
  const { report, cuts } = isAgain ? await dryRun(again) : first
  const provider = items > 0 ? media?.provider : undefined
  const flags = present(
    mends && '--damaged mend',
    asksPairs && '--pairs',
    provider && `--for ${provider}`,
    together && `--max-total-chars ${together.maxChars}`,
  )
  return {
    ...file,
    bytesAfter: isFound ? report.bytesAfter : file.bytes,
    over,
    damaged,
    paired,
    unpaired,
    orphans,
    rearranged,
    media: items,
    ...(strays > 0 && { strays }),
    ...(provider && { provider }),
    ...(together && { together: together.tokens }),
    ...left,
    ...(isFound && {
      takes: lossesOf(report, cuts, mends),
      command: repairLine([path], args, flags),
    }),
  }
}

/** Counts the results and payloads that a repair makes smaller. */
function workOf({ report, cuts }: { readonly report: RepairReport; readonly cuts: Taken }): number {
  return cuts.worth + (report.media?.items ?? 0)
}

/** Returns true if a repair of pairs, cuts or media has anything to do. */
function hasWork(made: { readonly report: RepairReport; readonly cuts: Taken }, format: string): boolean {
  const { paired = 0, orphans = 0, rearranged = 0, strays = 0 } = made.report
  return workOf(made) + orphans + rearranged + strays + (sendsCalls(format) ? paired : 0) > 0
}

/** Facts about the agent of a format, from src/layouts.json. */
interface Facts {
  readonly name: string
  readonly mends?: readonly string[]
  /** The only provider that its requests go to. */
  readonly provider?: NonNullable<MediaOptions['provider']>
}

const factsOf = (format: string) => (layouts as readonly Facts[]).find(({ name }) => name === format)

/** Returns true if the agent sends a call without a result unchanged. */
const sendsCalls = (format: string) => factsOf(format)?.mends?.includes('calls') === false

/** Returns true if the agent itself omits a result without a call. */
const mendsResults = (format: string) => factsOf(format)?.mends?.includes('results') ?? false

/** Returns the tokens of all results that the agent sends, each within the limits, and the chars to
 *  which a repair cuts them together, half a window. Returns undefined if the results fit a
 *  window. */
async function togetherOf(path: string, policy: ResultPolicy) {
  const { inspectCounted } = await import('../../lib/session/session.js')
  const { resultTokens: tokens, byTool } = (await inspectCounted(path, policy)).report
  if (tokens <= WINDOW) return undefined
  const chars = byTool.reduce((sum, { chars }) => sum + chars, 0)
  return { tokens, maxChars: Math.max(1, Math.floor((chars * WINDOW) / tokens / 2)) }
}

/** Returns the limits of the provider of an agent or, of an agent with several, of the provider
 *  that rejects most. */
async function mediaOf(path: string, format: string, policy: ResultPolicy): Promise<ResultPolicy['media']> {
  const provider = factsOf(format)?.provider
  if (provider) return { provider }
  const { inspectCounted } = await import('../../lib/session/session.js')
  const { refused = [] } = (await inspectCounted(path, policy)).report
  const rejected = new Map<NonNullable<MediaOptions['provider']>, number>()
  for (const { provider } of refused) rejected.set(provider, (rejected.get(provider) ?? 0) + 1)
  const [most] = [...rejected].sort(([, a], [, b]) => b - a)
  return most && { provider: most[0] }
}

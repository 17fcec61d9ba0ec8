import type { MediaProvider, ResultPolicy } from 'spillway'
import { repairLine } from '../cuts.js'
import type { Args } from '../term/args.js'
import type { Found } from './homes.js'

/** A file with its size and the time of its last change. */
export interface Dated extends Found {
  readonly modified: Date
  readonly bytes: number
}

/** A session that needs a repair. */
export interface Case extends Dated {
  readonly bytesAfter: number
  readonly over: number
  readonly damaged: number
  readonly paired: number
  readonly unpaired: number
  readonly orphans: number
  readonly rearranged: number
  readonly media: number
  readonly provider?: MediaProvider
  /** The command line that repairs it, unless its format has no way. */
  readonly command?: string
}

/** Returns what a repair would do, by a dry run of it. */
export async function examine(
  file: Dated,
  policy: ResultPolicy,
  args: Args,
): Promise<Case | 'unknown' | undefined> {
  const { triageSession, repairCounted } = await import('../../lib/session/session.js')
  const { path } = file
  const { format, ...may } = await triageSession(path, policy)
  const { damaged: isDamaged } = may
  if (format === 'unknown' && !isDamaged) return 'unknown'
  if (!Object.values(may).includes(true)) return undefined
  const media = isDamaged || may.media ? (policy.media ?? (await mediaOf(file, policy))) : undefined
  const dryRun = (media: ResultPolicy['media']) =>
    repairCounted(path, {
      ...policy,
      media,
      dryRun: true,
      damaged: isDamaged ? 'mend' : 'keep',
      pairs: isDamaged || may.pairs,
    })
  const { report, cuts } = await dryRun(media)
  if (report.reason === 'format unknown') return 'unknown'
  const { damaged, paired = 0, unpaired = 0, orphans = 0, rearranged = 0, bytesAfter } = report
  const items = report.media?.items ?? 0
  // A repair counts results that lose a payload as well.
  const over = items > 0 ? (await dryRun(undefined)).cuts.over : cuts.over
  const pairs = paired + orphans + rearranged
  if (over + damaged + pairs + unpaired + items === 0) return undefined
  const provider = items > 0 ? media?.provider : undefined
  const flags = [
    ...(damaged > 0 ? ['--damaged mend'] : []),
    ...(pairs > 0 ? ['--pairs'] : []),
    ...(provider ? [`--for ${provider}`] : []),
  ]
  const { provider: _, ...found } = file
  return {
    ...found,
    bytesAfter,
    over,
    damaged,
    paired,
    unpaired,
    orphans,
    rearranged,
    media: items,
    ...(provider && { provider }),
    ...(over + damaged + pairs + items > 0 && { command: repairLine([path], args, flags) }),
  }
}

/** Returns the limits of the provider of an agent or, of an agent with several, of the provider
 *  that rejects most. */
async function mediaOf({ path, provider }: Found, policy: ResultPolicy): Promise<ResultPolicy['media']> {
  if (provider) return { provider }
  const { inspectCounted } = await import('../../lib/session/session.js')
  const { refused = [] } = (await inspectCounted(path, policy)).report
  const rejected = new Map<MediaProvider, number>()
  for (const { provider } of refused) rejected.set(provider, (rejected.get(provider) ?? 0) + 1)
  const [most] = [...rejected].sort(([, a], [, b]) => b - a)
  return most && { provider: most[0] }
}

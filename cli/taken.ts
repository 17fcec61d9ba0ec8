import { basename } from 'node:path'
import type { RepairReport } from 'spillway'
import type { Taken } from '../lib/session/session.js'
import { oneLine } from './term/escape.js'
import { counted, present, size } from './term/table.js'

/** Figures of what a repair takes away from a session, or adds to it. */
export interface Losses {
  /** Results whose text is cut, and the bytes that these lose. */
  readonly results: number
  readonly resultBytes: number
  /** Other results whose details are cut. */
  readonly details: number
  /** Images and files that words replace, and their bytes, decoded. */
  readonly media: number
  readonly mediaBytes: number
  /** Rows that are mended, and the bytes of them that are put aside. */
  readonly damaged: number
  readonly asideBytes: number
  /** Results that are added for calls without one, and results without a call that are removed. */
  readonly adds: number
  readonly removes: number
  /** Results that move, ids and names that change, and turns that become one. */
  readonly rearranges: number
  /** The last row gets a newline. */
  readonly newline: boolean
}

export function lossesOf(report: RepairReport, cuts: Taken, mends: boolean): Losses {
  const { media, damaged, paired = 0, orphans = 0, rearranged = 0, tornTail } = report
  return {
    results: cuts.texts,
    resultBytes: cuts.bytes - cuts.left,
    details: cuts.details,
    media: media?.items ?? 0,
    mediaBytes: media?.bytes ?? 0,
    damaged: mends ? damaged : 0,
    asideBytes: cuts.aside,
    adds: paired,
    removes: orphans,
    rearranges: rearranged,
    newline: tornTail,
  }
}

/** Says what a repair takes away: "cuts 2 results, 5.1 MB; nothing else changes". */
export function lossesSaid(losses: Losses, file: string): string {
  const { results, resultBytes, details, media, mediaBytes, damaged, asideBytes, adds, removes } = losses
  const { rearranges, newline } = losses
  const aside = `, and puts ${size(asideBytes)} of damage aside in ${oneLine(basename(file))}.damaged`
  const said = present(
    results > 0 && `cuts ${counted(results, 'result')}, ${size(resultBytes)}`,
    details > 0 && `cuts the large details of ${counted(details, 'result')}`,
    media > 0 &&
      `replaces ${counted(media, 'image or file', 'images and files')} by words, ${size(mediaBytes)}`,
    damaged > 0 &&
      `mends ${counted(damaged, 'row')} that ${damaged === 1 ? 'is' : 'are'} not JSON${asideBytes > 0 ? aside : ''}`,
    adds > 0 && `adds ${counted(adds, 'result')}`,
    removes > 0 && `removes ${counted(removes, 'result')} without a call`,
    rearranges > 0 &&
      `changes ${counted(rearranges, 'id, name or place', 'ids, names or places')} of calls and results`,
    newline && 'ends the last row with a newline',
  )
  return said.length === 0 ? 'takes nothing away' : `${said.join('; ')}; nothing else changes`
}

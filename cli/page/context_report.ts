import { constants } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type InspectOptions, inspectCounted, repairCounted } from '../../lib/session/session.js'
import { repairLine } from '../cuts.js'
import type { Args } from '../term/args.js'
import { notASession } from '../term/usage_error.js'
import { contextPageOf } from './context_page.js'
import { SessionContext } from './session_context.js'

/** Inspects a session, repairs a copy of it, and makes a page on both. */
export async function contextPage(
  file: string,
  { top = 10, ...options }: InspectOptions,
  args: Args,
  window?: number,
): Promise<string> {
  const { report, cuts } = await inspectCounted(file, { ...options, top: Number.POSITIVE_INFINITY })
  if (report.format === 'unknown' && report.rows > 0) throw notASession(file)
  const place = await mkdtemp(join(tmpdir(), 'spillway-'))
  try {
    const copy = join(place, 'session.jsonl')
    await copyFile(file, copy, constants.COPYFILE_FICLONE)
    await repairCounted(copy, { ...options, backup: false })
    const context = await SessionContext.read(file, copy, report, top)
    const { maxBytes = 51_200, maxLines = 2_000, maxChars = Infinity, maxTokens = Infinity } = options
    const limits = { maxBytes, maxLines, maxChars, maxTokens }
    return contextPageOf({ file, report, cuts }, context, repairLine([file], args), limits, window)
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

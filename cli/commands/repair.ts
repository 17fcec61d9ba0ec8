import { availableParallelism } from 'node:os'
import type { RepairOptions, RepairReport } from 'spillway'
import { TABLES } from '../../lib/options.js'
import type { Taken } from '../../lib/session/session.js'
import { cutsSaid } from '../cuts.js'
import { sessionsOf } from '../files.js'
import { flagsOf, optionsIn } from '../option_flags.js'
import { damagedNote, FORMATS } from '../page/session_page.js'
import { forFlag, MEDIA_FLAGS, mediaOf, policyFlags, policyOf } from '../policy.js'
import { pool } from '../pool.js'
import { interruptible } from '../signals.js'
import { lossesOf, lossesSaid } from '../taken.js'
import type { Args, Command } from '../term/args.js'
import { jsonLine, oneLine } from '../term/escape.js'
import { ProgressLine } from '../term/progress.js'
import { SUMMARIES } from '../term/summaries.js'
import { counted, present, size } from '../term/table.js'
import { err, out } from '../term/terminal.js'
import {
  explain,
  isBrokenPipe,
  naming,
  notASession,
  notMended,
  tellOf,
  UnreadPlaces,
  UsageError,
} from '../term/usage_error.js'
import { checkUndo, UNDO_FLAGS, undoAll } from '../undo.js'

const USAGE = 'spillway repair FILE...'

export const repair: Command = {
  summary: SUMMARIES.repair,
  usage: [`${USAGE} [flags]`],
  about: `Truncates tool results over the limits of the policy, and keeps every other
byte. FILE is replaced in one step and kept as FILE.bak. First end the agent
that has it open. A directory means all sessions below it, - the paths on stdin,
one a line. Repairs twice as many at once as there are cores. Exits with 1 if a
remaining damaged row may hold a result over the limits.`,
  names: 'file',
  flags: {
    ...flagsOf(TABLES.repair, {
      dryRun: 'report the changes without writing',
      pairs: 'give a result to every call that has none, and\nremove results without a call',
      damaged: {
        value: 'HOW',
        help: 'what is not JSON: leave it, or mend the rows or\nmessages in it (the rest goes to FILE.damaged)',
      },
    }),
    'no-backup': { help: 'do not keep FILE.bak' },
    json: { help: 'print each RepairReport as a line of JSON' },
    ...UNDO_FLAGS,
    for: forFlag('omit'),
    ...MEDIA_FLAGS('the session'),
    'max-total-chars': { value: 'SIZE', help: 'UTF-16 code units of all results together (Infinity)' },
    ...policyFlags({ keep: 'auto', notice: 'pi', clean: 'never' }),
  },
  examples: [
    ['The changes, without making them', 'spillway repair --dry-run session.jsonl'],
    ['A session that does not open any more', 'spillway repair session.jsonl'],
    ['A session with rows that a crash damaged', 'spillway repair --damaged mend session.jsonl'],
    ['Room for a smaller model', 'spillway repair --max-tokens 4000 session.jsonl'],
    ['The file as it was before its latest repair', 'spillway repair --undo session.jsonl'],
    ['An image that the provider rejects', 'spillway repair --for anthropic session.jsonl'],
    ['The latest 14 MB of images', 'spillway repair --max-media-bytes 14M session.jsonl'],
    ['All sessions of an agent', 'spillway repair ~/.pi/agent/sessions'],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  if (args.names.length === 0) throw new UsageError(`FILE is missing; usage: ${USAGE}`)
  checkUndo(args)
  const policy = { ...policyOf(args), ...mediaOf(args), ...aggregateOf(args) }
  const unread = new UnreadPlaces('repair')
  const { files, named } = await sessionsOf(args.names, 'repair', unread.take)
  const exit = await unread.exit()
  if (args.has('undo')) return Math.max(exit, await undoAll(files, args))
  if (files.length === 0) return exit
  const isAlone = files.length === 1
  const left = isAlone ? 'the file was not changed' : 'each file is repaired or was not changed'
  return interruptible(left, async (signal) => {
    const options: RepairOptions = {
      ...policy,
      ...optionsIn(args, TABLES.repair, ['dryRun', 'pairs', 'damaged']),
      backup: !args.has('no-backup'),
      signal,
    }
    const all = new ProgressLine('repair')
    const work = (file: string) => repairOne(file, options, isAlone)
    const [reports, failed]: [RepairReport[], string[]] = [[], []]
    // Sessions whose damaged rows may hold results over the limits.
    let hidden = 0
    // While a new file is synced, another repair has the core.
    for (const [at, repairing] of pool(files, work, 2 * availableParallelism()).entries()) {
      const file = files[at] as string
      if (!isAlone) all.show(at / files.length, `of ${files.length} sessions`)
      try {
        const { report, cuts } = await repairing.finally(() => all.clear())
        const isUnknown = report.reason === 'format unknown'
        if (args.has('json')) await show(file, jsonLine({ path: file, ...report }))
        else if (!isUnknown) await show(file, summaryOf(file, report, cuts, options.damaged === 'mend'))
        // A file in a directory only has the name of a session.
        if (isUnknown && !named.has(file)) continue
        if (isUnknown) throw report.damaged > 0 ? notMended(file, report.damaged) : notASession(file)
        reports.push(report)
        if (report.reason === 'damaged rows') hidden += 1
      } catch (error) {
        await tellOf(error, 'repair')
        failed.push(file)
      }
    }
    if (!isAlone && !args.has('json'))
      await show('the summary', sumOf(reports, failed.length)).catch(() => failed.push(''))
    return failed.length + hidden > 0 ? 1 : exit
  })
}

/** Formats a line about several files. */
function sumOf(reports: readonly RepairReport[], failed: number): string {
  const sum = (name: 'bytesBefore' | 'bytesAfter') => reports.reduce((sum, report) => sum + report[name], 0)
  const cut = reports.filter(({ changed, clamped }) => changed || clamped > 0).length
  const parts = [`${cut} with changes`, `${reports.length - cut} as before`, `${failed} failed`]
  const sizes = `${size(sum('bytesBefore'))} to ${size(sum('bytesAfter'))}`
  return `${counted(reports.length + failed, 'session')}, ${sizes}: ${parts.join(', ')}\n`
}

/** Shows a report. If its reader has closed the pipe, the other files are still repaired. */
async function show(file: string, text: string): Promise<void> {
  await out.write(text).catch((error) => {
    if (!isBrokenPipe(error)) throw new UsageError(explain(error, `${file} is done, but not its report`), 1)
  })
}

/** Reads the budget over all results. */
function aggregateOf(args: Args): Pick<RepairOptions, 'aggregate'> {
  const maxChars = args.size('max-total-chars')
  return maxChars === undefined || maxChars === Number.POSITIVE_INFINITY ? {} : { aggregate: { maxChars } }
}

async function repairOne(
  file: string,
  options: RepairOptions,
  isShown: boolean,
): Promise<{ report: RepairReport; cuts: Taken }> {
  const { repairCounted } = await import('../../lib/session/session.js')
  await warnOf(file, options)
  const progress = new ProgressLine(file)
  const onProgress: RepairOptions['onProgress'] = ({ bytes, totalBytes, clamped }) =>
    progress.show(totalBytes === 0 ? 1 : bytes / totalBytes, `of ${size(totalBytes)}, ${clamped} cut`)
  const repairing = repairCounted(file, { ...options, ...(err.moves && isShown && { onProgress }) })
  return naming(file, repairing).finally(() => progress.clear())
}

/** Says before a session is written that its agent was not seen to open one that was repaired. */
async function warnOf(file: string, options: RepairOptions): Promise<void> {
  const { kindOfSession, repairCounted } = await import('../../lib/session/session.js')
  const { format, bySource } = await kindOfSession(file).catch(() => UNKNOWN)
  if (!bySource || options.dryRun) return
  const trial = { ...options, dryRun: true, onProgress: undefined }
  const report = await repairCounted(file, trial).catch(() => undefined)
  if (report?.report.reason !== 'dry run') return
  const words = `${FORMATS[format]}, whose form is known by the source of its agent: none was opened after a repair`
  await err.write(`spillway repair: ${oneLine(file)}: ${words}\n`)
}

const UNKNOWN = { format: 'unknown', bySource: false } as const

/** Tells of rows that are not JSON, and what became of them. */
function damagedLines(file: string, report: RepairReport, isMending: boolean): string[] {
  const { damaged, changed, damagedPath, unmended = 0 } = report
  if (unmended > 0)
    return [
      `${counted(unmended, 'damaged row')} left: other files hold offsets into this one, so no row comes or goes`,
    ]
  if (!isMending) return damagedNote(damaged, file)
  const rows = `${counted(damaged, 'row')} ${damaged === 1 ? 'is' : 'are'} not JSON`
  if (!changed) return [`${rows}: ${damaged === 1 ? 'it' : 'they'} would be mended`]
  const rest = damagedPath === undefined ? '' : `; text that is not a row is in ${oneLine(damagedPath)}`
  return [`${rows.replace(/ (is|are) /, (_, are) => (are === 'is' ? ' was ' : ' were '))}: mended${rest}`]
}

/** Formats the changes made to a file, or those that a dry run would make. */
function summaryOf(file: string, report: RepairReport, cuts: Taken, isMending: boolean): string {
  const { changed, rows, damaged, tornTail, bytesBefore, bytesAfter, backupPath, reason } = report
  const {
    recovered = 0,
    paired = 0,
    unpaired = 0,
    orphans = 0,
    strays = 0,
    rearranged = 0,
    padded = 0,
    unredacted = 0,
  } = report
  const wouldBe = reason === 'dry run'
  const found = cutsSaid(cuts)
  const done =
    found === ''
      ? wouldBe
        ? 'no result to cut'
        : 'no result cut'
      : `${wouldBe ? 'would cut' : 'cut'} ${found}`
  const losses = lossesOf(report, cuts, isMending)
  const lines = present(
    changed || wouldBe
      ? `${done}; ${size(bytesBefore)} to ${size(bytesAfter)} in ${counted(rows, 'row')}`
      : `${reason}: ${counted(rows, 'row')}, ${size(bytesBefore)}`,
    padded > 0 &&
      `${size(padded)} of that ${wouldBe ? 'would be' : 'are'} blanks: other files hold offsets into this one, so no row moves`,
    unredacted > 0 &&
      `${counted(unredacted, 'row')} with a secret left: a mark is longer, other files hold offsets into this one, and no row moves`,
    wouldBe && lossesSaid(losses, file),
    tornTail && `its last row ${wouldBe ? 'has no newline: one would be' : 'had no newline: one was'} added`,
    paired > 0 && `${counted(paired, 'call')} without a result ${wouldBe ? 'would get' : 'got'} one`,
    orphans > 0 &&
      `${counted(orphans, 'result')} without a call ${wouldBe ? 'would be' : orphans === 1 ? 'was' : 'were'} removed`,
    unpaired > 0 && `${counted(unpaired, 'call')} without a result: this format has no way to add one`,
    strays > 0 &&
      `${counted(strays, 'result')} without a call left: this format has no way to remove one, or no message would be left`,
    rearranged > 0 &&
      `${counted(rearranged, 'id, name or place', 'ids, names or places')} of calls and results ${wouldBe ? 'would change' : 'changed'}`,
    recovered > 0 && `${counted(recovered, 'row')} recovered that a killed repair had left aside`,
    damaged > 0 && damagedLines(file, report, isMending),
    backupPath !== undefined && `backup: ${oneLine(backupPath)}`,
  )
  return `${out.paint('bold', oneLine(file))}: ${lines.join('\n  ')}\n`
}

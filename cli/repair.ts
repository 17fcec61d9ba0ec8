import type { RepairOptions, RepairReport } from 'spillway'
import { repairSession } from '../index.js'
import type { Args, Command } from './args.js'
import { jsonLine, oneLine } from './escape.js'
import { damagedNote } from './inspect.js'
import { policyFlags, policyOf } from './policy.js'
import { Progress } from './progress.js'
import { interruptible } from './signals.js'
import { counted, size } from './table.js'
import { err, out } from './terminal.js'
import { explain, isBrokenPipe, naming, notASession, UsageError } from './usage_error.js'

const USAGE = 'spillway repair FILE...'

export const repair: Command = {
  summary: 'truncate oversized tool results in a stored session',
  usage: [`${USAGE} [flags]`],
  about: `Truncates tool results over the limits of the policy, and keeps every other
byte. FILE is replaced in one step and kept as FILE.bak. End the agent that has
it open first.`,
  flags: {
    'dry-run': { help: 'report the changes without writing' },
    'no-backup': { help: 'do not keep FILE.bak' },
    json: { help: 'print each RepairReport as a line of JSON' },
    ...policyFlags({ keep: 'auto', notice: 'pi', clean: 'never' }),
  },
  examples: [
    ['The changes, without making them', 'spillway repair --dry-run session.jsonl'],
    ['A session that does not open any more', 'spillway repair session.jsonl'],
    ['Room for a smaller model', 'spillway repair --max-tokens 4000 session.jsonl'],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  if (args.names.length === 0) throw new UsageError(`FILE is missing; usage: ${USAGE}`)
  const policy = policyOf(args)
  return interruptible(async (signal) => {
    const options = { ...policy, backup: !args.has('no-backup'), dryRun: args.has('dry-run'), signal }
    let exit = 0
    for (const file of args.names) {
      try {
        const report = await repairOne(file, options)
        const isUnknown = report.reason === 'format unknown'
        if (args.has('json')) await show(file, jsonLine({ path: file, ...report }))
        else if (!isUnknown) await show(file, summaryOf(file, report))
        if (isUnknown) throw notASession(file)
      } catch (error) {
        if (!isOfFile(error)) throw error
        await err.tell(`spillway repair: ${explain(error)}\n`)
        exit = 1
      }
    }
    return exit
  })
}

/** Shows a report. If its reader has closed the pipe, the other files are still repaired. */
async function show(file: string, text: string): Promise<void> {
  await out.write(text).catch((error) => {
    if (!isBrokenPipe(error)) throw new UsageError(explain(error, `${file} is done, but not its report`), 1)
  })
}

/** Returns true if an error concerns one file, so that the next one may succeed. */
function isOfFile(error: unknown): boolean {
  return error instanceof UsageError && error.exit === 1
}

async function repairOne(file: string, options: RepairOptions): Promise<RepairReport> {
  const progress = new Progress(file)
  const onProgress: RepairOptions['onProgress'] = ({ bytes, totalBytes, clamped }) =>
    progress.show(totalBytes === 0 ? 1 : bytes / totalBytes, `of ${size(totalBytes)}, ${clamped} cut`)
  const repairing = repairSession(file, { ...options, ...(err.moves && { onProgress }) })
  return naming(file, repairing).finally(() => progress.clear())
}

/** Formats the changes made to a file, or those that a dry run would make. */
function summaryOf(file: string, report: RepairReport): string {
  const { changed, rows, clamped, damaged, tornTail, bytesBefore, bytesAfter, backupPath, reason } = report
  const { recovered = 0 } = report
  const wouldBe = reason === 'dry run'
  const done = wouldBe ? 'would cut' : 'cut'
  const lines = [
    changed || wouldBe
      ? `${done} ${counted(clamped, 'tool result')} of ${counted(rows, 'row')}, ${size(bytesBefore)} to ${size(bytesAfter)}`
      : `${reason}: ${counted(rows, 'row')}, ${size(bytesBefore)}`,
    ...(tornTail
      ? [`its last row ${wouldBe ? 'has no newline: one would be' : 'had no newline: one was'} added`]
      : []),
    ...(recovered > 0 ? [`${counted(recovered, 'row')} recovered that a killed repair had left aside`] : []),
    ...(damaged > 0 ? [out.paint('yellow', damagedNote(damaged))] : []),
    ...(backupPath === undefined ? [] : [`backup: ${oneLine(backupPath)}`]),
  ]
  return `${out.paint('bold', oneLine(file))}: ${lines.join('\n  ')}\n`
}

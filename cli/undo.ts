import { LIMITS } from './policy.js'
import { interruptible } from './signals.js'
import type { Args } from './term/args.js'
import { oneLine } from './term/escape.js'
import { counted, size } from './term/table.js'
import { out } from './term/terminal.js'
import { naming, tellOf, UsageError } from './term/usage_error.js'

/** Flags of an undo. */
export const UNDO_FLAGS = {
  undo: { help: 'put the file before the latest repair back' },
  first: { help: 'with --undo: the file before the first repair' },
  'keep-appended': { help: 'with --undo: carry over rows appended since' },
  'discard-changes': { help: 'with --undo: put later changes in FILE.bak.latest' },
}

/** Flags that say how to repair, and mean nothing to an undo. */
const OTHERS = [
  'dry-run',
  'no-backup',
  'json',
  'keep',
  'notice',
  'clean',
  'no-clean',
  'redact',
  'max-media-bytes',
  'max-media-items',
  'max-total-chars',
  ...LIMITS,
]

/** Flags that need an undo. */
const OWN = ['first', 'keep-appended', 'discard-changes']

/** Rejects flags of an undo without it, and those of a repair with it. */
export function checkUndo(args: Args): void {
  const [wrong] = (args.has('undo') ? OTHERS : OWN).filter((name) => args.has(name))
  if (wrong === undefined && args.has('keep-appended') && args.has('discard-changes'))
    throw new UsageError('--discard-changes cannot be combined with --keep-appended')
  if (wrong === undefined) return
  throw new UsageError(
    args.has('undo') ? `--${wrong} cannot be combined with --undo` : `--${wrong} needs --undo`,
  )
}

/** Undoes the latest repair of each file. Returns the exit code. */
export async function undoAll(files: readonly string[], args: Args): Promise<number> {
  const { undoRepair } = await import('../lib/session/session.js')
  const keepAppended = args.has('keep-appended')
  const discardChanges = args.has('discard-changes')
  return interruptible('each file is restored or was not changed', async (signal) => {
    let exit = 0
    for (const file of files) {
      try {
        const options = { first: args.has('first'), keepAppended, discardChanges, signal }
        const report = await naming(file, undoRepair(file, options))
        const { bytesBefore, bytesAfter, rows, backupPath } = report
        const kept = rows > 0 ? ` and ${counted(rows, 'row')} appended since` : ''
        const lines = [
          `put the file before the ${options.first ? 'first' : 'latest'} repair back${kept}; ${size(bytesBefore)} to ${size(bytesAfter)}`,
          ...(backupPath === undefined ? [] : [`backup of the repaired file: ${oneLine(backupPath)}`]),
        ]
        await out.write(`${out.paint('bold', oneLine(file))}: ${lines.join('\n  ')}\n`)
      } catch (error) {
        await tellOf(error, 'repair')
        exit = 1
      }
    }
    return exit
  })
}

import type { Cuts } from '../lib/session/session.js'
import { platform } from './platform.js'
import { LIMITS } from './policy.js'
import type { Args } from './term/args.js'
import { oneLine } from './term/escape.js'
import { count, counted } from './term/table.js'
import { out } from './term/terminal.js'

/** Says what a repair cuts, in the same words before and after it: "2 results over the limits, 4
 *  more with large details". Empty if it cuts nothing. */
export function cutsSaid({ over, details }: Cuts): string {
  if (over === 0) return details === 0 ? '' : `${counted(details, 'result')} with large details`
  const more = details === 0 ? '' : `, ${count(details)} more with large details`
  return `${counted(over, 'result')} over the limits${more}`
}

export function sumOf(all: readonly Cuts[]): Cuts {
  const sum = (field: 'over' | 'details') => all.reduce((sum, cuts) => sum + cuts[field], 0)
  return { over: sum('over'), details: sum('details') }
}

/** Says what was found, `where` if in several sessions, and the command line that cuts it under the
 *  same limits. */
export function adviceOf(cuts: Cuts, where: string, files: readonly string[], args: Args): string[] {
  const them = cuts.over + cuts.details === 1 ? 'it' : 'them'
  return [`${out.paint('red', `${cutsSaid(cuts)}${where}.`)} To cut ${them}:`, `  ${repairLine(files, args)}`]
}

/** Returns the command line that cuts what was found. */
export function repairLine(
  files: readonly string[],
  args: Args,
  flags: readonly string[] = args.has('for') ? [`--for ${args.text('for')}`] : [],
): string {
  const limits = LIMITS.flatMap((flag) => (args.has(flag) ? `--${flag} ${args.text(flag)}` : []))
  const prepared = ['clean', 'redact'].filter((name) => args.has(name)).map((name) => `--${name}`)
  return ['spillway repair', ...flags, ...limits, ...prepared, ...files.map(quoted)].join(' ')
}

/** Quotes a path for a shell, and so that it is not read as a flag. One with controls or marks of
 *  text direction is written with escapes, as bash and zsh read them. */
export function quoted(path: string): string {
  if (path.startsWith('-')) return quoted(`./${path}`)
  const shown = oneLine(path)
  return shown === path ? platform.quote(path) : `$'${oneLine(path.replace(/[\\']/g, '\\$&'))}'`
}

import type { Database } from '../databases.js'
import type { Case } from '../doctor/case.js'
import { lossesSaid } from '../taken.js'
import { oneLine } from '../term/escape.js'
import { count, counted, present, size } from '../term/table.js'
import { out } from '../term/terminal.js'
import { flawLines } from './session_page.js'

/** Formats the sessions that need a repair, and the databases beside them. */
export function doctorPageOf(
  cases: readonly Case[],
  databases: readonly Database[],
  files: number,
  homes: readonly string[],
): string {
  const head =
    files === 0
      ? [`No sessions in:`, ...homes.map((home) => `  ${oneLine(home)}`)]
      : cases.length === 0
        ? [out.paint('green', `${counted(files, 'session')}: none needs a repair.`)]
        : [
            `${out.paint('red', `${count(cases.length)} of ${counted(files, 'session')} ${cases.length === 1 ? 'needs' : 'need'} a repair`)}, newest first:`,
          ]
  const stores = databases.map(
    ({ path, agent, advice }) =>
      `${oneLine(path)}: a database of ${agent}, which is not read. If a session in it does not open any more: ${advice}.`,
  )
  return `${[head.join('\n'), ...cases.map(entryOf), ...stores].join('\n\n')}\n`
}

/** Formats a session: what it is, why it needs a repair, and the command that repairs it. */
function entryOf(found: Case): string {
  const { path, agent, modified, bytes, bytesAfter, takes, command } = found
  const time = `${modified.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  const about = [...(agent ? [agent] : []), time, size(bytes)].join(', ')
  const shrinks = bytesAfter < bytes ? ` (${size(bytes)} to ${size(bytesAfter)})` : ''
  return [
    `${out.paint('bold', oneLine(path))}`,
    `  ${out.paint('dim', about)}`,
    `  ${reasonsOf(found).join('; ')}${shrinks}`,
    ...(takes ? [`  ${lossesSaid(takes, path)}`] : []),
    ...flawLines(found, path).map((line) => `  ${line}`),
    ...(command === undefined ? [] : [`  ${command}`]),
  ].join('\n')
}

function reasonsOf(found: Case): string[] {
  const { over, damaged, orphans, rearranged, strays = 0, media, provider, together } = found
  const { invalidName, lostParent } = found
  const lacking = found.takes?.adds ?? 0
  return present(
    over > 0 && `${counted(over, 'result')} over the limits`,
    damaged > 0 && `${counted(damaged, 'row')} ${damaged === 1 ? 'is' : 'are'} not JSON`,
    lacking > 0 && `${counted(lacking, 'call')} without a result`,
    orphans > 0 && `${counted(orphans, 'result')} without a call`,
    strays > 0 && `${counted(strays, 'result')} without a call, for which this format has no repair`,
    rearranged > 0 &&
      `${counted(rearranged, 'id, name or place', 'ids, names or places')} of calls and results that a provider would reject`,
    media > 0 && `${counted(media, 'payload')} that ${provider} would reject`,
    together && `results of together some ${count(together)} tokens`,
    invalidName !== undefined && 'a call with a name that no provider takes',
    lostParent !== undefined && 'a row that follows one which is not in the file',
  )
}

import { readFile } from 'node:fs/promises'
import { isObject } from '../../lib/mcp/message.js'
import type { Figures } from '../../lib/stats/record.js'
import { stateOf } from '../../lib/stats/state.js'
import { none, type Sums, savedOf, sumsOf } from '../../lib/stats/sums.js'
import { type Args, type Command, checkNames } from '../term/args.js'
import { SUMMARIES } from '../term/summaries.js'
import { cellsOf, count, counted, lineOf, nameOf } from '../term/table.js'
import { out } from '../term/terminal.js'
import { explain, UsageError } from '../term/usage_error.js'

const USAGE = 'spillway stats [--json]'
const HEAD = ['tool', 'calls', 'cut', 'shown', 'sent', 'read back', 'repeated', 'saved']

/** The reason why a tool may have cost chars. */
const DEARER = [
  'Below 0: a host shows a preview of some 2,000 chars of a long result, a hook all that the limits',
  'allow. So a first call may cost more; what it saves is the call that reads the rest.',
]

export const stats: Command = {
  summary: SUMMARIES.stats,
  usage: [USAGE],
  about: `Shows the chars that hooks and proxies have cut: shown is the text that the
model would have got without them, sent the text that it got. Saved is shown
less sent, less pages of saved outputs that were read back, less calls that were
made again within five calls after a cut. It may be negative: where the host
would show a preview, a first result costs more, and saves the call that reads
the rest. The figures are in
spillway/stats.jsonl in $XDG_STATE_HOME; SPILLWAY_STATS=0 writes none.`,
  flags: {
    json: {
      help: 'print { saved, shown, sent, readBack, repeated },\nand observed, if SPILLWAY=observe left any whole',
    },
  },
  examples: [['All tools since the file was begun', USAGE.replace(' [--json]', '')]],
  run,
}

async function run(args: Args): Promise<number> {
  checkNames(args, 0, USAGE)
  const tools = sumsOf(await figuresOf(stateOf('stats.jsonl')))
  const total = none()
  for (const sums of tools.values())
    for (const name of Object.keys(total) as (keyof Sums)[]) total[name] += sums[name]
  if (args.has('json')) {
    const { shown, sent, readBack, repeated, observed } = total
    const figures = { saved: savedOf(total), shown, sent, readBack, repeated, ...(observed && { observed }) }
    await out.write(`${JSON.stringify(figures)}\n`)
    return 0
  }
  const sorted = [...tools].sort(([, a], [, b]) => savedOf(b) - savedOf(a))
  const rows = [...sorted, ['all', total] as const].map(([tool, sums]) => rowOf(tool, sums))
  const left = total.left ? [`${counted(total.left, 'result')} of unknown tools left as they were`] : []
  const seen = total.observed
    ? [`${counted(total.observed, 'char')} more in results that were only observed`]
    : []
  const dearer = [...tools.values()].some((sums) => savedOf(sums) < 0) ? DEARER : []
  const notes = [...left, ...seen, ...dearer, 'Sizes are chars.']
  const lines = [...cellsOf([HEAD, ...rows]).map(lineOf), '', ...notes, '']
  await out.write(tools.size === 0 ? 'No figures yet.\n' : lines.join('\n'))
  return 0
}

function rowOf(tool: string, sums: Sums): string[] {
  const { calls, cut, shown, sent, readBack, repeated } = sums
  return [nameOf(tool, 40), ...[calls, cut, shown, sent, readBack, repeated, savedOf(sums)].map(count)]
}

/** Reads the lines of the file. Lines that are not figures, such as half a line, do not count. */
async function figuresOf(file: string): Promise<Figures[]> {
  const text = await readFile(file, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return ''
    throw new UsageError(explain(error, file), 1)
  })
  return text.split('\n').flatMap((line) => {
    try {
      const row: unknown = JSON.parse(line)
      return isFigures(row) ? [row] : []
    } catch {
      return []
    }
  })
}

function isFigures(row: unknown): row is Figures {
  if (!isObject(row)) return false
  const { session, tool, shown, sent } = row
  const isNamed = typeof session === 'string' && typeof tool === 'string'
  return isNamed && isCount(shown) && isCount(sent)
}

function isCount(chars: unknown): boolean {
  return Number.isSafeInteger(chars) && (chars as number) >= 0
}

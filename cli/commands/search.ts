import type { SpillMatch } from 'spillway'
import { clampTextWithReport, cleanText } from '../../lib/index.js'
import { TABLES } from '../../lib/options.js'
import { flagsOf, optionsIn } from '../option_flags.js'
import { policyFlags, policyOf } from '../policy.js'
import { savedOutputFlags, savedOutputOf } from '../store/saved_output.js'
import { type Args, type Command, checkNames } from '../term/args.js'
import { SUMMARIES } from '../term/summaries.js'
import { counted } from '../term/table.js'
import { err, out } from '../term/terminal.js'
import { UsageError } from '../term/usage_error.js'

const USAGE = 'spillway search ID PATTERN --dir DIR'

/** Exit code if no line matches, as of `grep`. */
const NONE = 1

export const search: Command = {
  summary: SUMMARIES.search,
  usage: [`${USAGE} [flags]`],
  about: `Shows the lines that contain PATTERN, each with its number, and context lines
with "-". ID is the id or the path that a notice names. Exits with 1 if no line
matches. JSON is searched as the lines that \`spillway read\` shows.`,
  flags: {
    ...savedOutputFlags,
    ...flagsOf(TABLES.search, {
      regex: { short: 'E', help: 'PATTERN is a regular expression: no lookaround, no\nbackreferences' },
      ignoreCase: { short: 'i', help: 'ignore case' },
      context: { short: 'C', help: 'lines before and after each match' },
      max: { short: 'm', help: 'matches at most' },
      line: 'first line that may match',
    }),
    ...policyFlags({ keep: 'head', notice: 'hint', clean: 'terminal' }),
  },
  examples: [
    ['A text', "spillway search 8386ef942ee3ac38 'Cannot find' --dir ~/.outputs"],
    ['An expression, with two lines around', "spillway search ID 'error|FAILED' -E -C 2 --dir ~/.outputs"],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const saved = savedOutputOf(args, USAGE)
  const pattern = args.names[1]
  if (pattern === undefined) throw new UsageError(`PATTERN is missing; usage: ${USAGE}`)
  checkNames(args, 2, USAGE)
  const { clean: given = out.isTerminal, ...policy } = policyOf(args)
  const clean = Boolean(given)
  const options = optionsIn(args, TABLES.search, ['regex', 'ignoreCase', 'context', 'max', 'line'])
  const found = await saved.search(pattern, options)
  const rows = rowsOf(found, clean)
  const { keep = 'head' } = policy
  const { text, ranges, truncated } = clampTextWithReport(rows.map(({ text }) => text).join(''), {
    ...policy,
    keep,
  })
  await out.show(text, clean)
  const last = found.at(-1)
  if (!last) return NONE
  // After a head, the search can continue. Other cuts are described by their notice alone.
  const shown = truncated && keep === 'head' ? matchesIn(rows, ranges[0]?.[1] ?? 0) : found.length
  const cut = found[shown]
  if (shown === 0) {
    await err.tell(`[${counted(found.length, 'match', 'matches')}, none within the limits; raise them]\n`)
    return 0
  }
  // A search has limits of its own, so more matches may follow even if fewer than `max` were found.
  const line = cut?.line ?? last.line + 1
  const [more] = cut ? [cut] : await saved.search(pattern, { ...options, context: 0, line, max: 1 })
  if (more) await err.tell(`[${counted(shown, 'match', 'matches')}; more with --line ${line}]\n`)
  return 0
}

/** Counts the matches that the first `chars` chars of all rows show whole. */
function matchesIn(rows: readonly OutputLine[], chars: number): number {
  let at = 0
  let matches = 0
  for (const { text, isMatch } of rows) {
    at += text.length
    // The last newline of a head is dropped.
    if (at - 1 > chars) break
    if (isMatch) matches += 1
  }
  return matches
}

/** An output line with its newline. */
interface OutputLine {
  readonly text: string
  readonly isMatch: boolean
}

/** Returns the lines of all matches in order, each once, with "--" in place of omitted lines. */
function rowsOf(found: readonly SpillMatch[], clean: boolean): OutputLine[] {
  const rows = new Map<number, OutputLine>()
  const around = (texts: readonly string[], first: number) => {
    for (const [at, text] of texts.entries())
      if (!rows.has(first + at)) rows.set(first + at, { text: `-${shown(text, clean)}\n`, isMatch: false })
  }
  for (const { line, text, before, after } of found) {
    around(before, line - before.length)
    rows.set(line, { text: `:${shown(text, clean)}\n`, isMatch: true })
    around(after, line + 1)
  }
  const sorted = [...rows].sort(([one], [other]) => one - other)
  const hasContext = found.some(({ before, after }) => before.length + after.length > 0)
  return sorted.map(([line, { text, isMatch }], at) => {
    const previous = sorted[at - 1]?.[0]
    const isApart = hasContext && previous !== undefined && previous < line - 1
    return { text: `${isApart ? '--\n' : ''}${line}${text}`, isMatch }
  })
}

function shown(text: string, clean: boolean): string {
  return clean ? cleanText(text, { repeats: false }) : text
}

import type { SpillMatch, SpillSearch } from 'spillway'
import { clampText, cleanText } from '../index.js'
import { type Args, type Command, checkNames } from './args.js'
import { failed, Mistake } from './mistake.js'
import { policyFlags, policyOf } from './policy.js'
import { savedFlags, savedOf } from './saved.js'
import { err, out } from './terminal.js'

const USAGE = 'spillway search ID PATTERN --dir DIR'

/** What `grep` exits with where no line matches. */
const NONE = 1

export const search: Command = {
  summary: 'lines of a saved output',
  usage: [`${USAGE} [flags]`],
  about: `Shows the lines that hold PATTERN, each with its number, those around them with
"-". ID is the id that a notice names, or the path. Exits with 1 where no line
does.`,
  flags: {
    ...savedFlags,
    regex: { short: 'E', help: 'PATTERN is a regular expression: no lookaround, no\nbackreferences' },
    'ignore-case': { short: 'i', help: 'upper and lower case are the same' },
    context: { short: 'C', value: 'N', help: 'lines before and after each match (0)' },
    max: { short: 'm', value: 'N', help: 'matches at most (100)' },
    line: { value: 'N', help: 'first line that may match' },
    ...policyFlags({ keep: 'head', notice: 'hint', clean: false }),
  },
  run,
}

async function run(args: Args): Promise<number> {
  const { store, id, dir } = savedOf(args, USAGE)
  const pattern = args.names[1]
  if (pattern === undefined) throw new Mistake(`a PATTERN is missing: ${USAGE}`)
  checkNames(args, 2, USAGE)
  const { clean = out.isTerminal, ...policy } = policyOf(args)
  const options = { ...optionsOf(args), max: args.number('max') ?? 100 }
  const searched = (options: SpillSearch) =>
    store.search(id, pattern, options).catch((error) => {
      throw failed(error, dir)
    })
  const found = await searched(options)
  const lines = linesOf(found, clean).map((line) => `${line}\n`)
  await out.write(clampText(lines.join(''), { keep: 'head', ...policy }))
  const last = found.at(-1)
  if (!last) return NONE
  // An answer has bounds of its own, so that fewer than were asked for may be the first of many.
  const line = last.line + 1
  const [more] = await searched({ ...options, context: 0, line, max: 1 })
  if (more) await err.tell(`[the first ${found.length}; more come with --line ${line}]\n`)
  return 0
}

function optionsOf(args: Args): SpillSearch {
  const context = args.number('context')
  const line = args.number('line')
  return {
    regex: args.has('regex'),
    ignoreCase: args.has('ignore-case'),
    ...(context !== undefined && { context }),
    ...(line !== undefined && { line }),
  }
}

/** The lines of all matches in order, each once, with "--" where lines are left out. */
function linesOf(found: readonly SpillMatch[], clean: boolean): string[] {
  const rows = new Map<number, string>()
  const around = (texts: readonly string[], first: number) => {
    for (const [at, text] of texts.entries())
      if (!rows.has(first + at)) rows.set(first + at, `-${shown(text, clean)}`)
  }
  for (const { line, text, before, after } of found) {
    around(before, line - before.length)
    rows.set(line, `:${shown(text, clean)}`)
    around(after, line + 1)
  }
  const sorted = [...rows].sort(([one], [other]) => one - other)
  const hasContext = found.some(({ before, after }) => before.length + after.length > 0)
  return sorted.flatMap(([line, text], at) => {
    const previous = sorted[at - 1]?.[0]
    const isApart = hasContext && previous !== undefined && previous < line - 1
    return [...(isApart ? ['--'] : []), `${line}${text}`]
  })
}

function shown(text: string, clean: boolean): string {
  return clean ? cleanText(text, { repeats: false }) : text
}

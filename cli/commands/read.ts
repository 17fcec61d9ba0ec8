import { cleanText, OutputCapture, redactText } from '../../lib/index.js'
import { type GivenPolicy, policyFlags, policyOf } from '../policy.js'
import { type SavedOutput, savedOutputFlags, savedOutputOf } from '../store/saved_output.js'
import { type Args, type Command, checkNames, defined } from '../term/args.js'
import { SUMMARIES } from '../term/summaries.js'
import { count } from '../term/table.js'
import { err, out, write } from '../term/terminal.js'
import { UsageError } from '../term/usage_error.js'

const USAGE = 'spillway read ID --dir DIR'

/** Flags that a page has no use for: they ask for the whole output under a policy. */
const WHOLE = ['keep', 'notice', 'max-chars', 'max-tokens']

/** Bytes of one read if the whole output is clamped. */
const PIECE = 1024 * 1024

export const read: Command = {
  summary: SUMMARIES.read,
  usage: [`${USAGE} [--line N | --byte N] [--lines N] [flags]`],
  about: `ID is the id or the path that a notice names. Shows a page from --line or
--byte on, and the position of the next page on stderr. With --keep, --notice,
--max-chars or --max-tokens, shows everything from there on, under that policy.
JSON is shown as lines, each with its path.`,
  flags: {
    ...savedOutputFlags,
    line: { value: 'N', help: 'first line, from 1' },
    byte: { value: 'N', help: 'first byte, from 0, to continue inside a line' },
    lines: { value: 'N', help: 'lines of a page at most' },
    ...policyFlags({
      maxBytes: '40960',
      maxLines: 'Infinity',
      keep: 'head',
      notice: 'hint',
      clean: 'terminal',
    }),
  },
  examples: [
    ['The first page of an output', 'spillway read 8386ef942ee3ac38 --dir ~/.outputs'],
    ['50 lines from line 4800 on', 'spillway read 8386ef942ee3ac38 --dir ~/.outputs --line 4800 --lines 50'],
    ['The findings of all of it', 'spillway read 8386ef942ee3ac38 --dir ~/.outputs --keep findings'],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const saved = savedOutputOf(args, USAGE)
  checkNames(args, 1, USAGE)
  const policy = policyOf(args)
  const lines = args.number('lines')
  const start = pageStartOf(args)
  const isWhole = WHOLE.some((flag) => args.has(flag))
  if (isWhole && lines !== undefined)
    throw new UsageError(`--lines cannot be combined with --${WHOLE.join(', --')}; use --max-lines`)
  if (isWhole) await whole(saved, start, policy)
  else await page(saved, start, { ...policy, ...defined({ maxLines: lines }) })
  return 0
}

interface PageStart {
  line?: number
  byte?: number
}

function pageStartOf(args: Args): PageStart {
  const line = args.number('line')
  const byte = args.number('byte')
  if (line !== undefined && byte !== undefined)
    throw new UsageError('--line and --byte cannot be combined; give one of them')
  return defined({ line, byte })
}

/** Shows a page, redacted if asked, and cleaned on a terminal: the output of a tool must not move
 *  its cursor. */
async function page(saved: SavedOutput, start: PageStart, policy: GivenPolicy): Promise<void> {
  const { maxBytes, maxLines, redact } = policy
  const clean = cleans(policy)
  const slice = await saved.read({ ...start, ...defined({ maxBytes, lines: maxLines }) })
  const cleaned = clean ? cleanText(slice.text) : slice.text
  const text = redact ? redactText(cleaned) : cleaned
  await out.show(text, clean)
  const { totalLines, totalBytes, nextLine, nextByte } = slice
  const total = `${count(totalLines)} lines, ${count(totalBytes)} bytes`
  const next =
    nextLine !== undefined ? `--line ${nextLine}` : nextByte !== undefined ? `--byte ${nextByte}` : undefined
  const end = async () =>
    (await saved.isWhole(slice)) ? 'end of the output' : 'end of the saved part, not of the output'
  const more = next === undefined ? await end() : `more with ${next}`
  await err.tell(`[${saved.id} holds ${total}; ${more}]\n`)
}

/** Returns true if a page is cleaned: on a terminal, unless told otherwise. */
function cleans({ clean = out.isTerminal }: GivenPolicy): boolean {
  return Boolean(clean)
}

/** Shows all of an output from a position on, under a policy, cleaned like a page. */
async function whole(saved: SavedOutput, start: PageStart, policy: GivenPolicy): Promise<void> {
  const clean = cleans(policy)
  const capture = new OutputCapture({
    maxBytes: 40_960,
    maxLines: Number.POSITIVE_INFINITY,
    keep: 'head',
    ...policy,
    clean,
  })
  let at = start
  for (;;) {
    const { text, nextByte } = await saved.read({ ...at, maxBytes: PIECE })
    await write(capture.stdout, text)
    if (nextByte === undefined) return out.show((await capture.finish()).text, clean)
    at = { byte: nextByte }
  }
}

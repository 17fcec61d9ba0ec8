import { cleanText, OutputCapture } from '../index.js'
import { type Args, type Command, checkNames } from './args.js'
import { put } from './feed.js'
import { Mistake } from './mistake.js'
import { type GivenPolicy, policyFlags, policyOf } from './policy.js'
import { type Saved, savedFlags, savedOf } from './saved.js'
import { err, out } from './terminal.js'

const USAGE = 'spillway read ID --dir DIR'

/** Bytes of one read if the whole output is clamped. */
const PIECE = 1024 * 1024

export const read: Command = {
  summary: 'show a page of a saved output',
  usage: [`${USAGE} [--line N | --byte N] [--lines N] [flags]`],
  about: `ID is the id or the path that a notice names. Shows a page from --line or
--byte on, and the position of the next page on stderr. With --keep, --notice
or --max-chars, shows everything from there on, under that policy.`,
  flags: {
    ...savedFlags,
    line: { value: 'N', help: 'first line, from 1' },
    byte: { value: 'N', help: 'first byte, from 0, to continue inside a line' },
    lines: { value: 'N', help: 'lines of a page at most' },
    ...policyFlags({ bytes: '40960', lines: 'Infinity', keep: 'head', notice: 'hint', clean: 'terminal' }),
  },
  run,
}

async function run(args: Args): Promise<number> {
  const saved = savedOf(args, USAGE)
  checkNames(args, 1, USAGE)
  const policy = policyOf(args)
  const lines = args.number('lines')
  const range = rangeOf(args)
  const isWhole = ['keep', 'notice', 'max-chars'].some((flag) => args.has(flag))
  if (isWhole && lines !== undefined)
    throw new Mistake('--lines cannot be combined with --keep, --notice or --max-chars; use --max-lines')
  if (isWhole) await whole(saved, range, policy)
  else await page(saved, range, { ...policy, ...(lines !== undefined && { maxLines: lines }) })
  return 0
}

interface Range {
  line?: number
  byte?: number
}

function rangeOf(args: Args): Range {
  const line = args.number('line')
  const byte = args.number('byte')
  if (line !== undefined && byte !== undefined)
    throw new Mistake('--line and --byte cannot be combined; give one of them')
  return { ...(line !== undefined && { line }), ...(byte !== undefined && { byte }) }
}

/** Shows a page, cleaned on a terminal: the output of a tool must not move its cursor. */
async function page(saved: Saved, range: Range, policy: GivenPolicy): Promise<void> {
  const { maxBytes, maxLines, clean = out.isTerminal } = policy
  const slice = await saved.read({
    ...range,
    ...(maxBytes !== undefined && { maxBytes }),
    ...(maxLines !== undefined && { lines: maxLines }),
  })
  const text = clean ? cleanText(slice.text) : slice.text
  await out.show(text, clean)
  const { totalLines, totalBytes, nextLine, nextByte } = slice
  const total = `${totalLines.toLocaleString('en-US')} lines, ${totalBytes.toLocaleString('en-US')} bytes`
  const next =
    nextLine !== undefined ? `--line ${nextLine}` : nextByte !== undefined ? `--byte ${nextByte}` : undefined
  const more = next === undefined ? await endOf(saved) : `more with ${next}`
  const begin = out.isTerminal && !text.endsWith('\n') && text !== '' ? '\n' : ''
  await err.tell(`${begin}[${saved.id} holds ${total}; ${more}]\n`)
}

/** Describes the end of a file, which may hold only a part of the output. */
async function endOf(saved: Saved): Promise<string> {
  return (await saved.isWhole()) ? 'end of the output' : 'end of the saved part, not of the output'
}

/** Shows all of an output from a position on, under a policy, cleaned like a page. */
async function whole(saved: Saved, range: Range, given: GivenPolicy): Promise<void> {
  const { clean = out.isTerminal, ...policy } = given
  const capture = new OutputCapture({
    maxBytes: 40_960,
    maxLines: Number.POSITIVE_INFINITY,
    keep: 'head',
    clean,
    ...policy,
  })
  let at = range
  for (;;) {
    const { text, nextByte } = await saved.read({ ...at, maxBytes: PIECE })
    await put(capture.stdout, text)
    if (nextByte === undefined) return out.show((await capture.finish()).text, clean)
    at = { byte: nextByte }
  }
}

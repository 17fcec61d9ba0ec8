import { cleanText, OutputCapture } from '../index.js'
import { type Args, type Command, checkNames } from './args.js'
import { put } from './feed.js'
import { Mistake } from './mistake.js'
import { type GivenPolicy, policyFlags, policyOf } from './policy.js'
import { type Saved, savedFlags, savedOf } from './saved.js'
import { err, out } from './terminal.js'

const USAGE = 'spillway read ID --dir DIR'

/** Bytes that are read at once of what is clamped as a whole. */
const PIECE = 1024 * 1024

export const read: Command = {
  summary: 'a page of a saved output',
  usage: [`${USAGE} [--line N | --byte N] [--lines N] [flags]`],
  about: `ID is the id that a notice names, or the path. Shows a page from --line or
--byte on, and says on stderr where the next begins. With --keep, --notice or
--max-chars: all from there on, under that policy.`,
  flags: {
    ...savedFlags,
    line: { value: 'N', help: 'first line, counted from 1' },
    byte: { value: 'N', help: 'first byte, counted from 0: to go on inside a line' },
    lines: { value: 'N', help: 'lines at most, as --max-lines' },
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
    throw new Mistake('--lines is for pages; with a policy, give --max-lines')
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
  if (line !== undefined && byte !== undefined) throw new Mistake('give --line or --byte, not both')
  return { ...(line !== undefined && { line }), ...(byte !== undefined && { byte }) }
}

/** Shows a page. A terminal gets it cleaned: what a tool printed must not move its cursor. */
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

/** How what is saved ends: with the output, or before. */
async function endOf(saved: Saved): Promise<string> {
  return (await saved.isWhole()) ? 'this is its end' : 'this is the end of what was saved, not of the output'
}

/** All of an output from a place on, under a policy, and for a terminal cleaned as a page is. */
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

import { fstatSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { CaptureResult } from 'spillway'
import { clampTextWithReport, OutputCapture, redactText } from '../../lib/index.js'
import { ended } from '../ended.js'
import { explanationOf } from '../explanation.js'
import { cleaned, type GivenPolicy, policyFlags, policyOf } from '../policy.js'
import type { Args, Command } from '../term/args.js'
import { SUMMARIES } from '../term/summaries.js'
import { err, out, write } from '../term/terminal.js'
import { UsageError } from '../term/usage_error.js'

export const clamp: Command = {
  summary: SUMMARIES.clamp,
  usage: ['npm test 2>&1 | spillway clamp [flags]', 'spillway clamp [flags] < FILE'],
  about: `Reads stdin to its end, in memory bounded by the limits, and writes the part
that the policy keeps, with a newline at its end. Text within the limits is
written unchanged.`,
  flags: {
    ...policyFlags({ keep: 'auto', notice: 'hint', clean: 'never', html: true }),
    explain: {
      help: `say on stderr why each line is kept, and which lines\nmore room would keep next; holds all of the input`,
    },
  },
  examples: [
    ['The lines that tell what went wrong', 'npm test 2>&1 | spillway clamp --keep findings'],
    [
      'The lines about a file',
      'git diff | spillway clamp --keep relevant --query src/cart.ts --max-bytes 8K',
    ],
    ['The lines that are kept, with the reason', 'spillway clamp --explain < build.log > /dev/null'],
    ['The end of a log, in 2,000 tokens', 'spillway clamp --keep tail --max-tokens 2000 < build.log'],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const policy: GivenPolicy = { keep: 'auto', clean: false, ...policyOf(args) }
  const [name] = args.names
  if (name !== undefined)
    throw new UsageError(`unexpected argument; clamp reads stdin: spillway clamp < ${name}`)
  if (process.stdin.isTTY)
    throw new UsageError('stdin is a terminal; pipe a command into it: npm test 2>&1 | spillway clamp')
  // Node reads a directory as an empty stream.
  if (fstatSync(0).isDirectory())
    throw new UsageError('stdin is a directory; give a file: spillway clamp < FILE', 1)
  if (args.has('explain')) await explain(policy)
  else if (isUnlimited(policy)) await pipeline(process.stdin, shown, process.stdout, { end: false })
  else await out.show(await captured(policy), Boolean(policy.clean))
  return 0
}

/** Writes the cut, as without reasons, and then the reasons. */
async function explain(policy: GivenPolicy): Promise<void> {
  const chunks: Buffer[] = []
  const capture = new OutputCapture(policy)
  for await (const chunk of process.stdin) {
    chunks.push(chunk)
    await write(capture.stdout, chunk)
  }
  const result = await capture.finish()
  await out.show(shownEnd(result, policy), Boolean(policy.clean))
  if (result.binary) return err.tell('binary output; no line is kept\n')
  const given = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(chunks))
  const plain = cleaned(given, policy)
  const searched = policy.redact ? redactText(plain) : plain
  const report = clampTextWithReport(searched, { ...policy, explain: true })
  await err.tell(explanationOf(report, searched))
}

function isUnlimited(policy: GivenPolicy): boolean {
  const none = Number.POSITIVE_INFINITY
  const { maxBytes, maxLines, maxChars = none, maxTokens = none, clean, redact } = policy
  return !clean && !redact && [maxBytes, maxLines, maxChars, maxTokens].every((limit) => limit === none)
}

/** Decodes UTF-8, with U+FFFD for invalid sequences, and ends a terminal's last line. */
async function* shown(source: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  let last = ''
  for await (const chunk of source) {
    const text = decoder.decode(chunk, { stream: true })
    last = text || last
    yield text
  }
  const rest = decoder.decode()
  yield rest + out.newlineAfter(rest || last)
}

/** Bytes up to which every chunk is followed by a look at whether the cut is decided. */
const EAGER = 256 * 1024

async function captured(policy: GivenPolicy): Promise<string> {
  const capture = new OutputCapture(policy)
  const isEarly = isDecidedEarly(policy)
  let bytes = 0
  let look = 0
  for await (const chunk of process.stdin) {
    await write(capture.stdout, chunk)
    bytes += chunk.length
    if (!isEarly || bytes < look) continue
    if (capture.snapshot().truncated) break
    // A look costs a clamp of all input so far. Beyond this length, the input must double before
    // the next look.
    if (bytes > EAGER) look = 2 * bytes
  }
  return shownEnd(await capture.finish(), policy)
}

/** Ends what a cut left, and the text of a page, whose own last line break is not in it. Any other
 *  text stays as it came. */
function shownEnd({ text, truncated }: CaptureResult, policy: GivenPolicy): string {
  const { clean } = policy
  const isPage = typeof clean === 'object' && clean.html === true
  return truncated || isPage ? ended(text, truncated, policy) : text
}

/** Returns true if later input cannot change a truncated text: only the head is kept, and no notice
 *  counts the rest. */
function isDecidedEarly({ keep, clean, redact, notice = 'hint' }: GivenPolicy): boolean {
  return keep === 'head' && !clean && !redact && !counts(notice)
}

function counts(notice: GivenPolicy['notice']): boolean {
  if (typeof notice !== 'string') return false
  return ['hint', 'pi', 'count'].includes(notice) || /\{(?:omitted|total)/.test(notice)
}

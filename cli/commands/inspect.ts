import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { SessionReport } from 'spillway'
import { isSameFile, sessionsOf } from '../files.js'
import { sentPageOf } from '../page/sent_page.js'
import type { SentReport } from '../page/sent_session.js'
import { pageOf, type SessionSummary, TOP } from '../page/session_page.js'
import { sessionsPageOf } from '../page/sessions_page.js'
import { forFlag, mediaFor, policyFlags, policyOf } from '../policy.js'
import { pool } from '../pool.js'
import { interruptible } from '../signals.js'
import type { Args, Command } from '../term/args.js'
import { jsonLine } from '../term/escape.js'
import { ProgressLine } from '../term/progress.js'
import { SUMMARIES } from '../term/summaries.js'
import { out } from '../term/terminal.js'
import { naming, notASession, tellOf, UnreadPlaces, UsageError } from '../term/usage_error.js'

const USAGE = 'spillway inspect FILE...'

export const inspect: Command = {
  summary: SUMMARIES.inspect,
  usage: [`${USAGE} [flags]`],
  about: `FILE is a session: of Pi or OpenClaw up to 7, Claude Code, Codex, Copilot CLI,
Gemini CLI, Cline, Roo Code or OpenCode, or messages of any dialect. A directory
means all sessions below it, - the paths on stdin, one a line. Only reads.
Counts the results that a repair under the same policy would cut.`,
  names: 'file',
  flags: {
    json: { help: 'print each SessionReport as a line of JSON' },
    html: {
      value: 'FILE',
      help: 'write a page to FILE: the context turn by turn, by\ntool, and what a repair would keep',
    },
    window: {
      value: 'TOKENS',
      help: 'with --html: draw the context window of a model, such\nas 200000, 200K or 1M; K = 1000',
    },
    sent: {
      help: 'also show what was sent to the model how often, and\nwhat clearing old results would have saved',
    },
    for: forFlag('name'),
    top: { value: 'N', help: `largest results to list (${TOP}, in a page 10)` },
    ...policyFlags({ keep: 'auto', notice: 'pi', clean: 'never' }),
  },
  examples: [
    ['The tools and results that fill a session', 'spillway inspect session.jsonl'],
    ['All sessions, and which of them need a repair', 'spillway inspect ~/.pi/agent/sessions'],
    ['The results over smaller limits', "spillway inspect --max-bytes 10K 'logs/**/*.jsonl'"],
    ['A page to look at', 'spillway inspect session.jsonl --html context.html --window 200K'],
    ['What was sent how often', 'spillway inspect --sent session.jsonl'],
    ['For a script', "spillway inspect --json session.jsonl | jq '.byTool[0]'"],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  if (args.names.length === 0) throw new UsageError(`FILE is missing; usage: ${USAGE}`)
  const options = { ...policyOf(args), ...mediaFor(args), top: args.number('top') ?? TOP }
  const unread = new UnreadPlaces('inspect')
  const { files, named } = await sessionsOf(args.names, 'inspect', unread.take)
  const { inspectCounted } = await import('../../lib/session/session.js')
  const page = args.text('html')
  const window = windowOf(args)
  if (window !== undefined && page === undefined) throw new UsageError('--window needs --html')
  if (page !== undefined && args.has('sent'))
    throw new UsageError('--html and --sent cannot be combined; give one of them')
  if (page !== undefined) return writePage(page, files, args, options, window)
  if (args.has('sent') && files.length > 1 && !args.has('json'))
    throw new UsageError('--sent takes one FILE, or --json')
  const progress = new ProgressLine('inspect')
  const all: (SessionSummary & { sent: SentReport | undefined })[] = []
  let exit = await unread.exit()
  const work = (file: string) => naming(file, inspectCounted(file, options))
  for (const [at, inspecting] of pool(files, work).entries()) {
    const file = files[at] as string
    if (files.length > 1) progress.show(at / files.length, `of ${files.length} sessions`)
    try {
      const { report, cuts } = await inspecting
      const sent = args.has('sent') ? await naming(file, sentIn(file, report, options.top)) : undefined
      if (args.has('json')) await out.write(jsonLine({ path: file, ...report, ...(sent && { sent }) }))
      if (report.format === 'unknown' && report.rows > 0) {
        // A file in a directory only has the name of a session.
        if (!named.has(file)) continue
        throw notASession(file)
      }
      all.push({ file, report, cuts, sent })
    } catch (error) {
      progress.clear()
      await tellOf(error, 'inspect')
      exit = 1
    }
  }
  progress.clear()
  const [first] = all
  if (first === undefined || args.has('json')) return exit
  await out.write(
    files.length === 1
      ? pageOf(first, args) + (first.sent ? sentPageOf(first.sent) : '')
      : sessionsPageOf(all, args),
  )
  return exit
}

/** Replays the requests of a session. */
async function sentIn(file: string, { format }: SessionReport, top: number): Promise<SentReport> {
  const { sentOf } = await import('../page/sent_session.js')
  return sentOf(file, format, top)
}

/** Reads the tokens of a context window. */
function windowOf(args: Args): number | undefined {
  const value = args.text('window')
  if (value === undefined) return undefined
  const [, digits, unit = ''] = /^([1-9]\d{0,8})([KM]?)$/i.exec(value) ?? []
  if (digits !== undefined)
    return Number(digits) * { '': 1, K: 1e3, M: 1e6 }[unit.toUpperCase() as '' | 'K' | 'M']
  throw new UsageError(`--window takes tokens such as 200000, 200K or 1M, not ${JSON.stringify(value)}`)
}

/** Largest results in a page. */
const TOP_OF_PAGE = 10

/** Writes a page on one session. */
async function writePage(
  page: string,
  [file = '', extra]: readonly string[],
  args: Args,
  policy: ReturnType<typeof policyOf>,
  window: number | undefined,
): Promise<number> {
  if (extra !== undefined) throw new UsageError('--html makes a page of one session; give one FILE')
  if (args.has('json')) throw new UsageError('--html and --json cannot be combined; give one of them')
  if (resolve(page) === resolve(file) || (await isSameFile(page, file)))
    throw new UsageError(`--html would replace ${file}; give another file`)
  const { contextPage } = await import('../page/context_report.js')
  const top = args.number('top') ?? TOP_OF_PAGE
  const text = await interruptible('the file was not changed', (signal) =>
    naming(file, contextPage(file, { ...policy, top, signal }, args, window)),
  )
  await naming(page, writeFile(page, text))
  return 0
}

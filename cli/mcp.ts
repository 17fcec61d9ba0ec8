import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ResultPolicy } from 'spillway'
import { createSpillStore, definePolicy } from '../index.js'
import { type Args, type Command, defined } from './args.js'
import { linesOf } from './mcp/lines.js'
import { LONGEST, Relay } from './mcp/relay.js'
import { policyFlags, policyOf } from './policy.js'
import { notStarted } from './run.js'
import { exitOfSignal, Signals } from './signals.js'
import { SUMMARIES } from './summaries.js'
import { err, write } from './terminal.js'
import { naming, UsageError } from './usage_error.js'

export const mcp: Command = {
  summary: SUMMARIES.mcp,
  usage: ['spillway mcp [flags] -- SERVER [ARGUMENT...]'],
  about: `Starts an MCP server that speaks over stdin and stdout, and stands between it
and its client. Results of tools are truncated; every other message passes as it
is. With --dir, full results are saved, and a tool read_output pages them.
Exits as the server does.`,
  names: 'command',
  flags: {
    dir: { value: 'DIR', help: 'directory for full results, saved if they are cut' },
    structured: {
      value: 'WHAT',
      choices: ['both', 'text', 'structured'],
      help: 'copies that stay of what a result carries twice (both)',
    },
    'max-media-bytes': { value: 'SIZE', help: 'bytes of the images and files of a result (Infinity)' },
    'max-media-items': { value: 'N', help: 'images and files of a result (Infinity)' },
    'no-stats': { help: 'keep no figures for `spillway stats`' },
    ...policyFlags({ keep: 'auto', notice: 'hint', clean: 'never' }),
  },
  examples: [
    [
      'A server of files, with full results saved',
      'spillway mcp --dir ~/.outputs -- mcp-server-filesystem ~/project',
    ],
    [
      'Results of 4,000 tokens, without images',
      'spillway mcp --max-tokens 4000 --max-media-items 0 -- node server.js',
    ],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const policy = resultPolicyOf(args)
  const dir = args.text('dir')
  const [before] = args.names
  if (args.names.length > args.rest.length)
    throw new UsageError(`put -- before the server: spillway mcp -- ${before}`)
  const [command, ...rest] = args.rest
  if (command === undefined)
    throw new UsageError('SERVER is missing; example: spillway mcp -- node server.js')
  const store = dir === undefined ? undefined : createSpillStore({ dir, reference: 'id' })
  if (store) await naming(dir ?? '', store.sweep())
  const relay = new Relay(
    policy,
    store,
    (text) => void err.tell(`spillway mcp: ${text}\n`),
    !args.has('no-stats'),
  )
  const signals = new Signals()
  try {
    const server = signals.start(() => spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] }))
    const closed = once(server, 'close').catch((error) => {
      throw notStarted(command, error, 'mcp')
    })
    // Stdin is destroyed once the server has ended.
    toServer(server, relay).catch(() => {})
    const [[code, signal]] = await Promise.all([closed, toClient(server, relay)])
    return signal === null ? (code ?? 1) : exitOfSignal(signal)
  } finally {
    signals.end()
    process.stdin.destroy()
  }
}

function resultPolicyOf(args: Args): ResultPolicy {
  const media = defined({ maxBytes: args.size('max-media-bytes'), maxItems: args.number('max-media-items') })
  const policy = {
    ...policyOf(args),
    ...defined({ structured: args.text('structured') }),
    ...(Object.keys(media).length > 0 && { media }),
  } as ResultPolicy
  definePolicy(policy)
  return policy
}

/** Sends the client's messages on. Its end is the end of the server's input. */
async function toServer({ stdin }: ChildProcess, relay: Relay): Promise<void> {
  if (!stdin) return
  // A server that has ended, or has closed its input, gets no more. Its exit is what counts.
  stdin.on('error', () => {})
  for await (const line of linesOf(process.stdin, Number.POSITIVE_INFINITY)) {
    if (!Buffer.isBuffer(line)) continue
    const { line: sent, own } = relay.fromClient(line)
    if (sent) await write(stdin, sent).catch(() => {})
    for (const call of own)
      void relay
        .read(call)
        .then(toStdout)
        .catch(() => {})
  }
  stdin.end()
}

async function toClient({ stdin, stdout }: ChildProcess, relay: Relay): Promise<void> {
  if (!stdout) return
  for await (const line of linesOf(stdout, LONGEST)) {
    const sent = Buffer.isBuffer(line) ? await relay.fromServer(line) : relay.tooLong(line)
    // A client that is gone hears no more: the server's input ends, as if the client had closed it.
    if (sent) await toStdout(sent).catch(() => stdin?.end())
  }
}

async function toStdout(line: Buffer): Promise<void> {
  await write(process.stdout, line)
}

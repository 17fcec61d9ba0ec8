import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ResultPolicy } from 'spillway'
import { definePolicy } from '../../lib/index.js'
import { POLICY } from '../../lib/options.js'
import { LONGEST, linesOf } from '../mcp/lines.js'
import type { Relay } from '../mcp/relay.js'
import { flagsOf, optionsIn } from '../option_flags.js'
import { MEDIA_FLAGS, mediaOf, policyFlags, policyOf } from '../policy.js'
import { exitOfSignal, interruptible, Signals } from '../signals.js'
import { check, directoryIn, storeFlags, storeOf } from '../store/given_store.js'
import { type Args, type Command, checkNames } from '../term/args.js'
import { oneLine } from '../term/escape.js'
import { SUMMARIES } from '../term/summaries.js'
import { err, write } from '../term/terminal.js'
import { UsageError } from '../term/usage_error.js'
import { notStarted } from './run.js'

export const mcp: Command = {
  summary: SUMMARIES.mcp,
  usage: ['spillway mcp [flags] -- SERVER [ARGUMENT...]', 'spillway mcp [flags] --url URL'],
  about: `Relays between an MCP client on stdin and stdout and a server: one that it
starts, on stdin and stdout too, or one behind a URL (streamable HTTP). Results
of tools are truncated; every other message passes unchanged. With --dir or
--store, full results are saved, and a tool read_output pages them. Exits as the
server does.`,
  names: 'command',
  flags: {
    url: { value: 'URL', help: 'server of streamable HTTP, instead of a command' },
    header: { value: 'TEXT', repeats: true, help: "header for --url, as 'Name: value'; may be repeated" },
    ...storeFlags('directory for full results, saved if they are cut'),
    ...flagsOf(POLICY, { structured: 'copies to keep of what a result has twice' }),
    ...MEDIA_FLAGS('a result'),
    'no-stats': { help: 'keep no figures for `spillway stats`' },
    ...policyFlags({ keep: 'auto', notice: 'hint', clean: 'never', html: true }),
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
    ['A server on the net', 'spillway mcp --url https://mcp.test/ --header "Authorization: Bearer $TOKEN"'],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const policy = resultPolicyOf(args)
  const url = args.text('url')
  if (url !== undefined) checkNames(args, 0, 'spillway mcp [flags] --url URL')
  else if (args.has('header')) throw new UsageError('--header needs --url')
  const start = url === undefined ? commandOf(args) : remoteOf(url, args.texts('header'))
  const given = storeOf(args, directoryIn(args), 'id')
  if (given) await check(given)
  const tell = (text: string) => void err.tell(`spillway mcp: ${oneLine(text)}\n`)
  // A file of its own, which no other command loads.
  const { Relay } = await import('../mcp/relay.js')
  const relay = new Relay(policy, given?.store, tell, !args.has('no-stats'))
  return start(relay).finally(() => process.stdin.destroy())
}

/** Starts a server and relays to it. */
function commandOf({ names, rest: words }: Args): (relay: Relay) => Promise<number> {
  if (names.length > words.length)
    throw new UsageError(`put -- before the server: spillway mcp -- ${names[0]}`)
  const [command, ...rest] = words
  if (command === undefined)
    throw new UsageError('SERVER is missing; example: spillway mcp -- node server.js')
  return async (relay) => {
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
    }
  }
}

/** Relays to a server behind a URL. */
function remoteOf(text: string, headers: readonly string[] = []): (relay: Relay) => Promise<number> {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--url takes a URL of http or https, not ${JSON.stringify(text)}`)
  const pairs = headers.map((header) => {
    const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(header) ?? []
    // The value may be a secret.
    if (name === undefined || value === undefined) throw new UsageError("--header takes 'Name: value'")
    return [name.toLowerCase(), value]
  })
  return (relay) =>
    interruptible('the session was ended', async (signal) => {
      const { Remote } = await import('../mcp/http.js')
      const remote = new Remote(url, Object.fromEntries(pairs), async (line) => {
        const sent = await relay.fromServer(line)
        // When the client has left, the server gets no more messages.
        await toStdout(sent).catch(() => process.stdin.destroy())
        return sent
      })
      signal.addEventListener('abort', () => remote.stop(signal.reason))
      remote.over.addEventListener('abort', () => process.stdin.destroy())
      await fromStdin(relay, (line) => remote.send(line)).catch(() => {})
      const { aborted, reason } = remote.over
      const probe = setInterval(() => probed().catch(() => remote.stop(undefined)), PROBE)
      await remote.close().finally(() => clearInterval(probe))
      if (aborted) throw signal.reason ?? new UsageError(reason.message, 1)
      return 0
    })
}

function resultPolicyOf(args: Args): ResultPolicy {
  const policy = {
    ...policyOf(args),
    ...optionsIn(args, POLICY, ['structured']),
    ...mediaOf(args),
  } as ResultPolicy
  definePolicy(policy)
  return policy
}

/** Sends the client's messages to the server, whose input ends with the client's. */
async function toServer({ stdin }: ChildProcess, relay: Relay): Promise<void> {
  if (!stdin) return
  // A server that has ended, or has closed its input, gets no more messages. Its exit decides.
  stdin.on('error', () => {})
  await fromStdin(relay, (line) => write(stdin, line).catch(() => {}))
  stdin.end()
}

async function fromStdin(relay: Relay, send: (line: Buffer) => Promise<void>): Promise<void> {
  for await (const line of linesOf(process.stdin, Number.POSITIVE_INFINITY)) {
    if (!Buffer.isBuffer(line)) continue
    const { line: sent, own } = relay.fromClient(line)
    if (sent) await send(sent)
    for (const call of own)
      void relay
        .read(call)
        .then((answer) => toStdout([answer]))
        .catch(() => {})
  }
}

async function toClient({ stdin, stdout }: ChildProcess, relay: Relay): Promise<void> {
  if (!stdout) return
  for await (const line of linesOf(stdout, LONGEST)) {
    const sent = await relay.fromServer(line)
    // When the client has left, the server's input ends, as if the client had closed it.
    await toStdout(sent).catch(() => stdin?.end())
  }
}

/** Milliseconds between two looks for a client that has closed its end. */
const PROBE = 1_000

/** Writes a blank, which JSON allows before the next message. Rejects if the client has gone. */
async function probed(): Promise<void> {
  await write(process.stdout, Buffer.from(' '))
}

async function toStdout(lines: readonly Buffer[]): Promise<void> {
  for (const line of lines) await write(process.stdout, line)
}

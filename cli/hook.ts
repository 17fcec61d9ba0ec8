import { buffer } from 'node:stream/consumers'
import { createSpillStore } from '../index.js'
import { type Args, type Command, checkNames } from './args.js'
import { answerTo } from './hook/answer.js'
import { HOSTS, type Host } from './hook/hosts.js'
import { policyFlags, policyOf } from './policy.js'
import { stateOf } from './state.js'
import { SUMMARIES } from './summaries.js'
import { out } from './terminal.js'
import { UsageError } from './usage_error.js'

const USAGE = 'spillway hook HOST [flags]'
const BYTES = 16_384

export const hook: Command = {
  summary: SUMMARIES.hook,
  usage: [USAGE],
  about: `Reads an event of a coding agent on stdin, after one of its tools has run, and
answers with the result within the limits, in the shape that this host takes for
this tool. Other events and unknown tools get no answer, and neither does any
trouble, which stderr tells; the exit code is 0. HOST: ${Object.keys(HOSTS).join(', ')}.`,
  names: Object.keys(HOSTS),
  flags: {
    dir: {
      value: 'DIR',
      help: 'directory for full results, saved if they are cut\n(spillway/outputs in $XDG_STATE_HOME)',
    },
    ...policyFlags({ bytes: String(BYTES), keep: 'auto', notice: 'hint', clean: 'never' }),
  },
  examples: [
    ['The answer to a stored event', 'spillway hook claude-code < event.json'],
    ['Results of 2,000 tokens', 'spillway hook claude-code --max-tokens 2000 < event.json'],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const { host } = hostOf(args, USAGE)
  const policy = policyOf(args)
  if (process.stdin.isTTY) throw new UsageError('stdin is a terminal; the host writes an event to it')
  const event: unknown = JSON.parse((await buffer(process.stdin)).toString())
  const spill = createSpillStore({ dir: args.text('dir') ?? stateOf('outputs'), reference: 'path' })
  const answer = await answerTo(host, event, { maxBytes: BYTES, ...policy, spill })
  if (answer) await out.write(`${JSON.stringify(answer)}\n`)
  return 0
}

/** Returns the host that the first name denotes. */
export function hostOf(args: Args, usage: string): { name: string; host: Host } {
  const [name] = args.names
  const all = Object.keys(HOSTS).join(', ')
  if (name === undefined) throw new UsageError(`HOST is missing; expected one of ${all}`)
  const host = Object.hasOwn(HOSTS, name) ? HOSTS[name] : undefined
  if (!host) throw new UsageError(`unknown host ${JSON.stringify(name)}; expected one of ${all}`)
  checkNames(args, 1, usage)
  return { name, host }
}

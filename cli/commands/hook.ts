import { clampCall, omit } from '../../lib/hook/clamp_call.js'
import { HOST_BYTES, HOSTS, type Host, rowOf } from '../../lib/hook/hosts.js'
import { createSpillStore } from '../../lib/index.js'
import { jsonOf } from '../../lib/json.js'
import { isObject } from '../../lib/mcp/message.js'
import { doorMode } from '../../lib/mode.js'
import { digest, record } from '../../lib/stats/record.js'
import { stateOf } from '../../lib/stats/state.js'
import { answerOf, directoryOf, isOfOurs } from '../hook/answer.js'
import { read, write } from '../hook/stdio.js'
import { policyFlags, policyOf } from '../policy.js'
import { directoryIn, storeFlags, storeOf } from '../store/given_store.js'
import { type Args, type Command, checkNames } from '../term/args.js'
import { SUMMARIES } from '../term/summaries.js'
import { err } from '../term/terminal.js'
import { UsageError } from '../term/usage_error.js'

const USAGE = 'spillway hook HOST [flags]'

export const hook: Command = {
  summary: SUMMARIES.hook,
  usage: [USAGE],
  about: `Reads an event of a coding agent on stdin, after one of its tools has run, and
answers with the result within the limits, in the shape that this host expects
for this tool. Other events and unknown tools get no answer. Errors go to
stderr, and the exit code is still 0. HOST: ${Object.keys(HOSTS).join(', ')}.`,
  names: Object.keys(HOSTS),
  flags: {
    ...storeFlags('directory for full results, saved if they are cut\n(spillway/outputs in $XDG_STATE_HOME)'),
    'no-stats': { help: 'keep no figures for `spillway stats`' },
    ...policyFlags({
      maxBytes: `${HOST_BYTES}`,
      keep: 'auto',
      notice: 'hint',
      clean: 'never',
      html: true,
    }),
  },
  examples: [
    ['The answer to a stored event', 'spillway hook claude-code < event.json'],
    ['Results of 2,000 tokens', 'spillway hook claude-code --max-tokens 2000 < event.json'],
  ],
  run,
}

async function run(args: Args): Promise<number> {
  const { name: door, host } = hostOf(args, USAGE)
  const policy = { maxBytes: HOST_BYTES, ...policyOf(args) }
  const event: unknown = JSON.parse(await read())
  const mode = doorMode()
  if (mode === 'off' || !isObject(event) || event['hook_event_name'] !== host.event) return 0
  const { session_id: session, tool_name: name, tool_input: input, tool_response: result } = event
  if (typeof name !== 'string' || isOfOurs(event)) return 0
  const given = args.has('store') ? storeOf(args, '') : undefined
  const dir = directoryIn(args) ?? directoryOf(host, event) ?? stateOf('outputs')
  const storing = () => given?.store ?? createSpillStore({ dir, reference: 'path' })
  const row = rowOf(host, name)
  const acts = mode === 'on'
  const own = { ...policy, ...(acts && { storing }) }
  const outcome = row && (await clampCall(host, row, { name, input, result }, own))
  const { output, shown = 0, sent = 0 } = outcome ?? {}
  if (acts && outcome && output !== undefined) await write(`${jsonOf(answerOf(host, event, outcome))}\n`)
  if (given?.failure !== undefined) await err.tell(`spillway hook: ${given.explain(given.failure)}\n`)
  if (args.has('no-stats')) return 0
  // Reading another page of a file is the same request again.
  const asked = isObject(input) ? omit(input, row?.pages ?? []) : input
  record({
    door: 'hook',
    session: digest(door, session),
    tool: name,
    call: digest(door, session, name, asked),
    shown,
    sent,
    ...(output !== undefined && { cut: true }),
    ...(jsonOf(input)?.includes(given?.name ?? dir) && { back: true }),
    ...(!outcome && { left: true }),
    ...(!acts && { observed: true }),
  })
  return 0
}

/** Returns the host of the first name. */
export function hostOf(args: Args, usage: string): { name: string; host: Host } {
  const [name] = args.names
  const all = Object.keys(HOSTS).join(', ')
  if (name === undefined) throw new UsageError(`HOST is missing; expected one of ${all}`)
  const host = Object.hasOwn(HOSTS, name) ? HOSTS[name] : undefined
  if (!host) throw new UsageError(`unknown host ${JSON.stringify(name)}; expected one of ${all}`)
  checkNames(args, 1, usage)
  return { name, host }
}

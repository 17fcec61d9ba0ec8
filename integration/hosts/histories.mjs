// Sessions, each made by a host's own writer: the answers of the model in each run of the host, how
// the last run is killed, and what is done to the file behind the host's back.
import * as damage from './damage.mjs'

const ask = (...calls) => ({ calls })
const run = (...steps) => ({ steps })
/** A run that is killed: once the model was `asked` for its last step, or once the command of that
 *  step has `started`. */
const killed = (kill, ...steps) => ({ steps, kill })

/** Returns the sessions that a host can make, by name. `isForked`: a fork is made of it, before a
 *  repair and behind it. `hasFork`: it was forked before anything else. */
export function historiesOf(host, work) {
  const c = host.calls(work)
  const { text, silent, long } = c
  const two = [run(ask(text)), run(ask(silent))]
  const damaged = (edit) => ({ runs: [run(ask(text), ask(silent))], edit })
  const images = c.image ? [ask(c.image)] : []
  const all = {
    'results of all kinds': {
      runs: [run(ask(text), ...images, ask(c.error), ask(silent, text))],
      isForked: true,
    },
    'results of an MCP server': host.mcp && {
      runs: [run(...['shot', 'empty', 'both', 'data'].map((name) => ask(host.mcp(name))))],
    },
    'resumed twice': { runs: [...two, run({ text: 'no more' })] },
    'killed in a call': { runs: [killed('started', ask(text), ask(long))] },
    'killed in a call, of a model that reports no usage': host.asksForUsage && {
      runs: [killed('started', ask(text), { ...ask(long), hasNoUsage: true })],
    },
    'killed in one of two calls': { runs: [killed('started', ask(text, long))] },
    'killed after a call': { runs: [killed('asked', ask(text), { hangs: 'at once' })] },
    'killed in a stream': {
      runs: [killed('asked', ask(text), { hangs: 'half way', text: 'half of it' })],
    },
    'killed in a call, and resumed': { runs: [killed('started', ask(text), ask(long)), run(ask(silent))] },
    'a long command': { runs: [run(ask(c.huge))] },
    'a large result': { runs: [run(ask(text))], edit: damage.large, isForked: true },
    'a large result, forked': host.hasForks && { runs: [run(ask(text))], edit: damage.large, hasFork: true },
    'a wide image': c.wide && { runs: [run(ask(c.wide))] },
    'compacted by a command': host.compact && {
      runs: [...two, { ...run(), prompt: host.compact }, run(ask(text))],
    },
    'compacted when it was long': host.compactsAt && {
      runs: [run(ask(text), ask(silent), { text: 'so much', tokens: host.compactsAt }), run(ask(text))],
    },
    'a subagent': c.agent && { runs: [run(ask(c.agent), ask(text), { text: 'looked' }, ask(silent))] },
    // An export is not what a crash damages.
    'torn at its end': !host.unpack && damaged(damage.tornAtEnd),
    'NUL bytes at its end': !host.unpack && damaged(damage.zeros),
    'torn in the middle': !host.isDocument && damaged(damage.tornInMiddle),
    'two rows on one line': !host.isDocument && damaged(damage.glued),
    'a result lost': !host.hasPairs && damaged(damage.without('result')),
    'a call lost': !host.hasPairs && damaged(damage.without('call')),
  }
  const isMade = (history) => history && !(host.writesAtEnd && history.runs.some(({ kill }) => kill))
  return Object.entries(all).filter(([, history]) => isMade(history))
}

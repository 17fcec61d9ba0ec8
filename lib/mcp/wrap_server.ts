// A server of MCP whose answers are bounded where they leave it: at its transport. There every
// answer passes, also of tools that are registered later and of errors that an SDK makes itself, as
// messages of JSON-RPC that no version of an SDK changes.
import type { wrapServer as Declared } from 'spillway/mcp'
import { overlaid } from '../overlaid.js'
import { isObject as isHolder } from '../untrusted.js'
import { optionError } from '../validate.js'
import { Exchange } from './exchange.js'
import { type Receive, type Transport, Wire } from './wire.js'

const NOBODY = { tell: () => {}, count: () => {} }

export const wrapServer: typeof Declared = (server, policy = {}) => {
  if (!isHolder(server) || typeof server.connect !== 'function')
    throw optionError(TypeError, 'server', 'a server with a method connect', server)
  const { spill, ...limits } = policy
  const start = () => new Exchange(limits, spill, NOBODY)
  // A wrong option throws here, not with the first connection.
  start()
  const connect = server.connect as (transport: unknown) => Promise<void>
  server.connect = (transport: unknown) => connect.call(server, bounded(transport as Transport, start()))
  return server
}

/** Returns a transport that bounds each message and then sends it. */
function bounded(transport: Transport, exchange: Exchange): Transport {
  const wire = new Wire(transport, exchange)
  return overlaid(transport, {
    send: wire.send,
    get onmessage() {
      return wire.receive
    },
    set onmessage(receive: Receive | undefined) {
      wire.receive = receive
      transport.onmessage = receive && wire.take
    },
  })
}

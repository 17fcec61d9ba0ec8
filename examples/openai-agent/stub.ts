// Stands in for a provider: the same address, requests and refusals, and a script in place of a
// model.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Sent {
  role: string
  content: string | null
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
  tool_call_id?: string
}
/** A call of a tool, or the last words of an answer. */
export type Step = { tool: string; input: object } | string

/** Starts a provider whose model takes `window` tokens. `script` returns what it says next to the
 *  messages of its nth request. */
export async function startStub(window: number, script: (messages: Sent[], nth: number) => Step) {
  const seen = { answered: 0, refused: 0, messages: [] as Sent[] }
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const reply = (status: number, body: object) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      const text = Buffer.concat(parts).toString()
      if (request.url !== '/v1/chat/completions') return reply(404, { error: { message: 'not found' } })
      const tokens = Math.ceil(text.length / 4)
      if (tokens > window) {
        seen.refused += 1
        const said = `maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`
        return reply(400, { error: { message: `This model's ${said}`, code: 'context_length_exceeded' } })
      }
      seen.messages = (JSON.parse(text) as { messages: Sent[] }).messages
      checkPairs(seen.messages)
      const step = script(seen.messages, seen.answered++)
      const message =
        typeof step === 'string'
          ? { role: 'assistant', content: step }
          : { role: 'assistant', content: null, tool_calls: [callOf(step, `call_${seen.messages.length}`)] }
      return reply(200, { choices: [{ index: 0, message, finish_reason: 'stop' }] })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/v1`, seen, close: () => server.close() }
}

function callOf({ tool, input }: { tool: string; input: object }, id: string) {
  return { id, type: 'function', function: { name: tool, arguments: JSON.stringify(input) } }
}

/** Fails for a history that a provider rejects: a call without its result, or the reverse. */
function checkPairs(messages: Sent[]): void {
  const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id))
  const results = messages.flatMap(({ tool_call_id: id }) => id ?? [])
  if (calls.join() !== results.join()) throw new Error(`calls ${calls} have results ${results}`)
}

/** Returns the id of the saved output that the last result names. */
export function savedIn(messages: Sent[]): string {
  return /saved as ([0-9a-f]{16})/.exec(messages.at(-1)?.content ?? '')?.[1] ?? 'none'
}

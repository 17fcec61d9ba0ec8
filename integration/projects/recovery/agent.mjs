// A provider that takes less than the agent was told, and refuses in the words of Anthropic and of
// OpenAI.
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { runWithRecovery } from 'spillway'

const TAKES = 60_000
const WORDS = {
  anthropic: (tokens) => ({
    type: 'error',
    error: {
      type: 'invalid_request_error',
      message: `prompt is too long: ${tokens} tokens > ${TAKES} maximum`,
    },
  }),
  openai: () => ({
    error: {
      message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    },
  }),
}

const server = createServer(async (request, response) => {
  const body = await text(request)
  const tokens = Math.ceil(body.length / 4)
  const isTooLong = tokens > TAKES
  response.writeHead(isTooLong ? 400 : 200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isTooLong ? WORDS[request.url.slice(1)](tokens) : { text: 'done' }))
}).listen(0)

const result = (id) => [
  { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read', input: { path: `${id}.log` } }] },
  {
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: 'a line of a log\n'.repeat(3_000) }],
  },
]

for (const provider of Object.keys(WORDS)) {
  const history = [
    { role: 'user', content: 'why does it fail?' },
    ...Array.from({ length: 10 }, (_, i) => result(`call${i}`)).flat(),
  ]
  let requests = 0
  const answer = await runWithRecovery({
    contextTokens: 200_000,
    reserveTokens: 16_384,
    messages: () => history,
    send: async (messages, { signal }) => {
      requests += 1
      const url = `http://localhost:${server.address().port}/${provider}`
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(messages), signal })
      const body = await response.json()
      if (!response.ok)
        throw Object.assign(new Error(body.error.message), { status: response.status, error: body.error })
      return body.text
    },
  })
  if (answer !== 'done' || requests < 2) throw new Error(`${provider}: ${answer} after ${requests} requests`)
  console.log(`${provider}: answered on request ${requests}`)
}
server.close()
server.closeAllConnections()

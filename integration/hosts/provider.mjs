// A model on the loopback that speaks four APIs, told apart by their paths. It answers requests
// with tools by steps, in turn, and keeps the history of each.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { chat } from './apis/chat.mjs'
import { gemini } from './apis/gemini.mjs'
import { messages } from './apis/messages.mjs'
import { responses } from './apis/responses.mjs'

const APIS = [messages, chat, responses, gemini]
/** An answer of the model that ends a turn. */
export const DONE = { text: 'done' }

const parsed = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Entries with a digest in the place of each image. */
const digested = (entries) =>
  entries.map(({ media = [], ...entry }) => ({
    ...entry,
    images: media.map(({ data }) => createHash('sha256').update(data).digest('hex').slice(0, 8)),
  }))

let served = 0

/** Starts a model. A step is `{ calls }`, `{ text }`, or `{ hangs }`: no answer comes, or half of
 *  one. Requests without tools ask for a title or a summary, and get `DONE`. */
export async function provider(steps) {
  const requests = []
  const listening = []
  const run = served++
  const server = createServer(async (request, response) => {
    const body = parsed(Buffer.concat(await request.toArray()).toString())
    const api = APIS.find(({ owns }) => owns(request.url))
    spoken(response, api)
    if (!api) return response.json(besides(request.url))
    const isTurn = (body.tools?.length ?? 0) > 0
    const step = (isTurn && steps[requests.length]) || DONE
    const id = `${run}_${requests.length}${isTurn ? '' : `_${Math.random().toString(36).slice(2, 8)}`}`
    if (isTurn) {
      const entries = api.carried(body)
      requests.push({ api, body, entries, history: digested(entries) })
      for (const tell of listening) tell(requests.length)
    }
    if (step.hangs === 'at once') return
    response.isHalf = step.hangs === 'half way'
    api.answer({ request, response, body, step, id })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    /** Waits for so many turns. */
    asked: (count) =>
      new Promise((resolve) => {
        listening.push((now) => now >= count && resolve())
        if (requests.length >= count) resolve()
      }),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Gives a response `json` and `events`. Of events that hang half way, the first half is sent. */
function spoken(response, api) {
  response.json = (value) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(value))
  }
  response.events = (events) => {
    response.setHeader('content-type', 'text/event-stream')
    const isNamed = [messages, responses].includes(api)
    const sent = response.isHalf ? events.slice(0, Math.ceil(events.length / 2)) : events
    for (const event of sent) {
      const data = typeof event === 'string' ? event : JSON.stringify(event)
      response.write(`${isNamed ? `event: ${event.type}\n` : ''}data: ${data}\n\n`)
    }
    if (!response.isHalf) response.end()
  }
}

/** Answers what hosts ask for beside turns: counts of tokens and lists of models. */
function besides(url) {
  if (/count_?tokens/i.test(url)) return { totalTokens: 1, input_tokens: 1 }
  if (/models/.test(url)) return { object: 'list', data: [{ id: 'm', object: 'model' }] }
  return {}
}

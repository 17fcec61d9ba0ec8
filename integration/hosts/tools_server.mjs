// An MCP server whose tools answer with a log, with one image alone, with nothing, with both, and
// with structured content alone.
import { createInterface } from 'node:readline'
import { lines } from './logs.mjs'
import { png } from './media.mjs'

const text = (text) => ({ type: 'text', text })
const image = { type: 'image', data: png(8, 8).toString('base64'), mimeType: 'image/png' }
const results = {
  log: { content: [text(lines(40_000))] },
  large: { content: [text(lines(200_000))] },
  shot: { content: [image] },
  empty: { content: [] },
  both: { content: [text('a picture'), image] },
  data: { content: [], structuredContent: { a: 1 } },
}
const tools = Object.keys(results).map((name) => ({
  name,
  description: `returns ${name}`,
  inputSchema: { type: 'object', properties: {} },
}))

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const { protocolVersion } = params ?? {}
  const serverInfo = { name: 'some', version: '1' }
  const result = {
    initialize: { protocolVersion, capabilities: { tools: {} }, serverInfo },
    'tools/list': { tools },
    'tools/call': results[params?.name],
  }[method]
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result: result ?? {} }))
})

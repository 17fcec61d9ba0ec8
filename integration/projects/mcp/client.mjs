import { mkdtemp } from 'node:fs/promises'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { wrapTool } from 'spillway'

const DECISIVE = "Cannot find name 'total'"
const dir = await mkdtemp('outputs-')
const client = new Client({ name: 'agent', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command: process.execPath, args: ['server.mjs', dir] }))
const bounded = wrapTool(client, { method: 'callTool' })
const call = async (name, input = {}) => {
  const { content, isError = false } = await bounded.callTool({ name, arguments: input })
  return { text: content[0].text, isError }
}

for (const [name, fails] of [
  ['build', false],
  ['deploy', true],
]) {
  const { text, isError } = await call(name)
  if (isError !== fails || Buffer.byteLength(text) > 51_200 || !text.includes(DECISIVE))
    throw new Error(`${name}: ${isError}, ${text.length} chars: ${text.slice(-300)}`)
}
const { text } = await call('build')
const [, id] = text.match(/saved as \S*?([0-9a-f]{16})/) ?? []
const found = await call('read_output', { id, pattern: 'TS2304' })
if (!found.text.includes(DECISIVE)) throw new Error(found.text.slice(0, 500))
await client.close()
console.log('built, failed and searched over stdio')

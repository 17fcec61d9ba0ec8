// wrapServer with the servers and clients of both majors of the official SDK.
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as client2 from '@modelcontextprotocol/client'
import * as client1 from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport as Memory1 } from '@modelcontextprotocol/sdk/inMemory.js'
import * as server1 from '@modelcontextprotocol/sdk/server/mcp.js'
import * as server2 from '@modelcontextprotocol/server'
import { createSpillStore } from 'spillway'
import { wrapServer } from 'spillway/mcp'
import { z } from 'zod'
import { bytes, DECISIVE, FAILURE, ROWS, TEXT } from './scenario.mjs'

const LIMIT = 8_000
const SDKS = {
  1: { McpServer: server1.McpServer, Client: client1.Client, Memory: Memory1 },
  2: { McpServer: server2.McpServer, Client: client2.Client, Memory: server2.InMemoryTransport },
}
const NAMED = { name: 'builder', version: '1.0.0' }

function register(server) {
  const inputSchema = z.object({ n: z.number() })
  const outputSchema = z.object({ rows: z.array(z.string()) })
  server.registerTool('build', { description: 'Builds', inputSchema }, async () => ({
    content: [{ type: 'text', text: TEXT }],
  }))
  server.registerTool('fails', { description: 'Fails', inputSchema }, async () => {
    throw new Error(FAILURE)
  })
  server.registerTool('table', { description: 'Rows', inputSchema, outputSchema }, async () => ({
    content: [{ type: 'text', text: JSON.stringify({ rows: ROWS }) }],
    structuredContent: { rows: ROWS },
  }))
  server.registerResource('log', 'log://all', {}, async () => ({
    contents: [{ uri: 'log://all', text: TEXT }],
  }))
  server.registerPrompt('explain', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: TEXT } }],
  }))
}

for (const [major, { McpServer, Client, Memory }] of Object.entries(SDKS)) {
  test(`a wrapped server of MCP SDK ${major}.x answers its client within the limits`, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-'))
    const server = new McpServer(NAMED)
    wrapServer(server, { maxBytes: LIMIT, spill: createSpillStore({ dir, reference: 'id' }) })
    register(server)
    const client = new Client(NAMED)
    const [here, there] = Memory.createLinkedPair()
    await Promise.all([server.connect(here), client.connect(there)])
    const { tools } = await client.listTools()
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['build', 'fails', 'table', 'read_output'],
    )
    const call = (name, args = { n: 1 }) => client.callTool({ name, arguments: args })
    const isBounded = (answer) => assert.ok(bytes(JSON.stringify(answer)) <= LIMIT + 1_024)

    const built = await call('build')
    isBounded(built)
    const id = /saved as ([0-9a-f]{16})/.exec(built.content[0].text)?.[1]
    const back = await call('read_output', { id, line: 1, lines: 3 })
    assert.ok(TEXT.startsWith(back.content[0].text.match(/^1: (.*)$/m)?.[1] ?? '?'))

    const failed = await call('fails')
    isBounded(failed)
    assert.equal(failed.isError, true)
    assert.ok(failed.content[0].text.includes(DECISIVE))

    const table = await call('table')
    assert.ok(table.structuredContent.rows.length > 0)
    assert.ok(bytes(JSON.stringify(table.structuredContent)) <= LIMIT)

    // The SDK itself refuses these.
    const wrong = { n: 'x'.repeat(100_000), ['y'.repeat(100_000)]: 1 }
    isBounded(await call('build', wrong).catch(({ message }) => message))

    const resource = await client.readResource({ uri: 'log://all' })
    isBounded(resource)
    assert.equal(resource.contents[0].uri, 'log://all')
    const prompt = await client.getPrompt({ name: 'explain' })
    isBounded(prompt)
    assert.equal(prompt.messages[0].role, 'user')
    await client.close()
  })
}

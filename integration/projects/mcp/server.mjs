// A server on stdio: one tool that answers with 5 MB, one that fails with as much, and read_output
// for both.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createSpillStore, spillTool, wrapTool } from 'spillway'
import { z } from 'zod'

const lines = Array.from({ length: 150_000 }, (_, i) => `[${i + 1}/150000] compile src/module_${i}.ts`)
lines[75_000] = "src/cart.ts:7:3 - error TS2304: Cannot find name 'total'."
const log = lines.join('\n')
const spill = createSpillStore({ dir: process.argv[2] })
const policy = { keep: 'findings', spill }

const server = new McpServer({ name: 'builder', version: '1.0.0' })
const build = wrapTool(async () => ({ content: [{ type: 'text', text: log }] }), policy)
server.registerTool('build', { inputSchema: {} }, build)
const deploy = wrapTool(async () => {
  throw new Error(log)
}, policy)
server.registerTool('deploy', { inputSchema: {} }, deploy)

const { description, execute } = spillTool(spill)
const inputSchema = { id: z.string(), pattern: z.string().optional() }
server.registerTool('read_output', { description, inputSchema }, async (input) => ({
  content: [{ type: 'text', text: await execute(input) }],
}))
await server.connect(new StdioServerTransport())

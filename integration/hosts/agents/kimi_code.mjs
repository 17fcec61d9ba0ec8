import { join } from 'node:path'
import { shell } from './commands.mjs'

export const kimiCode = {
  install: { package: '@moonshot-ai/kimi-code', version: '2.1.0', file: 'dist/main.mjs', node: 22 },
  settings: ({ url, server: [command, ...args] }) => ({
    '.kimi-code/config.toml': `default_model = "m"
[models.m]
provider = "ours"
model = "m"
max_context_size = 1000000
capabilities = ["image_in", "tool_use"]
[providers.ours]
type = "kimi"
base_url = "${url}/v1"
api_key = "none"
`,
    '.kimi-code/mcp.json': { mcpServers: { some: { command, args } } },
  }),
  args: ({ prompt, resume }) => [...(resume ? ['--continue'] : []), '-m', 'm', '-p', prompt],
  /** Rows that it only shows, with a second copy of each message. */
  unsent: /"kind":"event"\}$/,
  sessions: /\.kimi-code[\\/]sessions[\\/].*wire\.jsonl$/,
  calls: (work) => ({
    ...shell('Bash', (command) => ({ command })),
    image: { name: 'ReadMediaFile', input: { path: join(work, 'shot.png') } },
    wide: { name: 'ReadMediaFile', input: { path: join(work, 'wide.png') } },
    error: { name: 'Read', input: { path: join(work, 'no-such.txt') } },
  }),
  mcp: (name) => ({ name: `mcp__some__${name}`, input: {} }),
}

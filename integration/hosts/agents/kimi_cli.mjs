import { basename, dirname, join } from 'node:path'
import { shell } from './commands.mjs'

export const kimiCli = {
  // Later versions only say that it has ended.
  install: { pip: 'kimi-cli', version: '1.40.0', file: 'bin/kimi' },
  settings: ({ url }) => ({
    '.kimi/config.toml': `default_model = "m"
[models.m]
provider = "ours"
model = "m"
max_context_size = 1000000
capabilities = ["image_in"]
[providers.ours]
type = "kimi"
base_url = "${url}/v1"
api_key = "none"
`,
  }),
  args: ({ prompt, server: [command, ...args], resume }) => [
    ...(resume ? ['-r', basename(dirname(resume))] : []),
    '--print',
    '--mcp-config',
    JSON.stringify({ mcpServers: { some: { command, args } } }),
    '-p',
    prompt,
  ],
  sessions: /\.kimi[\\/]sessions[\\/].*context\.jsonl$/,
  calls: (work) => ({
    ...shell('Shell', (command) => ({ command })),
    image: { name: 'ReadMediaFile', input: { path: join(work, 'shot.png') } },
    wide: { name: 'ReadMediaFile', input: { path: join(work, 'wide.png') } },
    error: { name: 'ReadFile', input: { path: join(work, 'no-such.txt') } },
  }),
  mcp: (name) => ({ name, input: {} }),
}

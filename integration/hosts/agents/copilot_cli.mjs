import { basename, dirname, join } from 'node:path'
import { shell } from './commands.mjs'

export const copilotCli = {
  install: {
    package: `@github/copilot-${process.platform}-${process.arch}`,
    version: '1.0.102',
    file: process.platform === 'win32' ? 'copilot.exe' : 'copilot',
  },
  environment: (url) => ({
    COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
    COPILOT_PROVIDER_TYPE: 'openai',
    COPILOT_PROVIDER_API_KEY: 'none',
    COPILOT_MODEL: 'm',
    COPILOT_OFFLINE: 'true',
    COPILOT_AUTO_UPDATE: 'false',
  }),
  args: ({ prompt, server: [command, ...args], resume }) => [
    ...(resume ? [`--resume=${basename(dirname(resume))}`] : []),
    '--allow-all-tools',
    '--allow-all-paths',
    '--additional-mcp-config',
    JSON.stringify({ mcpServers: { some: { type: 'local', command, args, tools: ['*'] } } }),
    '-p',
    prompt,
  ],
  sessions: /\.copilot[\\/]session-state[\\/].*events\.jsonl$/,
  calls: (work) => ({
    ...shell('bash', (command) => ({ command, description: 'a' })),
    image: { name: 'view', input: { path: join(work, 'shot.png') } },
    wide: { name: 'view', input: { path: join(work, 'wide.png') } },
    error: { name: 'view', input: { path: join(work, 'no-such.txt') } },
  }),
  mcp: (name) => ({ name: `some-${name}`, input: {} }),
}

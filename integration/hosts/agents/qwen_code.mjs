import { join } from 'node:path'
import { shell } from './commands.mjs'

export const qwenCode = {
  install: { package: '@qwen-code/qwen-code', version: '0.24.4', file: 'cli.js', node: 22 },
  environment: (url) => ({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'none',
    OPENAI_MODEL: 'qwen3-vl-plus',
    // It takes no notice of NO_PROXY.
    HTTP_PROXY: undefined,
    HTTPS_PROXY: undefined,
  }),
  settings: ({ server: [command, ...args] }) => ({
    '.qwen/settings.json': {
      security: { auth: { selectedType: 'openai' } },
      privacy: { usageStatisticsEnabled: false },
      mcpServers: { some: { command, args, trust: true } },
    },
  }),
  args: ({ prompt, resume }) => [...(resume ? ['--continue'] : []), '--approval-mode', 'yolo', '-p', prompt],
  /** Providers of Chat get no text file, and an image only behind the result. */
  placeholder: /^\[(media attached in following user message|document: text\/plain)\]$/,
  sessions: /\.qwen[\\/].*[\\/]chats[\\/].*\.jsonl$/,
  calls: (work) => ({
    ...shell('run_shell_command', (command) => ({ command, is_background: false })),
    image: { name: 'read_file', input: { file_path: join(work, 'shot.png') } },
    wide: { name: 'read_file', input: { file_path: join(work, 'wide.png') } },
    error: { name: 'read_file', input: { file_path: join(work, 'no-such.txt') } },
  }),
  mcp: (name) => ({ name: `mcp__some__${name}`, input: {} }),
}

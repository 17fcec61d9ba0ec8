import { join } from 'node:path'
import { shell } from './commands.mjs'

const TARGET = { linux: 'unknown-linux-musl', darwin: 'apple-darwin', win32: 'pc-windows-msvc' }
const CPU = { x64: 'x86_64', arm64: 'aarch64' }
const VERSION = '0.171.0'
const idOf = (path) => /([0-9a-f]{8}-[0-9a-f-]{27})\.jsonl$/.exec(path)?.[1]

export const codex = {
  install: {
    package: '@openai/codex',
    version: `${VERSION}-${process.platform}-${process.arch}`,
    file: `vendor/${CPU[process.arch]}-${TARGET[process.platform]}/bin/codex${process.platform === 'win32' ? '.exe' : ''}`,
  },
  settings: ({ url, server: [command, ...args] }) => ({
    '.codex/config.toml': `model = "m"
model_provider = "ours"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
model_context_window = 200000
model_auto_compact_token_limit = 100000
[model_providers.ours]
name = "ours"
base_url = "${url}"
wire_api = "responses"
[mcp_servers.some]
command = ${JSON.stringify(command)}
args = ${JSON.stringify(args)}
`,
  }),
  args: ({ prompt, resume, fork }) => [
    'exec',
    '--skip-git-repo-check',
    ...(resume ? ['resume', idOf(resume)] : []),
    ...(fork ? ['fork', idOf(fork)] : []),
    prompt,
  ],
  sessions: /\.codex[\\/]sessions[\\/].*\.jsonl$/,
  calls: (work) => ({
    ...shell('exec_command', (cmd) => ({ cmd })),
    image: { name: 'view_image', input: { path: join(work, 'shot.png') } },
    wide: { name: 'view_image', input: { path: join(work, 'wide.png') } },
  }),
  mcp: (name) => ({ namespace: 'mcp__some', name, input: {} }),
  hasForks: true,
  /** A model that reports no usage leaves the call as the last row. */
  asksForUsage: true,
  /** It compacts when the model reports so many tokens. */
  compactsAt: 150_000,
}

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { shell } from './commands.mjs'

const model = {
  tool_call: true,
  attachment: true,
  modalities: { input: ['text', 'image'], output: ['text'] },
  limit: { context: 1_000_000, output: 1_000 },
}

export const opencode = {
  install: {
    package: `opencode-${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`,
    version: '1.18.33',
    file: process.platform === 'win32' ? 'bin/opencode.exe' : 'bin/opencode',
  },
  environment: () => ({
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }),
  settings: ({ home, url, server }) => {
    mkdirSync(join(home, '.config/opencode/node_modules'), { recursive: true })
    return {
      '.config/opencode/opencode.json': {
        provider: {
          ours: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${url}/v1`, apiKey: 'none' },
            models: { m: model },
          },
        },
        mcp: { some: { type: 'local', command: server } },
        permission: { '*': 'allow' },
      },
      // With plugins, it fetches the package of their types, unless that looks fetched.
      '.config/opencode/package-lock.json': {
        packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } },
      },
    }
  },
  args: ({ prompt, resume }) => ['run', '--model', 'ours/m', ...(resume ? ['--continue'] : []), prompt],
  /** Its sessions are in a database, which it exports and imports. */
  sessions: /exported\.json$/,
  isDocument: true,
  /** A call holds its result. */
  hasPairs: true,
  database: /opencode\.db$/,
  calls: (work) => ({
    ...shell('bash', (command) => ({ command, description: 'a' })),
    image: { name: 'read', input: { filePath: join(work, 'shot.png') } },
    wide: { name: 'read', input: { filePath: join(work, 'wide.png') } },
    error: { name: 'read', input: { filePath: join(work, 'no-such.txt') } },
  }),
  mcp: (name) => ({ name: `some_${name}`, input: {} }),
  hooked: (work) => [
    { name: 'bash', of: '200 KB', input: { command: 'cat large.log', description: 'a log' }, isLog: true },
    { name: 'read', of: '40 KB', input: { filePath: join(work, 'small.txt') } },
    { name: 'read', of: '200 KB', input: { filePath: join(work, 'large.log') } },
    { name: 'some_large', of: '200 KB', input: {} },
  ],
}

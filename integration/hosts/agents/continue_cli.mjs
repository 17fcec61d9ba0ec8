import { join } from 'node:path'
import { shell } from './commands.mjs'

export const continueCli = {
  install: { package: '@continuedev/cli', version: '1.5.47', file: 'dist/cn.js' },
  environment: () => ({ CONTINUE_TELEMETRY_ENABLED: '0' }),
  settings: ({ url }) => ({
    '.continue/config.yaml': `name: ours
version: 0.0.1
schema: v1
models:
  - name: m
    provider: openai
    model: m
    apiBase: ${url}/v1
    apiKey: none
    roles: [chat]
    capabilities: [tool_use, image_input]
`,
  }),
  args: ({ prompt, resume }) => [...(resume ? ['--resume'] : []), '--auto', '-p', prompt],
  sessions: /\.continue[\\/]sessions[\\/](?!sessions\.json).*\.json$/,
  isDocument: true,
  /** It writes at the end of a turn, so a killed run leaves nothing. */
  writesAtEnd: true,
  /** A call holds its result. */
  hasPairs: true,
  calls: (work) => ({
    ...shell('Bash', (command) => ({ command })),
    error: { name: 'Read', input: { filepath: join(work, 'no-such.txt') } },
  }),
}

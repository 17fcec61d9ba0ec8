import { join } from 'node:path'
import { shell } from './commands.mjs'

const model = { id: 'm', input: ['text', 'image'], contextWindow: 1_000_000, maxTokens: 4_000 }

export const pi = {
  install: { package: '@earendil-works/pi-coding-agent', version: '1.6.0', file: 'dist/cli.js', node: 22 },
  environment: () => ({ PI_OFFLINE: '1' }),
  settings: ({ url }) => ({
    '.pi/agent/models.json': {
      providers: {
        ours: { baseUrl: `${url}/v1`, api: 'openai-completions', apiKey: 'none', models: [model] },
      },
    },
  }),
  args: ({ prompt, resume, fork }) => [
    '-p',
    '--provider',
    'ours',
    '--model',
    'm',
    ...(resume ? ['--session', resume] : []),
    ...(fork ? ['--fork', fork] : []),
    prompt,
  ],
  sessions: /\.pi[\\/]agent[\\/]sessions[\\/].*\.jsonl$/,
  calls: (work) => ({
    ...shell('bash', (command) => ({ command })),
    image: { name: 'read', input: { path: join(work, 'shot.png') } },
    wide: { name: 'read', input: { path: join(work, 'wide.png') } },
  }),
  hasForks: true,
  /** It compacts when the model reports more tokens than its window takes. */
  compactsAt: 1_100_000,
}

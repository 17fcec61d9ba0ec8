import assert from 'node:assert/strict'
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { shell } from './commands.mjs'

const model = {
  tool_call: true,
  attachment: true,
  modalities: { input: ['text', 'image'], output: ['text'] },
  limit: { context: 1_000_000, output: 1_000 },
}

const idIn = (path) => JSON.parse(readFileSync(path, 'utf8')).info.id
const EXPORTED = 'exported.json'
const AS_IT_WAS = 'exported.json.orig'

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
  args: ({ prompt, resume }) => [
    'run',
    '--model',
    'ours/m',
    ...(resume ? ['--session', idIn(resume)] : []),
    prompt,
  ],
  /** Its sessions are in a database, which it exports and imports. */
  sessions: /exported\.json$/,
  isDocument: true,
  /** A call holds its result. */
  hasPairs: true,
  /** Exports the session. Through a pipe the export may end before its JSON does. */
  unpack: (home, ask) => {
    const [{ id }] = JSON.parse(ask(['session', 'list', '--format', 'json']).stdout)
    const file = openSync(join(home, EXPORTED), 'w')
    const { status, stderr } = ask(['export', id], { stdio: ['ignore', file, 'pipe'] })
    closeSync(file)
    assert.equal(status, 0, stderr)
    copyFileSync(join(home, EXPORTED), join(home, AS_IT_WAS))
  },
  /** Imports the session if it was changed. An import keeps the parts that are there, so the
   *  session is deleted first. */
  pack: (home, ask) => {
    const path = join(home, EXPORTED)
    if (readFileSync(path).equals(readFileSync(join(home, AS_IT_WAS)))) return
    for (const args of [
      ['session', 'delete', idIn(path)],
      ['import', path],
    ]) {
      const { status, stdout, stderr } = ask(args)
      assert.equal(status, 0, `${args}: ${stdout}${stderr}`)
    }
  },
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

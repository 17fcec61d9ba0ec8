import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** OpenCode, and a model that speaks the Chat Completions API. */
export const opencode = {
  package: `opencode-${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`,
  version: '1.18.33',
  file: process.platform === 'win32' ? 'bin/opencode.exe' : 'bin/opencode',
  callsIn: (place) => [
    { name: 'bash', of: '200 KB', input: { command: 'cat large.log', description: 'a log' }, isLog: true },
    { name: 'read', of: '40 KB', input: { filePath: join(place, 'small.txt') } },
    { name: 'read', of: '200 KB', input: { filePath: join(place, 'large.log') } },
    { name: 'some_large', of: '200 KB', input: {} },
  ],
  environment: () => ({
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  }),
  ready: ({ home, url, server }) => {
    const folder = join(home, '.config/opencode')
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    const settings = {
      provider: {
        ours: {
          npm: '@ai-sdk/openai-compatible',
          options: { baseURL: url, apiKey: 'none' },
          models: { m: { tool_call: true, limit: { context: 1_000_000, output: 1_000 } } },
        },
      },
      mcp: { some: { type: 'local', command: server } },
      permission: { '*': 'allow' },
    }
    writeFileSync(join(folder, 'opencode.json'), JSON.stringify(settings))
    // With plugins, it fetches the package of their types, unless that looks fetched.
    const lock = { packages: { '': { dependencies: { '@opencode-ai/plugin': '*' } } } }
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
    return ['run', '--model', 'ours/m', 'go']
  },
  resultsOf: ({ messages = [] }) =>
    messages.filter(({ role }) => role === 'tool').map(({ content }) => content),
  answer: ({ response, call, nth }) => {
    response.setHeader('content-type', 'text/event-stream')
    const chunk = (delta, finish_reason = null) => {
      const choices = [{ index: 0, delta, finish_reason }]
      const body = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices }
      response.write(`data: ${JSON.stringify(body)}\n\n`)
    }
    const asked = call && { name: call.name, arguments: JSON.stringify(call.input) }
    const made = { index: 0, id: `call_${nth}`, type: 'function', function: asked }
    chunk({ role: 'assistant', ...(call ? { tool_calls: [made] } : { content: 'done' }) })
    chunk({}, call ? 'tool_calls' : 'stop')
    response.end('data: [DONE]\n\n')
  },
}

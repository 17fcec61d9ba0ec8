import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Gemini CLI, and a model that speaks the Gemini API. */
export const geminiCli = {
  package: '@google/gemini-cli',
  version: '0.61.0',
  file: 'bundle/gemini.js',
  callsIn: (place) => [
    { name: 'run_shell_command', of: '200 KB', input: { command: 'cat large.log' }, isLog: true },
    { name: 'read_file', of: '40 KB', input: { file_path: join(place, 'small.txt') } },
    { name: 'read_file', of: '200 KB', input: { file_path: join(place, 'large.log') } },
    { name: 'grep_search', of: '40 KB', input: { pattern: 'INFO', include_pattern: 'wide.log' } },
    { name: 'mcp_some_large', of: '200 KB', input: {} },
    { name: 'list_directory', of: '1 KB', input: { dir_path: place }, isLeft: true },
  ],
  session: {
    call: { name: 'run_shell_command', input: { command: 'cat one.txt' } },
    files: /\.gemini\/tmp\/.*\/chats\/.*\.jsonl?$/,
    resume: ['--resume', 'latest'],
  },
  environment: (url) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'none',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  ready: ({ home, server: [command, ...args] }) => {
    mkdirSync(join(home, '.gemini'), { recursive: true })
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' } },
      mcpServers: { some: { command, args, trust: true } },
    }
    writeFileSync(join(home, '.gemini/settings.json'), JSON.stringify(settings))
    return ['-p', 'go', '-m', 'gemini-2.5-pro', '--approval-mode', 'yolo']
  },
  resultsOf: ({ contents = [] }) =>
    contents
      .flatMap(({ parts }) => parts)
      .filter((part) => part.functionResponse)
      .map(({ functionResponse: { response } }) => {
        if (response.error !== undefined) throw new Error(response.error)
        return response.output
      }),
  answer: ({ request, response, call }) => {
    if (request.url.includes('countTokens')) return response.end(JSON.stringify({ totalTokens: 1 }))
    const part = call ? { functionCall: { name: call.name, args: call.input } } : { text: 'done' }
    const content = { role: 'model', parts: [part] }
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
    const answer = JSON.stringify({
      candidates: [{ content, finishReason: 'STOP', index: 0 }],
      usageMetadata,
    })
    const isStream = request.url.includes('stream')
    response.setHeader('content-type', isStream ? 'text/event-stream' : 'application/json')
    response.end(isStream ? `data: ${answer}\n\n` : answer)
  },
}

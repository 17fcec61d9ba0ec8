import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TARGET = { linux: 'unknown-linux-musl', darwin: 'apple-darwin', win32: 'pc-windows-msvc' }
const CPU = { x64: 'x86_64', arm64: 'aarch64' }
const VERSION = '0.171.0'

/** Codex CLI, and a model that speaks the Responses API. */
export const codex = {
  package: '@openai/codex',
  version: `${VERSION}-${process.platform}-${process.arch}`,
  file: `vendor/${CPU[process.arch]}-${TARGET[process.platform]}/bin/codex${process.platform === 'win32' ? '.exe' : ''}`,
  session: {
    call: { name: 'exec_command', input: { cmd: 'cat one.txt' } },
    files: /\.codex[\\/]sessions[\\/].*\.jsonl$/,
    resume: ['resume', '--last'],
    // It sends 12,000 chars of a stored result, whatever it has.
    isCut: true,
  },
  environment: () => ({}),
  ready: ({ home, url }) => {
    mkdirSync(join(home, '.codex'), { recursive: true })
    const settings = `model = "m"
model_provider = "ours"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.ours]
name = "ours"
base_url = "${url}"
wire_api = "responses"
`
    writeFileSync(join(home, '.codex/config.toml'), settings)
    return ['exec', '--skip-git-repo-check']
  },
  said: ['go'],
  resultsOf: ({ input = [] }) =>
    input.filter(({ type }) => type === 'function_call_output').map(({ output }) => JSON.stringify(output)),
  answer: ({ response, call, nth }) => {
    const item = call
      ? {
          type: 'function_call',
          id: `fc_${nth}`,
          call_id: `call_${nth}`,
          name: call.name,
          arguments: JSON.stringify(call.input),
        }
      : {
          type: 'message',
          id: `msg_${nth}`,
          role: 'assistant',
          content: [{ type: 'output_text', text: 'done', annotations: [] }],
        }
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    response.setHeader('content-type', 'text/event-stream')
    for (const event of [
      { type: 'response.created', response: { id: `resp_${nth}` } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: `resp_${nth}`, output: [item], usage } },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  },
}

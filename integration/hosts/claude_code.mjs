import { join } from 'node:path'

const { SPILLWAY_CLAUDE: given } = process.env

/** Claude Code, and a model that speaks the Messages API. */
export const claudeCode = {
  package: `@anthropic-ai/claude-code-${process.platform}-${process.arch}`,
  version: '2.1.330',
  file: process.platform === 'win32' ? 'claude.exe' : 'claude',
  given,
  callsIn: (place) => [
    { name: 'Bash', of: '200 KB', input: { command: 'cat large.log' }, isLog: true },
    {
      name: 'Grep',
      of: '200 KB',
      input: { pattern: '\\.', path: join(place, 'large.log'), output_mode: 'content', head_limit: 0 },
    },
    { name: 'Read', of: '40 KB', input: { file_path: join(place, 'small.txt') } },
    { name: 'Read', of: '200 KB', input: { file_path: join(place, 'large.log') } },
    { name: 'mcp__some__log', of: '40 KB', input: {} },
    // The host replaces a result of over 25,000 tokens before any hook sees it.
    { name: 'mcp__some__large', of: '200 KB', input: {}, isLeft: true },
  ],
  session: {
    call: { name: 'Bash', input: { command: 'cat one.txt' } },
    files: /\.claude\/projects\/.*\.jsonl$/,
    resume: ['--continue'],
  },
  environment: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  ready: ({ server: [command, ...args] }) => {
    const mcp = JSON.stringify({ mcpServers: { some: { command, args } } })
    return [
      '-p',
      'go',
      '--allowedTools',
      'Bash,Grep,Read,mcp__some__log,mcp__some__large',
      '--mcp-config',
      mcp,
    ]
  },
  resultsOf: ({ messages = [] }) =>
    messages
      .flatMap(({ content }) => (Array.isArray(content) ? content : []))
      .filter(({ type }) => type === 'tool_result')
      .map(({ content }) => JSON.stringify(content)),
  answer: ({ request, response, body, call, nth }) => {
    if (request.url.includes('count_tokens'))
      return response.end(JSON.stringify({ input_tokens: Math.round(JSON.stringify(body).length / 4) }))
    const { name, input } = call ?? {}
    const block = name ? { type: 'tool_use', id: `call_${nth}`, name, input: {} } : { type: 'text', text: '' }
    const delta = name
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text: 'done' }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = { id: 'm', type: 'message', role: 'assistant', model: body.model, content: [], usage }
    response.setHeader('content-type', 'text/event-stream')
    for (const event of [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: name ? 'tool_use' : 'end_turn' }, usage },
      { type: 'message_stop' },
    ])
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    response.end()
  },
}

import { basename, join } from 'node:path'
import { shell } from './commands.mjs'

const { SPILLWAY_CLAUDE: given } = process.env
const MCP = 'mcp__some__'
const TOOLS = ['log', 'large', 'shot', 'empty', 'both', 'data'].map((name) => `${MCP}${name}`)

export const claudeCode = {
  install: {
    package: `@anthropic-ai/claude-code-${process.platform}-${process.arch}`,
    version: '2.1.332',
    file: process.platform === 'win32' ? 'claude.exe' : 'claude',
    given,
  },
  environment: (url) => ({
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }),
  args: ({ prompt, server: [command, ...args], resume, fork }) => [
    ...(resume || fork ? ['--resume', basename(resume ?? fork, '.jsonl')] : []),
    ...(fork ? ['--fork-session'] : []),
    '-p',
    prompt,
    '--allowedTools',
    `Bash,Grep,Read,Agent,${TOOLS}`,
    '--mcp-config',
    JSON.stringify({ mcpServers: { some: { command, args } } }),
  ],
  sessions: /\.claude[\\/]projects[\\/].*\.jsonl$/,
  calls: (work) => ({
    ...shell('Bash', (command) => ({ command })),
    image: { name: 'Read', input: { file_path: join(work, 'shot.png') } },
    wide: { name: 'Read', input: { file_path: join(work, 'wide.png') } },
    agent: {
      name: 'Agent',
      input: {
        description: 'look',
        prompt: 'look at one.txt',
        subagent_type: 'general-purpose',
        run_in_background: false,
      },
    },
  }),
  mcp: (name) => ({ name: `${MCP}${name}`, input: {} }),
  hasForks: true,
  compact: '/compact',
  hooked: (work) => [
    { name: 'Bash', of: '200 KB', input: { command: 'cat large.log' }, isLog: true },
    {
      name: 'Grep',
      of: '200 KB',
      input: { pattern: '\\.', path: join(work, 'large.log'), output_mode: 'content', head_limit: 0 },
    },
    { name: 'Read', of: '40 KB', input: { file_path: join(work, 'small.txt') } },
    { name: 'Read', of: '200 KB', input: { file_path: join(work, 'large.log') } },
    { name: `${MCP}log`, of: '40 KB', input: {} },
    // The host replaces a result of over 25,000 tokens before any hook sees it.
    { name: `${MCP}large`, of: '200 KB', input: {}, isLeft: true },
  ],
}

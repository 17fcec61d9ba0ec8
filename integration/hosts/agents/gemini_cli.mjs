import { join } from 'node:path'
import { shell } from './commands.mjs'

/** Omits the second of two results of a call, which it sends of every session that it resumes. */
function once({ contents, ...body }) {
  const seen = new Set()
  const isFirst = ({ functionResponse }) => {
    const id = functionResponse?.id
    if (id === undefined) return true
    return !seen.has(id) && seen.add(id)
  }
  return { ...body, contents: contents.map(({ role, parts }) => ({ role, parts: parts.filter(isFirst) })) }
}

export const geminiCli = {
  install: { package: '@google/gemini-cli', version: '0.61.0', file: 'bundle/gemini.js' },
  environment: (url) => ({
    GOOGLE_GEMINI_BASE_URL: url,
    GEMINI_API_KEY: 'none',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  settings: ({ server: [command, ...args] }) => ({
    '.gemini/settings.json': {
      security: { auth: { selectedType: 'gemini-api-key' } },
      mcpServers: { some: { command, args, trust: true } },
    },
  }),
  args: ({ prompt, resume }) => [
    ...(resume ? ['--resume', 'latest'] : []),
    '-p',
    prompt,
    '-m',
    'gemini-2.5-pro',
    '--approval-mode',
    'yolo',
  ],
  judged: once,
  /** When it resumes, it appends a copy of all messages as they are then, and reads that later. */
  restates: true,
  sessions: /\.gemini[\\/]tmp[\\/].*[\\/]chats[\\/].*\.jsonl?$/,
  calls: (work) => ({
    ...shell('run_shell_command', (command) => ({ command })),
    image: { name: 'read_file', input: { file_path: join(work, 'shot.png') } },
    wide: { name: 'read_file', input: { file_path: join(work, 'wide.png') } },
    error: { name: 'read_file', input: { file_path: join(work, 'no-such.txt') } },
  }),
  mcp: (name) => ({ name: `mcp_some_${name}`, input: {} }),
  hooked: (work) => [
    { name: 'run_shell_command', of: '200 KB', input: { command: 'cat large.log' }, isLog: true },
    { name: 'read_file', of: '40 KB', input: { file_path: join(work, 'small.txt') } },
    { name: 'read_file', of: '200 KB', input: { file_path: join(work, 'large.log') } },
    { name: 'grep_search', of: '40 KB', input: { pattern: 'INFO', include_pattern: 'wide.log' } },
    { name: 'mcp_some_large', of: '200 KB', input: {} },
    { name: 'list_directory', of: '1 KB', input: { dir_path: work }, isLeft: true },
  ],
}

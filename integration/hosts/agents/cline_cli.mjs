import { execFileSync } from 'node:child_process'
import { basename, dirname, join } from 'node:path'
import { shell } from './commands.mjs'

export const clineCli = {
  install: { package: 'cline', version: '3.0.65', file: 'bin/cline', hasOptional: true },
  environment: () => ({ CLINE_NO_AUTO_UPDATE: '1' }),
  /** Its settings are written by a command. */
  signIn: ({ command: [program, ...rest], env, url }) =>
    execFileSync(
      program,
      [...rest, 'auth', '-p', 'openai-compatible', '-k', 'none', '-m', 'm', '-b', `${url}/v1`],
      { env, stdio: 'pipe', timeout: 60_000 },
    ),
  args: ({ prompt, resume }) => [
    '--compaction',
    'off',
    '-P',
    'openai-compatible',
    '-m',
    'm',
    ...(resume ? ['--id', basename(dirname(resume))] : [prompt]),
  ],
  /** It resumes in a terminal only, where the prompt is typed. */
  resumesInTerminal: true,
  sessions: /\.cline[\\/]data[\\/]sessions[\\/].*messages\.json$/,
  isDocument: true,
  calls: (work) => ({
    ...shell('run_commands', (command) => ({ commands: [command] })),
    image: { name: 'read_files', input: { files: [{ path: join(work, 'shot.png') }] } },
    wide: { name: 'read_files', input: { files: [{ path: join(work, 'wide.png') }] } },
    error: { name: 'read_files', input: { files: [{ path: join(work, 'no-such.txt') }] } },
  }),
}

import type { Args, Command, Commands } from '../term/args.js'
import { SUMMARIES } from '../term/summaries.js'
import { out } from '../term/terminal.js'
import { UsageError } from '../term/usage_error.js'
import { bash } from './bash_completion.js'
import { fish } from './fish_completion.js'
import { zsh } from './zsh_completion.js'

const USAGE = 'spillway completion SHELL'

/** Writers of a script for a shell, from the commands and their flags. */
const SHELLS: Readonly<Record<string, (commands: Commands) => string>> = { bash, zsh, fish }

export const completion: Command = {
  summary: SUMMARIES.completion,
  usage: [USAGE],
  about: `SHELL is bash, zsh or fish. The script completes commands, flags, their values
and files. For zsh, ~/.zfunc has to be in fpath before compinit runs.`,
  names: Object.keys(SHELLS),
  flags: {},
  examples: [
    ['For bash', 'spillway completion bash > ~/.local/share/bash-completion/completions/spillway'],
    ['For zsh', 'spillway completion zsh > ~/.zfunc/_spillway'],
    ['For fish', 'spillway completion fish > ~/.config/fish/completions/spillway.fish'],
  ],
  run,
}

async function run(args: Args, commands: Commands): Promise<number> {
  const [shell, extra] = args.names
  const all = Object.keys(SHELLS).join(', ')
  if (shell === undefined) throw new UsageError(`SHELL is missing; expected one of ${all}`)
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined
  if (!script) throw new UsageError(`unknown shell ${JSON.stringify(shell)}; expected one of ${all}`)
  if (extra !== undefined)
    throw new UsageError(`unexpected argument ${JSON.stringify(extra)}; usage: ${USAGE}`)
  await out.write(script(commands))
  return 0
}

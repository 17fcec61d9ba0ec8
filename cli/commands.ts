import { clamp } from './commands/clamp.js'
import { completion } from './commands/completion.js'
import { doctor } from './commands/doctor.js'
import { hook } from './commands/hook.js'
import { inspect } from './commands/inspect.js'
import { install, uninstall } from './commands/install.js'
import { mcp } from './commands/mcp.js'
import { read } from './commands/read.js'
import { repair } from './commands/repair.js'
import { run } from './commands/run.js'
import { search } from './commands/search.js'
import { stats } from './commands/stats.js'
import type { Commands } from './term/args.js'
import type { SUMMARIES } from './term/summaries.js'

export const COMMANDS = {
  inspect,
  repair,
  doctor,
  clamp,
  run,
  mcp,
  hook,
  install,
  uninstall,
  stats,
  read,
  search,
  completion,
} satisfies Commands & Record<keyof typeof SUMMARIES, unknown>

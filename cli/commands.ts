import type { Commands } from './args.js'
import { clamp } from './clamp.js'
import { completion } from './completion.js'
import { hook } from './hook.js'
import { inspect } from './inspect.js'
import { install, uninstall } from './install.js'
import { mcp } from './mcp.js'
import { read } from './read.js'
import { repair } from './repair.js'
import { run } from './run.js'
import { search } from './search.js'
import { stats } from './stats.js'
import type { SUMMARIES } from './summaries.js'

export const COMMANDS = {
  inspect,
  repair,
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

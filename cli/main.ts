#!/usr/bin/env node
import { version } from '../package.json'
import { type Commands, readArgs } from './args.js'
import { clamp } from './clamp.js'
import { completion } from './completion.js'
import { helpOf, helpOfAll } from './help.js'
import { inspect } from './inspect.js'
import { read } from './read.js'
import { repair } from './repair.js'
import { run } from './run.js'
import { search } from './search.js'
import { err, out } from './terminal.js'
import { exitOf, explain, isBrokenPipe, UsageError } from './usage_error.js'

const COMMANDS: Commands = { inspect, repair, clamp, run, read, search, completion }

/** The flag that every command has. */
const HELP = { help: { short: 'h', help: 'show this text' } }

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (name === '--version' || name === '-V' || name === '-v') return show(`${version}\n`)
  if (name === 'help' && rest.length > 0) return main([...rest, '--help'])
  if (name === '--help' || name === '-h' || name === 'help') return show(helpOfAll(COMMANDS))
  const all = Object.keys(COMMANDS).join(', ')
  if (name === undefined)
    throw new UsageError(`COMMAND is missing; expected one of ${all} (see \`spillway --help\`)`)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) throw new UsageError(`unknown command ${JSON.stringify(name)}; expected one of ${all}`)
  const flags = { ...command.flags, ...HELP }
  const args = readArgs(name, flags, rest)
  return args.has('help') ? show(helpOf(name, { ...command, flags })) : command.run(args, COMMANDS)
}

async function show(text: string): Promise<number> {
  await out.write(text)
  return 0
}

/** Returns the prefix of messages on stderr. */
function speaker([name = '']: readonly string[]): string {
  return Object.hasOwn(COMMANDS, name) ? `spillway ${name}` : 'spillway'
}

const argv = process.argv.slice(2)
main(argv)
  .catch(async (error) => {
    if (isBrokenPipe(error)) return 0
    await err.tell(`${speaker(argv)}: ${explain(error)}\n`)
    return exitOf(error)
  })
  .then((code) => {
    process.exitCode = code
  })

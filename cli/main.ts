#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, type Commands, meantBy, readArgs } from './term/args.js'
import { helpOf, helpOfAll } from './term/help.js'
import { SUMMARIES } from './term/summaries.js'
import { err, out } from './term/terminal.js'
import { exitOf, explain, isBrokenPipe, UsageError } from './term/usage_error.js'

/** The flag that every command has. */
const HELP = { help: { short: 'h', help: 'show this text' } }

async function main(argv: readonly string[]): Promise<number> {
  const [name, ...rest] = argv
  if (['--version', '-V', '-v', 'version'].includes(name ?? '')) return show(`${version()}\n`)
  if (name === 'help' && rest.length > 0) return main([...rest, '--help'])
  if (name === '--help' || name === '-h' || name === 'help') return show(helpOfAll(SUMMARIES))
  const names = Object.keys(SUMMARIES)
  const all = names.join(', ')
  if (name === undefined)
    throw new UsageError(`COMMAND is missing; expected one of ${all} (see \`spillway --help\`)`)
  if (!isCommand(name)) {
    const meant = await meantBy(name, names)
    const hint = meant === undefined ? `expected one of ${all}` : `did you mean ${meant}?`
    throw new UsageError(`unknown command ${JSON.stringify(name)}; ${hint}`)
  }
  // A host waits for its hook, which therefore loads no other command.
  const COMMANDS: Commands =
    name === 'hook'
      ? { hook: (await import('./commands/hook.js')).hook }
      : (await import('./commands.js')).COMMANDS
  const command = COMMANDS[name] as Command
  const flags = { ...command.flags, ...HELP }
  const args = await readArgs(name, flags, rest)
  isHeld = args.has('store')
  return args.has('help') ? show(helpOf(name, { ...command, flags })) : command.run(args, COMMANDS)
}

function isCommand(name: string): name is keyof typeof SUMMARIES {
  return Object.hasOwn(SUMMARIES, name)
}

/** Returns the version of this package. An import of it would load the engine, which shares it. */
function version(): string {
  return JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8')).version
}

async function show(text: string): Promise<number> {
  await out.write(text)
  return 0
}

/** Returns the prefix of messages on stderr. */
function speaker([name = '']: readonly string[]): string {
  return isCommand(name) ? `spillway ${name}` : 'spillway'
}

const argv = process.argv.slice(2)
/** True if a store of the caller may keep this process alive, as by a connection. */
let isHeld = false
main(argv)
  .catch(async (error) => {
    if (isBrokenPipe(error)) return 0
    await err.tell(`${speaker(argv)}: ${explain(error)}\n`)
    // A host takes the exit code of a hook for a verdict on the tool.
    return argv[0] === 'hook' ? 0 : exitOf(error)
  })
  .then((code) => {
    process.exitCode = code
    if (isHeld) process.stdout.write('', () => process.exit())
  })

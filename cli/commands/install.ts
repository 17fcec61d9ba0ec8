import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { HOSTS } from '../../lib/hook/hosts.js'
import { diff } from '../hook/diff.js'
import { backUp, backupOf, replace, targetOf, textOf } from '../hook/settings_file.js'
import { platform } from '../platform.js'
import type { Args, Command } from '../term/args.js'
import { inLines, oneLine } from '../term/escape.js'
import { SUMMARIES } from '../term/summaries.js'
import { err, out } from '../term/terminal.js'
import { explain, UsageError } from '../term/usage_error.js'
import { hostOf } from './hook.js'

const names = Object.keys(HOSTS)
const flags = {
  settings: { value: 'FILE', help: 'settings of the host (those of its user)' },
  yes: { help: 'write without a question' },
}

export const install: Command = {
  summary: SUMMARIES.install,
  usage: ['spillway install HOST [--settings FILE] [--yes]'],
  about: `Shows the change to the settings of a coding agent that makes it call
\`spillway hook HOST\`, and writes it after a confirmation. Nothing else in the
file changes. FILE.spillway.bak is the earlier file. Without --yes and without a
terminal nothing is written, and the exit code is 1.
HOST: ${names.join(', ')}.`,
  names,
  flags,
  examples: [
    ['For all projects', 'spillway install claude-code'],
    ['For one project', 'spillway install claude-code --settings .claude/settings.local.json --yes'],
  ],
  run: async (args) => {
    const { host, file, command } = settingsOf(args, 'install')
    const { EMPTY, commandIn, withHook } = await import('../hook/settings.js')
    const real = await targetOf(file)
    const before = textOf(real)
    const { changed, isOurs } = reading(real, () => ({
      changed: withHook(before ?? EMPTY, host, command),
      isOurs: before !== undefined && commandIn(before, host, command) !== undefined,
    }))
    if (changed === before) return say(`${real} has the hook already`)
    if (!(await confirmed(args, real, before ?? '', changed))) return 1
    // If only paths are renewed, the backup stays the file before the hook.
    if (before !== undefined && !isOurs) await backUp(real, before)
    await replace(real, changed, before)
    return say(`${real} has the hook; it works from the next start of the host on`)
  },
}

export const uninstall: Command = {
  summary: SUMMARIES.uninstall,
  usage: ['spillway uninstall HOST [--settings FILE] [--yes]'],
  about: `Removes the entry of \`spillway install\`. If the file has not changed since, its
earlier text is restored byte for byte. HOST: ${names.join(', ')}.`,
  names,
  flags,
  examples: [['From all projects', 'spillway uninstall claude-code']],
  run: async (args) => {
    const { host, file, command } = settingsOf(args, 'uninstall')
    const { EMPTY, commandIn, withHook, withoutHook } = await import('../hook/settings.js')
    const real = await targetOf(file)
    const before = textOf(real)
    const found = reading(real, () => (before ? commandIn(before, host, command) : undefined))
    if (before === undefined || found === undefined) return say(`${real} has no hook of spillway`)
    /** Returns true if the file is the output of install for a text. */
    const isMadeOf = (text: string) => {
      try {
        return commandIn(text, host, command) === undefined && withHook(text, host, found) === before
      } catch {
        return false
      }
    }
    const backup = backupIn(real)
    const isBackup = backup !== undefined && isMadeOf(backup)
    const isOurs = !isBackup && backup === undefined && isMadeOf(EMPTY)
    const changed = isBackup ? backup : isOurs ? '' : withoutHook(before, host, command)
    if (!(await confirmed(args, real, before, changed))) return 1
    if (isOurs) await rm(real)
    else await replace(real, changed, before)
    if (isBackup) await rm(backupOf(real))
    return say(`${real} has no hook of spillway any more`)
  },
}

/** Returns a host, its settings, and the command that it runs: this program by its path. */
function settingsOf(args: Args, own: string) {
  const { name, host } = hostOf(args, `spillway ${own} HOST`)
  const [variable, dir, ...files] = host.settings
  const all = files.map((file) => join(process.env[variable] || join(homedir(), dir), file))
  const file = args.text('settings') ?? all.find(existsSync) ?? (all.at(-1) as string)
  const words = [process.execPath, join(__dirname, 'cli.js'), 'hook', name]
  return { host, file, command: words.map(platform.quote).join(' ') }
}

/** Returns the backup of a file, or undefined if it cannot be read. */
function backupIn(file: string): string | undefined {
  try {
    return textOf(backupOf(file))
  } catch {
    return undefined
  }
}

/** Adds the name of the file to errors of its settings. */
function reading<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(explain(error, file), 1)
  }
}

async function confirmed(args: Args, file: string, before: string, changed: string): Promise<boolean> {
  await out.write(inLines(diff(before, changed, file)))
  if (args.has('yes')) return true
  if (!process.stdin.isTTY || !out.isTerminal) {
    await err.tell('nothing was written; for that, run this with --yes\n')
    return false
  }
  const asked = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await asked.question(`Write ${oneLine(file)}? [y/N] `)
  asked.close()
  return /^y(?:es)?$/i.test(answer.trim())
}

async function say(text: string): Promise<number> {
  await err.tell(`${text}\n`)
  return 0
}

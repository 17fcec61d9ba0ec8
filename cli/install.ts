import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import type { Args, Command } from './args.js'
import { inOrder } from './escape.js'
import { diff } from './hook/diff.js'
import { HOSTS, type Host } from './hook/hosts.js'
import { commandIn, withHook, withoutHook } from './hook/settings.js'
import { hostOf } from './hook.js'
import { platform } from './platform.js'
import { SUMMARIES } from './summaries.js'
import { err, out } from './terminal.js'
import { explain, UsageError } from './usage_error.js'

const names = Object.keys(HOSTS)
const flags = {
  settings: { value: 'FILE', help: 'settings of the host (those of its user)' },
  yes: { help: 'write without a question' },
}
/** Settings that a host takes for none. */
const EMPTY = '{}\n'

export const install: Command = {
  summary: SUMMARIES.install,
  usage: ['spillway install HOST [--settings FILE] [--yes]'],
  about: `Shows what changes in the settings of a coding agent so that it calls
\`spillway hook HOST\`, and writes it if that is confirmed. Nothing else in the file
changes. FILE.spillway.bak is the file before. Without --yes and without a
terminal nothing is written, and the exit code is 1. HOST: ${names.join(', ')}.`,
  names,
  flags,
  examples: [
    ['For all projects', 'spillway install claude-code'],
    ['For one project', 'spillway install claude-code --settings .claude/settings.local.json --yes'],
  ],
  run: async (args) => {
    const { name, host, file } = await targetOf(args, 'install')
    const before = await textOf(file)
    const changed = reading(file, () => withHook(before ?? EMPTY, name, host, commandFor(name)))
    if (changed === before) return say(`${file} has the hook already`)
    if (!(await confirmed(args, file, before ?? '', changed))) return 1
    if (before !== undefined) await replace(`${file}.spillway.bak`, before)
    await replace(file, changed)
    return say(`${file} has the hook; it works from the next start of the host on`)
  },
}

export const uninstall: Command = {
  summary: SUMMARIES.uninstall,
  usage: ['spillway uninstall HOST [--settings FILE] [--yes]'],
  about: `Removes what \`spillway install\` added. If the file has not changed since, it is
what it was before, byte for byte. HOST: ${names.join(', ')}.`,
  names,
  flags,
  examples: [['From all projects', 'spillway uninstall claude-code']],
  run: async (args) => {
    const { name, host, file } = await targetOf(args, 'uninstall')
    const before = await textOf(file)
    const command = before && reading(file, () => commandIn(before, name, host))
    if (!before || command === undefined) return say(`${file} has no hook of spillway`)
    const backup = await textOf(`${file}.spillway.bak`).catch(() => undefined)
    const isBackup = backup !== undefined && isMadeOf(before, backup, name, host, command)
    const changed = isBackup ? backup : withoutHook(before, name, host)
    const isNone = !isBackup && changed === EMPTY
    if (!(await confirmed(args, file, before, isNone ? '' : changed))) return 1
    if (isNone) await rm(file)
    else await replace(file, changed)
    if (isBackup) await rm(`${file}.spillway.bak`)
    return say(`${file} has no hook of spillway any more`)
  },
}

async function targetOf(args: Args, own: string) {
  const { name, host } = hostOf(args, `spillway ${own} HOST`)
  const [variable, dir, ...files] = host.settings
  const all = files.map((file) => join(process.env[variable] || join(homedir(), dir), file))
  const file = args.text('settings') ?? all.find(existsSync) ?? (all.at(-1) as string)
  // A link stays a link.
  return { name, host, file: await realpath(file).catch(() => file) }
}

/** Returns the command that a host runs: this program, wherever the host looks for others. */
function commandFor(name: string): string {
  const words = [process.execPath, join(__dirname, 'cli.js'), 'hook', name]
  return words.map(platform.quote).join(' ')
}

function isMadeOf(text: string, backup: string, name: string, host: Host, command: string): boolean {
  try {
    return withHook(backup, name, host, command) === text
  } catch {
    return false
  }
}

/** Names the file that cannot be read as settings. */
function reading<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new UsageError(explain(error, file), 1)
  }
}

async function textOf(file: string): Promise<string | undefined> {
  const bytes = await readFile(file).catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw new UsageError(explain(error, file), 1)
  })
  const text = bytes?.toString()
  if (bytes && !bytes.equals(Buffer.from(text ?? ''))) throw new UsageError(`${file}: no UTF-8`, 1)
  return text
}

async function confirmed(args: Args, file: string, before: string, changed: string): Promise<boolean> {
  const shown = diff(before, changed, file)
  await out.write(out.isTerminal ? inOrder(shown) : shown)
  if (args.has('yes')) return true
  if (!process.stdin.isTTY || !out.isTerminal) {
    await err.tell('nothing was written; for that, run this with --yes\n')
    return false
  }
  const asked = createInterface({ input: process.stdin, output: process.stdout })
  const answer = await asked.question(`Write ${file}? [y/N] `)
  asked.close()
  return /^y(?:es)?$/i.test(answer.trim())
}

async function replace(file: string, text: string): Promise<void> {
  const mode = await stat(file)
    .then(({ mode }) => mode & 0o777)
    .catch(() => 0o600)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(`${file}.spillway.tmp`, text, { mode })
  await rename(`${file}.spillway.tmp`, file)
}

async function say(text: string): Promise<number> {
  await err.tell(`${text}\n`)
  return 0
}

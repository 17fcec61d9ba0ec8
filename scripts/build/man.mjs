// Writes dist/spillway.1, the manual page, from what each command says of itself:
//   node scripts/build/man.mjs
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { argv, execPath } from 'node:process'
import { fileURLToPath } from 'node:url'

const path = (file) => fileURLToPath(new URL(`../../${file}`, import.meta.url))
const help = (...args) =>
  execFileSync(execPath, [path('dist/cli.js'), ...args, '--help'], { encoding: 'utf8' })

/** Returns the help of the whole, and of each command by its name. */
export function helps() {
  const all = help()
  const names = [...all.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name]) => name)
  return { all, commands: names.map((name) => [name, help(name)]) }
}

/** Returns lines of text as roff that shows them as they are. */
function verbatim(text) {
  const lines = text.trimEnd().split('\n')
  // A line that begins with a dot or a quote is a request, and a plain hyphen may become a dash.
  const plain = lines.map((line) =>
    line.replaceAll('\\', '\\e').replaceAll('-', '\\-').replace(/^[.']/, '\\&$&'),
  )
  return ['.nf', ...plain, '.fi'].join('\n')
}

/** Returns the manual page. */
export function manOf(version, { all, commands }) {
  const [about = ''] = all.split('\n')
  return [
    `.TH SPILLWAY 1 "" "spillway ${version}" "User Commands"`,
    '.SH NAME',
    `spillway \\- ${about.replace(/^spillway /, '').replace(/\.$/, '')}`,
    '.SH SYNOPSIS',
    verbatim(all.slice(all.indexOf('Usage: ') + 'Usage: '.length)),
    '.SH COMMANDS',
    ...commands.flatMap(([name, text]) => [`.SS ${name}`, verbatim(text)]),
    '',
  ].join('\n')
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  const { version } = JSON.parse(readFileSync(path('package.json'), 'utf8'))
  writeFileSync(path('dist/spillway.1'), manOf(version, helps()))
}

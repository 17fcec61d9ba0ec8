import { type Command, type Commands, type Flag, valuesOf } from '../term/args.js'

/** Writes the completion script for fish. */
export function fish(commands: Commands): string {
  const all = Object.entries(commands)
  const first = ["-s h -l help -d 'show help'", "-s V -l version -d 'show the version'"]
  return [
    '# fish completion for spillway',
    'complete -c spillway -f',
    ...first.map((rest) => `complete -c spillway -n __fish_use_subcommand ${rest}`),
    ...all.map(
      ([name, { summary }]) =>
        `complete -c spillway -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`,
    ),
    ...all.flatMap(([name, command]) => linesOf(name, command)),
    '',
  ].join('\n')
}

function linesOf(name: string, { flags, names }: Command): string[] {
  const line = (rest: string) => `complete -c spillway -n '__fish_seen_subcommand_from ${name}' ${rest}`
  const rest =
    names === 'command'
      ? ["-a '(__fish_complete_command)'"]
      : names === undefined
        ? []
        : names === 'file'
          ? ['-F']
          : [`-a ${quoted(names.join(' '))}`]
  const all = Object.entries(flags).map(([flag, about]) => flagOf(flag, about))
  return [...all, "-s h -l help -d 'show help'", ...rest].map(line)
}

function flagOf(name: string, flag: Flag): string {
  const short = flag.short === undefined ? [] : [`-s ${flag.short}`]
  const value = flag.value === undefined ? [] : [argumentOf(flag)]
  const help = quoted(flag.help.replaceAll('\n', ' '))
  return [...short, `-l ${name}`, ...value, `-d ${help}`].join(' ')
}

function argumentOf(flag: Flag): string {
  const values = valuesOf(flag)
  if (values === 'text') return '-x'
  if (values === 'file') return '-r -F'
  return `-x -a ${quoted(values === 'dir' ? '(__fish_complete_directories)' : values.join(' '))}`
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}

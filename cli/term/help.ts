import type { Command, Flags } from './args.js'

/** Columns of the left side of the lists of commands and flags. */
const LEFT = 22

export function helpOf(name: string, command: Command): string {
  const [first, ...others] = command.usage
  return [
    `spillway ${name}: ${command.summary}`,
    '',
    `Usage: ${first}`,
    ...others.map((usage) => `       ${usage}`),
    '',
    command.about,
    '',
    ...rowsOf(command.flags),
    '',
    'Examples:',
    ...command.examples.flatMap(([purpose, line]) => [`  # ${purpose}`, `  ${line}`]),
    '',
  ].join('\n')
}

export function helpOfAll(summaries: Readonly<Record<string, string>>): string {
  return [
    'spillway keeps tool output from drowning the model.',
    '',
    'Usage: spillway COMMAND [flags]',
    '',
    ...Object.entries(summaries).map(([name, summary]) => row(name, summary)),
    '',
    row('COMMAND --help', 'show the flags of a command, and examples'),
    row('-V, --version', 'show the version, as `spillway version` does'),
    '',
  ].join('\n')
}

function rowsOf(flags: Flags): string[] {
  return Object.entries(flags).flatMap(([name, { value, short, help }]) => {
    const left = `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`
    const [first = '', ...others] = help.split('\n')
    return [row(left, first), ...others.map((line) => row('', line))]
  })
}

function row(left: string, right: string): string {
  return `  ${left.padEnd(LEFT)}  ${right}`
}

import { type Command, type Commands, type Flag, valuesOf } from '../term/args.js'

/** Writes the completion script for zsh, to be loaded from fpath or sourced. */
export function zsh(commands: Commands): string {
  const all = Object.entries(commands)
  return `#compdef spillway
_spillway() {
  local context state line
  typeset -A opt_args
  _arguments -C '(- *)'{-h,--help}'[show help]' '(- *)'{-V,--version}'[show the version]' \\
    '1: :->command' '*:: :->arguments'
  case $state in
    command)
      local -a commands
      commands=(
${all.map(([name, { summary }]) => `        ${quoted(`${name}:${summary}`)}`).join('\n')}
      )
      _describe command commands ;;
    arguments)
      case $words[1] in
${all.map(([name, command]) => caseOf(name, command)).join('\n')}
      esac ;;
  esac
}
if [[ $funcstack[1] == _spillway ]]; then
  _spillway "$@"
else
  compdef _spillway spillway
fi
`
}

function caseOf(name: string, { flags, names }: Command): string {
  const help: [string, Flag] = ['help', { short: 'h', help: 'show help' }]
  const specs = [...Object.entries(flags), help].flatMap(([flag, about]) => specsOf(flag, about))
  const rest =
    names === 'command'
      ? ["'*::command:_normal'"]
      : names === undefined
        ? []
        : names === 'file'
          ? ["'*:file:_files'"]
          : [quoted(`1:name:(${names.join(' ')})`)]
  return `        ${name})\n          _arguments ${[...specs, ...rest].join(' \\\n            ')} ;;`
}

/** Returns the specifications of a flag for _arguments. */
function specsOf(name: string, flag: Flag): string[] {
  const help = flag.help.replaceAll('\n', ' ').replace(/[[\]:\\]/g, '\\$&')
  const often = flag.repeats ? '*' : ''
  const value = flag.value === undefined ? '' : `:${flag.value}:${actionOf(flag)}`
  const long = quoted(`${often}--${name}${flag.value === undefined ? '' : '='}[${help}]${value}`)
  if (flag.short === undefined) return [long]
  return [long, quoted(`${often}-${flag.short}[${help}]${value}`)]
}

function actionOf(flag: Flag): string {
  const values = valuesOf(flag)
  if (values === 'text') return ' '
  if (typeof values === 'string') return values === 'dir' ? '_directories' : '_files'
  return `(${values.join(' ')})`
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

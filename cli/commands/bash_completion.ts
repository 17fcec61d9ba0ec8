import { type Command, type Commands, type Flag, valuesOf } from '../term/args.js'

/** Writes the completion script for bash, from 3.2 on. */
export function bash(commands: Commands): string {
  const all = Object.entries(commands)
  const flags = new Map(all.flatMap(([, { flags }]) => Object.entries(flags)))
  const taking = [...flags].filter(([, { value }]) => value !== undefined)
  return `# bash completion for spillway
_spillway() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command='' word
  # bash splits --keep=head at the equals sign.
  if [[ $cur == = ]]; then cur=''
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  if ((COMP_CWORD > 1)); then command=\${COMP_WORDS[1]}; fi
  for word in "\${COMP_WORDS[@]:2:COMP_CWORD-2}"; do
    if [[ $word == -- ]]; then
      _spillway_names
      return
    fi
  done
  case $prev in
${taking.map(([name, flag]) => `    ${patternOf(name, flag)}) ${repliesOf(valuesOf(flag))}; return ;;`).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case $command in
${all.map(([name, command]) => `      ${name}) ${repliesOf(flagsOf(command))} ;;`).join('\n')}
      '') ${repliesOf(['--help', '--version'])} ;;
    esac
    return
  fi
  _spillway_names
}
_spillway_names() {
  case $command in
${all.map(([name, { names }]) => `    ${name}) ${namesOf(names)} ;;`).join('\n')}
    '' | help) ${repliesOf(Object.keys(commands))} ;;
  esac
}
_spillway_files() {
  local IFS=$'\\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$@" -- "$cur"))
}
complete -F _spillway spillway
`
}

function patternOf(name: string, { short }: Flag): string {
  return short === undefined ? `--${name}` : `--${name} | -${short}`
}

function flagsOf({ flags }: Command): string[] {
  return [...Object.keys(flags), 'help'].map((name) => `--${name}`)
}

function repliesOf(values: ReturnType<typeof valuesOf>): string {
  if (values === 'dir') return '_spillway_files -d'
  if (values === 'file') return '_spillway_files -f'
  if (values === 'text') return ':'
  return `COMPREPLY=($(compgen -W '${values.join(' ')}' -- "$cur"))`
}

function namesOf(names: Command['names']): string {
  if (names === 'command') return '_spillway_files -c'
  return repliesOf(names ?? 'text')
}

// Commands for hosts, in the words of a shell.

/** Says that it has begun, in a file, and stays. */
const LONG = `"${process.execPath}" -e "require('fs').writeFileSync('started','');setTimeout(Date,30000)"`

/** Calls of a tool that runs a command, by what they return. `input` makes its arguments. */
export const shell = (name, input) =>
  Object.fromEntries(
    Object.entries({
      text: 'cat one.txt',
      error: 'echo oh >&2; exit 3',
      silent: 'true',
      long: LONG,
      huge: 'cat huge.log',
    }).map(([kind, command]) => [kind, { name, input: input(command) }]),
  )

/** Differences between operating systems that the command line shows. src/platform.rs has those of
 *  the engine. */
export interface Platform {
  /** Name that Node has for the system. */
  readonly name: string
  /** Separators in a pattern of file names. */
  readonly separators: RegExp
  /** A command can open its output by name, as in `echo failed > /dev/stderr`, if that is a
   *  pipe. */
  readonly namesPipes: boolean
  /** A terminal shows block characters, whatever the locale says. */
  readonly showsBlocks: boolean
  /** Makes a word of a command line of its shell. */
  quote(word: string): string
}

/** A word that no shell reads otherwise. */
const PLAIN = /^[\w@%+=:,./-]+$/

const UNIX: Omit<Platform, 'name'> = {
  separators: /\/+/,
  namesPipes: true,
  showsBlocks: false,
  quote: (word) => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`),
}
const WINDOWS: Omit<Platform, 'name'> = {
  separators: /[\\/]+/,
  namesPipes: false,
  showsBlocks: true,
  quote: (word) => `"${word}"`,
}

/** Returns what holds on a system, by its name in `process.platform`. */
export function platformOf(name: string): Platform {
  return { name, ...(name === 'win32' ? WINDOWS : UNIX) }
}

export const platform = platformOf(process.platform)

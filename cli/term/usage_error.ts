import { oneLine } from './escape.js'
import { err } from './terminal.js'

/** An error that the caller can correct, with a message of one line that says how. */
export class UsageError extends Error {
  /** Exit code of the process: 2 for a wrong command line, else 1. */
  readonly exit: number

  constructor(message: string, exit = 2) {
    super(message)
    this.exit = exit
  }
}

/** Messages for codes of the system, or for a code of one system call, after the path that was
 *  given. */
const MEANINGS: Record<string, string> = {
  ENOENT: 'no such file; check the path',
  ENOTDIR: 'is not a directory; check the path',
  'EBADF read': 'stdin cannot be read; pipe a command into it',
  EFBIG: 'the file would exceed the size limit of this process; raise that limit (ulimit -f)',
  EISDIR: 'is a directory; give a file in it',
  EACCES: 'permission denied; run this as its owner, or change its mode',
  EPERM: 'permission denied; run this as its owner, or change its mode',
  EROFS: 'is on a read-only file system; copy it elsewhere first',
  ENOSPC: 'no space left on the device; free some and run this again',
  EDQUOT: 'disk quota exceeded; free some space and run this again',
  ELOOP: 'is a symbolic link that leads back to itself; check the path',
  ENAMETOOLONG: 'file name too long; check the path',
}

const NOT_UTF8 = 'no such file; a name that is not UTF-8 cannot be opened: rename it'

/** Advice appended to errors of the library. */
const ADVICE: Record<string, string> = {
  ERR_SPILLWAY_LOCKED: '; end the agent that has it open, then run this again',
  ERR_SPILLWAY_ATTRIBUTE: '; remove that attribute, or run this as its owner',
  ERR_SPILLWAY_CHANGED: '; end what writes to it, then run this again',
  ERR_SPILLWAY_APPENDED: '; --keep-appended carries that over',
  ERR_SPILLWAY_NEWER: '; --discard-changes puts the backup back, and keeps this file as FILE.bak.latest',
}

/** Explains an error in one line; a missing engine takes several. `name`: the file or command that
 *  it concerns. */
export function explain(error: unknown, name?: string): string {
  const { code, message, syscall } = toError(error)
  const told = name === undefined ? '' : `${name}: `
  // A directory lists a name that is not UTF-8 with U+FFFD for its bytes, which is the name of
  // another file.
  const isLost = code === 'ENOENT' && name?.includes('\ufffd')
  const meaning = isLost ? NOT_UTF8 : (MEANINGS[code] ?? MEANINGS[`${code} ${syscall}`])
  if (meaning !== undefined) return oneLine(`${told}${meaning}`)
  if (code === 'ERR_SPILLWAY_PLATFORM') return message.split('\n').map(oneLine).join('\n')
  if (code === 'ERR_SPILLWAY_OPTION')
    return oneLine(
      message
        .replace(/^(\w+)(?:\[\d+\])?(?= must be )/, (_, field) => flagOf(field))
        .replace(/^--notice must be /, '$&none, '),
    )
  const said = message.replace(/(?<!\.)\.$/, '') + (ADVICE[code] ?? '')
  return oneLine(name !== undefined && message.includes(name) ? said : told + said)
}

/** Waits for work on the file `name`, which its errors name. Usage errors and broken pipes pass
 *  through. */
export async function naming<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof UsageError || isBrokenPipe(error) || exitOf(error) === 2) throw error
    throw new UsageError(explain(error, name), 1)
  }
}

/** Tells of an error that concerns one file, so that the next one may succeed. Throws any other. */
export async function tellOf(error: unknown, command: string): Promise<void> {
  if (!(error instanceof UsageError) || error.exit !== 1) throw error
  await err.tell(`spillway ${command}: ${explain(error)}\n`)
}

/** Tells once of each place that could not be read, while other places are. */
export class UnreadPlaces {
  readonly #command: string
  readonly #told = new Map<string, Promise<void>>()

  constructor(command: string) {
    this.#command = command
  }

  readonly take = (error: unknown, place: string): void => {
    if (this.#told.has(place)) return
    const telling = naming(place, Promise.reject(error)).catch((error) => tellOf(error, this.#command))
    this.#told.set(place, telling)
  }

  /** Waits until all of it was told, and returns the exit code. */
  async exit(): Promise<number> {
    await Promise.all(this.#told.values())
    return this.#told.size > 0 ? 1 : 0
  }
}

/** Makes an error for a file that holds no session. */
export function notASession(file: string): UsageError {
  const known = 'expected a session of an agent that docs/sessions.md lists, or messages'
  return new UsageError(`${file}: unrecognized session format (format unknown); ${known}`, 1)
}

/** Makes an error for a file that is damaged, or other text: too little of it is whole. */
export function notMended(file: string, damaged: number): UsageError {
  const lines = damaged === 1 ? '1 line is' : `${damaged} lines are`
  const found = `${lines} not JSON, and the rest is not a session with a whole message`
  const advice = 'the file is left as it is; if it is a session, restore a copy of it or start a new one'
  return new UsageError(`${file}: unrecognized session format (format unknown): ${found}; ${advice}`, 1)
}

/** Returns the exit code for an error: 2 if the command line is wrong. */
export function exitOf(error: unknown): number {
  if (error instanceof UsageError) return error.exit
  return toError(error).code === 'ERR_SPILLWAY_OPTION' ? 2 : 1
}

/** Returns true if the reader of our output has closed it, as `head` does once it has its lines. */
export function isBrokenPipe(error: unknown): boolean {
  return toError(error).code === 'EPIPE'
}

function toError(error: unknown): { code: string; message: string; syscall: string | undefined } {
  const { code, message, syscall } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as Partial<NodeJS.ErrnoException>
  return { code: String(code ?? ''), message: message ?? String(error), syscall }
}

/** Arguments that are not called like their option. */
const NAMES: Record<string, string> = { id: 'ID', pattern: 'PATTERN', path: 'FILE' }

/** Returns the flag or argument that sets an option of the library. */
function flagOf(field: string): string {
  return (Object.hasOwn(NAMES, field) ? NAMES[field] : undefined) ?? `--${flagNameOf(field)}`
}

/** Returns the name of the flag for an option of the library. */
export function flagNameOf(option: string): string {
  // Each of several needles has a flag of its own.
  if (option === 'needles') return 'needle'
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

import { oneLine } from './escape.js'
import { exitOfSignal } from './signals.js'

/** What the caller can set right, in one line that says how. */
export class Mistake extends Error {
  /** What the process exits with: 2 where the command line is wrong, else 1. */
  readonly exit: number

  constructor(message: string, exit = 2) {
    super(message)
    this.exit = exit
  }
}

/** A signal ended the work. */
export class Interrupted extends Mistake {
  constructor(signal: NodeJS.Signals) {
    super(`stopped by ${signal}, before the file was replaced`, exitOfSignal(signal))
  }
}

/** What a system's code means to someone who gave a path, or of one call alone. */
const MEANINGS: Record<string, string> = {
  ENOENT: 'there is no such file; check the path',
  ENOTDIR: 'is no directory; check the path',
  'EBADF read': 'stdin cannot be read; pipe something into it',
  EFBIG: 'a file would be larger than this process may write; raise that limit (ulimit -f)',
  EISDIR: 'is a directory; give a file in it',
  EACCES: 'permission denied; run this as its owner, or change its mode',
  EPERM: 'permission denied; run this as its owner, or change its mode',
  EROFS: 'is on a read-only file system; copy it elsewhere first',
  ENOSPC: 'no space is left on the device; free some and run this again',
  EDQUOT: 'the disk quota is used up; free some space and run this again',
  ELOOP: 'is a link that leads back to itself; check the path',
  ENAMETOOLONG: 'is longer than a name may be; check the path',
}

/** What else to do about errors of the library. */
const ADVICE: Record<string, string> = {
  ERR_SPILLWAY_LOCKED: '; end the agent that has it open, then run this again',
  ERR_SPILLWAY_ATTRIBUTE: '; remove that attribute, or run this as its owner',
  ERR_SPILLWAY_CHANGED: '; end what writes to it, then run this again',
}

/** Says in a line what went wrong with what `name` stands for. */
export function explain(error: unknown, name?: string): string {
  const { code, message, syscall } = toError(error)
  const told = name === undefined ? '' : `${name}: `
  const meaning = MEANINGS[code] ?? MEANINGS[`${code} ${syscall}`]
  if (meaning !== undefined) return oneLine(`${told}${meaning}`)
  if (code === 'ERR_SPILLWAY_OPTION')
    return oneLine(message.replace(/^\w+(?= must be )/, flagOf).replace(/^--notice must be /, '$&none, '))
  const said = message.replace(/(?<!\.)\.$/, '') + (ADVICE[code] ?? '')
  return oneLine(name !== undefined && message.includes(name) ? said : told + said)
}

/** Says of what `name` stands for that it could not be done. */
export function failed(error: unknown, name: string): unknown {
  if (error instanceof Mistake || isBrokenPipe(error) || toError(error).code === 'ERR_SPILLWAY_OPTION')
    return error
  return new Mistake(explain(error, name), 1)
}

/** Tells a mistake on the command line from what failed. */
export function exitOf(error: unknown): number {
  if (error instanceof Mistake) return error.exit
  return toError(error).code === 'ERR_SPILLWAY_OPTION' ? 2 : 1
}

/** The reader of our output is gone, as `head` is once it has its lines. */
export function isBrokenPipe(error: unknown): boolean {
  return toError(error).code === 'EPIPE'
}

function toError(error: unknown): { code: string; message: string; syscall: string | undefined } {
  const { code, message, syscall } = (
    typeof error === 'object' && error !== null ? error : {}
  ) as Partial<NodeJS.ErrnoException>
  return { code: String(code ?? ''), message: message ?? String(error), syscall }
}

/** Names of what is no flag but stands by itself. */
const NAMES: Record<string, string> = { id: 'ID', pattern: 'PATTERN', path: 'FILE' }

/** An option of the library as the command line has it. */
function flagOf(field: string): string {
  const name = Object.hasOwn(NAMES, field) ? NAMES[field] : undefined
  return name ?? `--${field.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

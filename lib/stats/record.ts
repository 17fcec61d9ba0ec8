import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { jsonOf } from '../json.js'
import { stateOf } from './state.js'

/** Bytes of the file of figures. */
const MOST = 8 * 1024 * 1024

/** Milliseconds between two tries to get the lock, and age of a lock whose owner counts as dead: it needs a hundredth. */
const PAUSE = 2
const OLD = 1_000
/** Tries after which a line is given up. */
const TRIES = 1_000

/** The result of one call in figures: chars, never content. */
export interface Figures {
  readonly door: 'hook' | 'mcp' | 'library'
  /** Digest of the conversation, or of the process. */
  readonly session: string
  readonly tool: string
  /** Digest of the tool and what it was asked, if that is known. */
  readonly call?: string
  /** Chars that the model would have got without us, and those that it got. */
  readonly shown: number
  readonly sent: number
  /** Limits were exceeded. */
  readonly cut?: boolean
  /** A page of a saved output. */
  readonly back?: boolean
  /** The shape of this tool is not known. */
  readonly left?: boolean
}

/** Adds the figures of a call to the file. No trouble with it harms the call. */
export function record(figures: Figures): void {
  if (process.env['SPILLWAY_STATS'] === '0') return
  const file = stateOf('stats.jsonl')
  const line = Buffer.from(`${JSON.stringify({ at: Date.now(), ...figures })}\n`)
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    locked(`${file}.lock`, () => {
      const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
      if (bytes + line.length > MOST) halve(file)
      appendFileSync(file, line, { mode: 0o600 })
    })
  } catch {}
}

/** Does work while no other process does its own: a line that another adds while the file is replaced would be lost. */
function locked(lock: string, work: () => void): void {
  for (let tries = 0; !taken(lock); tries++) {
    if (tries === TRIES) throw new Error(`${lock} is there; expected none`)
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    if (made < Date.now() - OLD) rmSync(lock, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
  }
  try {
    work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Makes a file that must be new. Returns false if it is there already. */
function taken(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Returns a digest that tells two calls apart and nothing else. Loading the hashes of Node takes 5 ms of a hook. */
export function digest(...parts: readonly unknown[]): string {
  const text = jsonOf(parts) ?? ''
  let [a, b] = [0x811c9dc5, 0x9e3779b9]
  for (let at = 0; at < text.length; at++) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193)
    b = Math.imul(b ^ text.charCodeAt(at), 0x85ebca6b)
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

/** Drops the older half of the lines. */
function halve(file: string): void {
  const bytes = readFileSync(file)
  const rest = bytes.subarray(bytes.indexOf('\n', bytes.length - MOST / 2) + 1)
  writeFileSync(`${file}.${process.pid}.tmp`, rest, { mode: 0o600 })
  renameSync(`${file}.${process.pid}.tmp`, file)
}

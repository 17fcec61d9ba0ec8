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

/** The largest size of the statistics file, in bytes. */
const MOST = 8 * 1024 * 1024

/** Milliseconds between two attempts to lock, and the age at which a lock counts as abandoned:
 *  a living owner needs a hundredth of it. */
const PAUSE = 2
const OLD = 1_000
/** Attempts before a line is dropped. */
const TRIES = 1_000

/** The figures of one call. They count chars and never contain content. */
export interface Figures {
  readonly door: 'hook' | 'mcp' | 'library'
  /** Digest of the conversation, or of the process. */
  readonly session: string
  readonly tool: string
  /** Digest of the tool and its arguments, if they are known. */
  readonly call?: string
  /** Chars of the whole result, and chars that the model received. */
  readonly shown: number
  readonly sent: number
  /** Limits were exceeded. */
  readonly cut?: boolean
  /** The result is a page of a saved output. */
  readonly back?: boolean
  /** The host's hook does not know how to shorten the results of this tool. */
  readonly left?: boolean
  /** The model received the whole result: `sent` is what it would have received. */
  readonly observed?: boolean
}

/** Adds the figures of a call to the file. A failure here never affects the call. */
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

/** Runs work under a lock: a line that another process appends while the file is replaced would
 *  be lost. */
function locked(lock: string, work: () => void): void {
  for (let tries = 0; !taken(lock); tries++) {
    if (tries === TRIES) throw new Error(`${lock} is there; expected none`)
    const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY
    // A clock that was set back leaves a lock whose time lies ahead.
    if (Math.abs(Date.now() - made) > OLD) rmSync(lock, { force: true })
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE)
  }
  try {
    work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Creates a file. Returns false if it exists. */
function taken(lock: string): boolean {
  try {
    closeSync(openSync(lock, 'wx', 0o600))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Returns a digest that distinguishes calls and reveals nothing else. It is not one of Node's
 *  hashes, since loading them adds 5 ms to a hook. */
export function digest(...parts: readonly unknown[]): string {
  const text = jsonOf(parts) ?? ''
  let [a, b] = [0x811c9dc5, 0x9e3779b9]
  for (let at = 0; at < text.length; at++) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193)
    b = Math.imul(b ^ text.charCodeAt(at), 0x85ebca6b)
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
}

/** Removes the older half of the lines. */
function halve(file: string): void {
  const bytes = readFileSync(file)
  const rest = bytes.subarray(bytes.indexOf('\n', bytes.length - MOST / 2) + 1)
  writeFileSync(`${file}.${process.pid}.tmp`, rest, { mode: 0o600 })
  renameSync(`${file}.${process.pid}.tmp`, file)
}

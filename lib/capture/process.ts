import type { PolicyOptions, ProcessExit, ProcessOutput } from 'spillway'
import { failed, named } from '../compiled.js'
import { native } from '../engine.js'
import { compileWith } from '../policy.js'
import { clampPrepared } from '../text/text.js'
import { checkOptions, checkText, flag, optionError } from '../validate.js'

export const STREAMS = ['stdout', 'stderr'] as const

/** Returns the streams in order. If the process failed, stderr comes first. */
export function order(isFailed: boolean): number[] {
  return isFailed ? [1, 0] : [0, 1]
}

export function label(stream: number): string {
  return `${STREAMS[stream]}:\n`
}

/** Checks the given parts of an exit. `within` and `name`: the caller's names of the exit and its code. */
export function checkExit(
  exit: ProcessExit | undefined,
  within = 'exit',
  name = 'code',
): ProcessExit | undefined {
  if (exit === undefined) return undefined
  const { code, signal, timedOut } = checkOptions(within, exit)
  if (code !== undefined && code !== null && !Number.isSafeInteger(code))
    throw optionError(TypeError, `${within}.${name}`, 'a whole number or null', code)
  if (signal !== undefined && signal !== null && typeof signal !== 'string')
    throw optionError(TypeError, `${within}.signal`, 'a string or null', signal)
  const checked: ProcessExit = {}
  if (code !== undefined) checked.code = code
  if (signal !== undefined) checked.signal = signal
  if (timedOut !== undefined) checked.timedOut = flag(`${within}.timedOut`, timedOut, false)
  return checked
}

export function isFailure({ code, signal, timedOut }: ProcessExit = {}): boolean {
  return Boolean(code || signal || timedOut)
}

/** Chars of a signal's name. It is a caller's string, and must not break the line. */
const SIGNAL_CHARS = 40

/** Formats the end of a process as a line, "" if it is unknown. */
export function exitLine({ code, signal, timedOut }: ProcessExit = {}): string {
  const parts: string[] = []
  if (timedOut) parts.push('timed out')
  if (signal) parts.push(`killed by ${signal.replace(/[^\x20-\x7e]/g, '?').slice(0, SIGNAL_CHARS)}`)
  if (typeof code === 'number') parts.push(`exit code ${code}`)
  return parts.length === 0 ? '' : `[${parts.join(', ')}]`
}

export function formatProcessOutput(output: ProcessOutput, policy?: PolicyOptions): string {
  const { stdout, stderr, exitCode, signal, timedOut } = checkOptions('output', output)
  const given = Object.entries({ code: exitCode, signal, timedOut }).filter(
    ([, value]) => value !== undefined,
  )
  const exit = checkExit(Object.fromEntries(given), 'output', 'exitCode')
  const isFailed = isFailure(exit)
  const compiled = compileWith({ keep: 'findings', notice: 'count', maxChars: 8_000 }, policy)
  const judged = isFailed ? failed(compiled) : compiled
  const texts = [checkText(stdout, 'output.stdout'), checkText(stderr, 'output.stderr')]
  const shown = order(isFailed).filter((stream) => texts[stream]?.length)
  return native.composeOutput(
    shown.map(label),
    shown.map((stream) => clampPrepared(texts[stream] ?? '', named(judged, STREAMS[stream] ?? ''))),
    exitLine(exit),
  )
}

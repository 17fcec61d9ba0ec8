import type { formatProcessOutput as Declared, ProcessExit, TextPolicy } from 'spillway'
import { failed, named } from '../compiled.js'
import { native } from '../engine.js'
import { ANY, FLAG, kind } from '../kinds.js'
import { objectOf, option, Table } from '../option_table.js'
import { compileWith } from '../policy.js'
import { clampPrepared } from '../text/text.js'
import { checkOptions, checkText } from '../validate.js'

export const STREAMS = ['stdout', 'stderr'] as const

/** Returns the streams in order. If the process failed, stderr comes first. */
export function order(isFailed: boolean): number[] {
  return isFailed ? [1, 0] : [0, 1]
}

export function label(stream: number): string {
  return `${STREAMS[stream]}:\n`
}

const isCode = (code: unknown) => code === null || Number.isSafeInteger(code)
const isName = (name: unknown) => name === null || typeof name === 'string'
const EXIT = new Table({
  exitCode: option(kind<number | null>('a whole number or null', 'any', isCode)),
  signal: option(kind<string | null>('a string or null', 'any', isName)),
  timedOut: option(FLAG),
})
const OUTPUT = new Table({ ...EXIT.rows, stdout: option(ANY), stderr: option(ANY) })

/** Checks the given parts of an exit. `within`: the caller's name of the object that has them. */
export function checkExit(exit: ProcessExit | undefined, within = 'exit'): ProcessExit | undefined {
  if (exit === undefined) return undefined
  const values = objectOf(within === 'exit' ? EXIT : OUTPUT).take(within, exit)
  const names = EXIT.names as (keyof ProcessExit)[]
  return Object.fromEntries(
    names.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]])),
  )
}

export function isFailure({ exitCode, signal, timedOut }: ProcessExit = {}): boolean {
  return Boolean(exitCode || signal || timedOut)
}

/** Chars of a signal's name. It is a caller's string, and must not look like another part of the
 *  line, by which later cuts recognise it. */
const SIGNAL_CHARS = 40
const NO_NAME = /[^\w+-]/g

/** Formats the end of a process as a line, "" if it is unknown. */
export function exitLine({ exitCode, signal, timedOut }: ProcessExit = {}): string {
  const parts: string[] = []
  if (timedOut) parts.push('timed out')
  if (signal) parts.push(`killed by ${signal.replace(NO_NAME, '?').slice(0, SIGNAL_CHARS)}`)
  if (typeof exitCode === 'number') parts.push(`exit code ${exitCode}`)
  return parts.length === 0 ? '' : `[${parts.join(', ')}]`
}

export function formatProcessOutput(output: Parameters<typeof Declared>[0], policy?: TextPolicy): string {
  const { stdout, stderr } = checkOptions('output', output)
  const exit = checkExit(output, 'output')
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

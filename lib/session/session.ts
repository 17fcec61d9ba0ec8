import { channel } from 'node:diagnostics_channel'
import { setTimeout } from 'node:timers/promises'
import type { RepairOptions, RepairReport, ResultPolicy, SessionReport } from 'spillway'
import type { CleanSteps } from '../clean_options.js'
import { type EnginePolicy, handleOf } from '../compiled.js'
import { native } from '../engine.js'
import { giveDialects } from '../engine_dialects.js'
import { refusedIn, type SentPayload } from '../media/refused_rows.js'
import { budgetFields } from '../plan.js'
import { compileWith } from '../policy.js'
import { type OptionsOf, ownOptionsOf, type Taker } from '../read_options.js'
import { type EngineFailure, failureOf } from '../system_error.js'
import { notify } from '../untrusted.js'
import { conflictError, optionError } from '../validate.js'

const repairs = channel('spillway:repair')

/** Milliseconds between two progress reports, and the longest between two attempts to get a
 *  lock. */
const LOOK = 50
const LONGEST_WAIT = 1_000

/** Results that a repair cuts: those over the limits, and others with large details (side data).
 *  Not in the reports of the library. */
export interface Cuts {
  readonly over: number
  readonly details: number
}

/** Counts of all that a repair takes away. `texts`: results whose text it cuts, with the bytes of
 *  these before and after; `aside`: bytes of damaged rows that it puts aside; `mended`: rows of the
 *  conversation that damaged lines hold, or documents that it closes. */
export interface Taken extends Cuts {
  /** Results over the limits that become shorter by a tenth or more for the model. */
  readonly worth: number
  readonly texts: number
  readonly bytes: number
  readonly left: number
  readonly aside: number
  readonly mended: number
}

/** Lines of flaws that no repair changes: the name of a call that no provider takes, and a row that
 *  follows a row which is not in the file. */
export interface Flaws {
  readonly invalidName?: number
  readonly lostParent?: number
}

type MediaCount = NonNullable<SessionReport['media']>

/** Returns the member of a report for payloads, unless there are none. */
function withMedia(media: MediaCount): { media?: MediaCount } {
  return media.items > 0 ? { media } : {}
}

export async function repairSession(path: string, options: RepairOptions = {}): Promise<RepairReport> {
  return (await repairCounted(path, options)).report
}

/** `sparesLatest`: the budget leaves the results since the last message of the model to their
 *  cap. */
type Repair = RepairOptions & { sparesLatest?: boolean }

/** Repairs a session under a checked policy, by default that of the options, and counts the results
 *  that were cut. */
export async function repairCounted(
  path: string,
  options: Repair,
  policy: EnginePolicy = compileSession(options, 'repair'),
): Promise<{ report: RepairReport; cuts: Taken; format: SessionReport['format'] }> {
  const { session, repair, control } = checkRepair(policy, path, options)
  const {
    cuts: counted,
    format,
    ...own
  } = await run<Repaired>(path, control, (handle) => native.repairSession(...session, repair, handle))
  const { media, ...cuts } = counted
  const report = { ...own, ...withMedia(media) }
  if (repairs.hasSubscribers) repairs.publish({ path, ...report })
  return { report, cuts, format }
}

/** The report of the engine. */
type Repaired = RepairReport & {
  cuts: Taken & { media: MediaCount }
  format: SessionReport['format']
}

export interface UndoOptions {
  /** Takes the file before the first repair, and not before the latest. */
  first: boolean
  /** Carries over rows that were appended since the repair, instead of failing with
   *  ERR_SPILLWAY_APPENDED. */
  keepAppended: boolean
  /** Carries over nothing, instead of failing with ERR_SPILLWAY_NEWER or ERR_SPILLWAY_APPENDED. */
  discardChanges: boolean
  signal: AbortSignal
}

/** Figures of an undo: `rows` is how many were carried over, `backupPath` the repaired file. */
export type UndoReport = Pick<RepairReport, 'rows' | 'bytesBefore' | 'bytesAfter' | 'backupPath'>

/** Puts the file before a repair back. The repaired file becomes the latest backup. */
export function undoRepair(path: string, { signal, ...flags }: UndoOptions): Promise<UndoReport> {
  giveDialects()
  const how = { ...flags, born: startedAt() }
  const control = { lockTimeout: 10_000, signal, onProgress: undefined }
  return run<UndoReport>(path, control, (handle) => native.undoRepair(path, how, handle))
}

/** Options of `inspectSession`. */
export type InspectOptions = ResultPolicy & { signal?: AbortSignal | undefined; top?: number | undefined }

export async function inspectSession(path: string, options: InspectOptions = {}): Promise<SessionReport> {
  return (await inspectCounted(path, options)).report
}

/** Inspects a session, and counts the results that a repair would cut. */
export async function inspectCounted(
  path: string,
  options: InspectOptions = {},
): Promise<{ report: SessionReport; cuts: Cuts }> {
  const session = packSession(path, compileSession(options, 'inspect'), spareOf(options))
  const { top, signal } = ownOptionsOf('inspect', options)
  const control = { lockTimeout: 0, signal, onProgress: undefined }
  const found = await run<SessionReport & { cuts: Cuts; media: MediaCount; sent: SentPayload[] }>(
    path,
    control,
    (handle) => native.readSession(...session, 'inspect', top, handle),
  )
  const { cuts: counted, media, sent, damaged, ...figures } = found
  const cuts = { over: counted.over, details: counted.details }
  const refused = refusedIn(sent, options.media?.provider)
  const report = {
    ...figures,
    ...withMedia(media),
    ...(refused.length > 0 && { refused }),
    oversized: cuts.over,
    damaged,
  }
  return { report, cuts }
}

/** Possible finds of a repair: only a repair decides. */
export interface Triage {
  readonly format: SessionReport['format']
  readonly over: boolean
  readonly damaged: boolean
  readonly pairs: boolean
  readonly media: boolean
  readonly resultBytes: number
  readonly flaws: Flaws
}

/** Tells the layout of a session, and if it is known by the source of its agent alone. */
export function kindOfSession(
  path: string,
): Promise<{ readonly format: SessionReport['format']; readonly bySource: boolean }> {
  const session = packSession(path, compileSession({}, 'inspect'), spareOf({}))
  const control = { lockTimeout: 0, signal: undefined, onProgress: undefined }
  return run(path, control, (handle) => native.readSession(...session, 'kind', 0, handle))
}

/** Finds out in one pass, which ends at the first damaged row, what a repair under this policy may
 *  have to do. */
export function triageSession(path: string, policy: ResultPolicy): Promise<Triage> {
  const session = packSession(path, compileSession(policy, 'inspect'), spareOf(policy))
  const control = { lockTimeout: 0, signal: undefined, onProgress: undefined }
  return run<Triage>(path, control, (handle) => native.readSession(...session, 'triage', 0, handle))
}

type Fields = Parameters<typeof native.repairSession>[3]
type Control = Pick<OptionsOf<'repair'>, 'lockTimeout' | 'signal' | 'onProgress'>

/** Checks all options before any work is done. */
function checkRepair(policy: EnginePolicy, path: string, options: Repair) {
  const { sparesLatest } = options
  const own = ownOptionsOf('repair', options)
  const { aggregate, plan, backup, dryRun, lock, damaged, pairs } = own
  if (aggregate !== undefined && plan !== undefined)
    throw conflictError('plan and aggregate cannot be combined; give one of them')
  return {
    session: packSession(path, policy, spareOf(options)),
    repair: {
      backup,
      dryRun,
      lock,
      mend: damaged === 'mend',
      pairs,
      born: startedAt(),
      ...(aggregate && { budget: budgetFields({ ...aggregate, sparesLatest }) }),
      ...(plan && { plan: plan as NonNullable<Fields['plan']> }),
    },
    control: own,
  }
}

function compileSession(options: ResultPolicy, taker: Taker): EnginePolicy {
  const policy = compileWith({ notice: 'pi', sideData: 'cap' }, options, taker)
  if (policy.words)
    throw conflictError(
      'notice cannot be a function here, since sessions are read on another thread; use a template',
    )
  if (typeof policy.query === 'function')
    throw conflictError(
      'query cannot be a function here, since sessions are read on another thread; use texts',
    )
  return policy
}

/** Returns the bytes by which side data may exceed the default size: rewriting a row for less is
 *  not worth it. */
function spareOf({ sideData }: ResultPolicy): number {
  return typeof sideData === 'object' ? 0 : 1_024
}

/** Returns the start time of this process, in milliseconds since 1970. */
const startedAt = () => Date.now() - process.uptime() * 1_000

/** Returns a session and its policy as the engine takes them. */
function packSession(path: string, policy: EnginePolicy, spareSideBytes: number) {
  giveDialects()
  const { clean, dialect, sideData, structured, media } = policy
  if (typeof path !== 'string') throw optionError(TypeError, 'path', 'the path of a file', path)
  if (path === '' || path.includes('\0')) throw optionError(RangeError, 'path', 'the path of a file', path)
  const fields = {
    sideData,
    maxSideBytes: Math.min(policy.maxSideBytes, Number.MAX_SAFE_INTEGER),
    spareSideBytes,
    structured,
    asks: policy.query === undefined,
    ...(dialect !== undefined && { dialect }),
    ...(clean && { clean: stepsOf(clean) }),
    ...(media && { media }),
  }
  return [path, handleOf(policy), fields] as const
}

function stepsOf([ansi, carriageReturns, control, repeats, html]: CleanSteps) {
  return { ansi, carriageReturns, control, repeats, html }
}

/** Runs work of the engine, which a signal stops. Reports progress, and retries while the lock is
 *  held elsewhere. */
async function run<T extends object>(
  path: string,
  { lockTimeout, signal, onProgress }: Control,
  work: (handle: ReturnType<typeof native.startWatch>) => Promise<string>,
): Promise<T> {
  signal?.throwIfAborted()
  const handle = native.startWatch()
  const stop = () => native.stopWork(handle)
  const numbers = new Float64Array(4)
  let reported = ''
  const report = () => {
    native.readProgress(handle, numbers)
    const [bytes = 0, totalBytes = 0, rows = 0, clamped = 0] = numbers
    if (totalBytes === 0 || numbers.join() === reported) return
    reported = numbers.join()
    notify(() => onProgress?.({ bytes, totalBytes, rows, clamped }))
  }
  signal?.addEventListener('abort', stop, { once: true })
  const timer = onProgress && setInterval(report, LOOK)
  try {
    const outcome = await whileLocked<T>(lockTimeout, signal, () => work(handle))
    const done = unwrap(outcome, path, signal)
    report()
    return done
  } finally {
    clearInterval(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/** Retries until `timeout` while the lock is held elsewhere. */
async function whileLocked<T extends object>(
  timeout: number,
  signal: AbortSignal | undefined,
  work: () => Promise<string>,
): Promise<T | Failure> {
  const start = performance.now()
  for (let tries = 1; ; tries++) {
    const outcome = JSON.parse(await work()) as T | Failure
    const left = timeout - (performance.now() - start)
    const isLocked = 'code' in outcome && outcome.code === 'ERR_SPILLWAY_LOCKED'
    if (!isLocked || left <= 0) return outcome
    const wait = Math.min(LONGEST_WAIT, LOOK * tries, left)
    await setTimeout(wait, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted())
  }
}

/** A failure of the engine, with a code of this package or an error number of the system. */
interface Failure extends EngineFailure {
  readonly code: string
  /** Work that was already done, as a clause for the message. */
  readonly late?: string
}

/** Returns an outcome of the engine, or throws its failure. */
function unwrap<T extends object>(outcome: T | Failure, path: string, signal: AbortSignal | undefined): T {
  if (!('code' in outcome)) return outcome
  const { code, message, late } = outcome
  if (code === 'STOPPED') throw signal?.reason
  const error = failureOf(path, code === 'OWN_LOCK' ? { code: 'ERR_SPILLWAY_LOCKED', message } : outcome)
  if (late !== undefined) error.message += `; ${late}`
  throw error
}

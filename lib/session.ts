import { channel } from 'node:diagnostics_channel'
import { setTimeout } from 'node:timers/promises'
import { getSystemErrorMap } from 'node:util'
import type { PlanStep, Policy, RepairOptions, RepairReport, ResultPolicy, SessionReport } from 'spillway'
import { native, type SessionFailure } from './engine.js'
import { bound, callback, flag, optionError, text } from './option.js'
import { type Aggregate, checkAggregate } from './plan.js'
import { type Compiled, compileWith, pack } from './policy.js'
import { quietly } from './reading.js'

const repairs = channel('spillway:repair')

/** Milliseconds between two looks at how far a repair has come, and the longest between two tries to get a lock. */
const LOOK = 50
const LONGEST_WAIT = 1_000

export async function repairSession(path: string, options: RepairOptions = {}): Promise<RepairReport> {
  const { session, work, lockTimeout, signal, onProgress } = checkRepair(path, options)
  const watched = watch(signal, onProgress)
  try {
    const report = await locked(session.path, lockTimeout, signal, () =>
      native.repairSession(session, work, watched.handle),
    )
    watched.look()
    if (repairs.hasSubscribers) repairs.publish({ path, ...report })
    return report as RepairReport
  } finally {
    watched.end()
  }
}

export async function inspectSession(
  path: string,
  options: ResultPolicy & { signal?: AbortSignal; top?: number } = {},
): Promise<SessionReport> {
  const session = packSession(path, compileSession(options))
  const top = bound('top', options.top, 10)
  const watched = watch(checkSignal(options.signal))
  try {
    const report = await native.inspectSession(session, top, watched.handle)
    return taken(report, path, options.signal) as SessionReport
  } finally {
    watched.end()
  }
}

/** Checks all options before anything is done. */
function checkRepair(path: string, options: RepairOptions) {
  const policy = compileSession(options)
  const { aggregate, plan } = options
  if (aggregate !== undefined && plan !== undefined)
    throw optionError(TypeError, 'plan', 'given without an aggregate', plan)
  return {
    session: packSession(path, policy),
    work: {
      ...(aggregate !== undefined && { aggregate: packBudget(checkAggregate(aggregate)) }),
      ...(plan !== undefined && { plan: checkPlan(plan) }),
      backup: flag('backup', options.backup, true),
      dryRun: flag('dryRun', options.dryRun, false),
      lock: flag('lock', options.lock, true),
      born: Date.now() - process.uptime() * 1_000,
    },
    lockTimeout: bound('lockTimeout', options.lockTimeout, 10_000),
    signal: checkSignal(options.signal),
    onProgress: callback('onProgress', options.onProgress),
  }
}

function compileSession(options: ResultPolicy | Policy): Compiled {
  const policy = compileWith({ notice: 'pi', sideData: 'cap' }, options)
  if (policy.words)
    throw optionError(TypeError, 'notice', 'a name or a template: a function cannot run there', policy.words)
  return policy
}

/** A session and its policy, as the engine takes them. */
function packSession(path: string, policy: Compiled) {
  const { clean, dialect, sideData, maxSideBytes } = policy
  if (typeof path !== 'string') throw optionError(TypeError, 'path', 'the path of a file', path)
  if (path === '' || path.includes('\0')) throw optionError(RangeError, 'path', 'the path of a file', path)
  return {
    path,
    policy: Array.from(pack(policy)),
    notice: policy.notice,
    source: policy.source,
    needles: policy.needles,
    ...(clean && { clean: [...clean] }),
    ...(sideData !== 'keep' && { maxSideBytes: sideData === 'cap' ? maxSideBytes : -1 }),
    ...(dialect !== undefined && { dialect }),
  }
}

/** A budget as src/bindings/plan.rs reads it: no result has a cap of its own here. */
function packBudget({ maxChars, order, protectLatest, minKeepChars }: Aggregate): number[] {
  return [
    Number.POSITIVE_INFINITY,
    maxChars,
    Number(order === 'newest'),
    Number(protectLatest),
    minKeepChars,
  ]
}

function checkPlan(plan: readonly PlanStep[]) {
  if (!Array.isArray(plan)) throw optionError(TypeError, 'plan', 'an array of steps', plan)
  return Array.from(plan as readonly unknown[], (step, at) => {
    if (typeof step !== 'object' || step === null)
      throw optionError(TypeError, `plan[${at}]`, 'an object', step)
    const { index, callId, chars, maxChars } = step as Partial<PlanStep>
    const number = (name: string, value: number | undefined) => {
      if (value === undefined) throw optionError(TypeError, `plan[${at}].${name}`, 'a whole number', value)
      return bound(`plan[${at}].${name}`, value, 0)
    }
    return {
      index: number('index', index),
      chars: number('chars', chars),
      maxChars: number('maxChars', maxChars),
      ...(callId !== undefined && { callId: text(`plan[${at}].callId`, callId, '') }),
    }
  })
}

function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined || (typeof signal?.aborted === 'boolean' && 'addEventListener' in signal))
    return signal
  throw optionError(TypeError, 'signal', 'an AbortSignal', signal)
}

/** Stops the work when a signal aborts, and tells how far it has come. */
function watch(signal: AbortSignal | undefined, onProgress?: RepairOptions['onProgress']) {
  signal?.throwIfAborted()
  const handle = native.startWatch()
  const stop = () => native.stopWork(handle)
  signal?.addEventListener('abort', stop, { once: true })
  let told = ''
  const look = () => {
    if (!onProgress) return
    const numbers = new Float64Array(4)
    native.readProgress(handle, numbers)
    const [bytes = 0, totalBytes = 0, rows = 0, clamped = 0] = numbers
    if (totalBytes === 0 || numbers.join() === told) return
    told = numbers.join()
    quietly(() => onProgress({ bytes, totalBytes, rows, clamped }))
  }
  const timer = onProgress && setInterval(look, LOOK)
  const end = () => {
    clearInterval(timer)
    signal?.removeEventListener('abort', stop)
  }
  return { handle, look, end }
}

/** Tries again while another holds the lock, as long as that is allowed. */
async function locked<T extends object>(
  path: string,
  timeout: number,
  signal: AbortSignal | undefined,
  repair: () => Promise<T | SessionFailure>,
): Promise<T> {
  const start = performance.now()
  for (let tries = 1; ; tries++) {
    const outcome = await repair()
    const left = timeout - (performance.now() - start)
    const isLocked = 'message' in outcome && outcome.code === 'ERR_SPILLWAY_LOCKED'
    if (!isLocked || left <= 0) return taken(outcome, path, signal)
    const wait = Math.min(LONGEST_WAIT, LOOK * tries, left)
    await setTimeout(wait, undefined, { ...(signal && { signal }) }).catch(() => signal?.throwIfAborted())
  }
}

/** What the engine did, or why not as an error. */
function taken<T extends object>(
  outcome: T | SessionFailure,
  path: string,
  signal: AbortSignal | undefined,
): T {
  if (!('message' in outcome)) return outcome
  const { code, errno, message } = outcome
  if (code === 'STOPPED') throw signal?.reason
  if (code.startsWith('ERR_')) throw Object.assign(new Error(message), { code })
  if (code === 'OWN_LOCK') throw Object.assign(new Error(message), { code: 'ERR_SPILLWAY_LOCKED' })
  const [name, meaning] = getSystemErrorMap().get(-(errno ?? 0)) ?? [code, message]
  throw Object.assign(new Error(`${name}: ${meaning}, '${path}'`), {
    code: name,
    path,
    ...(errno !== undefined && { errno: -errno }),
  })
}

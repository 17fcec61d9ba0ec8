import type { Policy, WrapPolicy } from 'spillway'
import { clampThrown } from './error.js'
import { optionError } from './option.js'
import { type Compiled, compile, failed } from './policy.js'
import { get } from './reading.js'
import { clampValue } from './result.js'

type Call = (this: unknown, ...args: unknown[]) => unknown

/** Functions that clamp, with what they wrap: a tool that is wrapped again is wrapped from the start. */
const wrapped = new WeakMap<Call, { call: Call; policy: Compiled }>()

/** What frameworks name the method that runs a tool. */
const METHODS = ['execute', 'invoke', 'func']

export function wrapTool<T extends object>(tool: T, policy?: WrapPolicy | Policy): T {
  const compiled = compile(policy)
  if (typeof tool === 'function') return wrapCall(tool as unknown as Call, compiled, false) as unknown as T
  if (typeof tool !== 'object' || tool === null)
    throw optionError(TypeError, 'tool', 'an object or a function', tool)
  const [method, call] = methodOf(tool, compiled)
  const clamping = wrapCall(call, compiled, method === 'execute')
  if (clamping === call) return tool
  const prototype: unknown = Object.getPrototypeOf(tool)
  if (prototype === null || Object.getPrototypeOf(prototype) === null) {
    const members = Object.getOwnPropertyDescriptors(tool) as Record<string, PropertyDescriptor>
    const enumerable = members[method]?.enumerable ?? true
    members[method] = { value: clamping, enumerable, writable: true, configurable: true }
    return Object.create(prototype as object | null, members) as T
  }
  const enumerable = Object.getOwnPropertyDescriptor(tool, method)?.enumerable ?? false
  const own = { value: clamping, enumerable, writable: true, configurable: true }
  if (Reflect.defineProperty(tool, method, own)) return tool
  throw optionError(TypeError, 'tool', `an object whose method ${method} can be replaced`, tool)
}

export function wrapTools<T extends readonly object[] | Record<string, object>>(
  tools: T,
  policy?: WrapPolicy | Policy | ((name: string, tool: object) => WrapPolicy | Policy | undefined),
): T {
  if (typeof tools !== 'object' || tools === null) {
    throw optionError(TypeError, 'tools', 'an array or a record of tools', tools)
  }
  const common = typeof policy === 'function' ? undefined : compile(policy)
  const wrap = (tool: object, name: string): object => {
    if (common || typeof policy !== 'function') return wrapTool(tool, policy as WrapPolicy | undefined)
    const own = policy(name, tool)
    return own === undefined ? tool : wrapTool(tool, own)
  }
  if (Array.isArray(tools))
    return tools.map((tool: object, at) => wrap(tool, nameOf(tool) ?? String(at))) as unknown as T
  const members = Object.getOwnPropertyDescriptors(tools) as Record<string, PropertyDescriptor>
  for (const [name, tool] of Object.entries(tools as Record<string, object>)) {
    members[name] = { value: wrap(tool, name), enumerable: true, writable: true, configurable: true }
  }
  return Object.create(Object.getPrototypeOf(tools) as object | null, members) as T
}

function nameOf(tool: object): string | undefined {
  const name = (tool as { name?: unknown } | null)?.name
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** The name of the method that runs a tool, and the method. */
function methodOf(tool: object, { method }: Compiled): [name: string, call: Call] {
  for (const name of method === undefined ? METHODS : [method]) {
    const call = get(tool, name)
    if (typeof call === 'function') return [name, call as Call]
  }
  const rule =
    method === undefined
      ? `an object with one of the methods ${METHODS.join(', ')}`
      : `an object with the method ${method}`
  throw optionError(TypeError, 'tool', rule, tool)
}

/** `updates`: the call may be handed a callback for partial updates. */
function wrapCall(call: Call, policy: Compiled, updates: boolean): Call {
  const before = wrapped.get(call)
  if (before?.policy === policy) return call
  const inner = before?.call ?? call
  const clamping: Call = function (this: unknown, ...args) {
    try {
      const given = updates ? args.map((arg, at) => withUpdates(arg, at, policy)) : args
      return settleOutcome(inner.apply(this, given), policy)
    } catch (error) {
      throw clampThrown(error, failed(policy))
    }
  }
  disguise(clamping, inner)
  wrapped.set(clamping, { call: inner, policy })
  return clamping
}

/** The wrapper passes for what it wraps: name, arity, prototype and whatever else hangs on it. */
function disguise(clamping: Call, call: Call): void {
  Object.setPrototypeOf(clamping, Object.getPrototypeOf(call) as object | null)
  const members = Object.getOwnPropertyDescriptors(call) as unknown as Record<
    string | symbol,
    PropertyDescriptor
  >
  for (const key of Reflect.ownKeys(members)) {
    const member = members[key]
    const fixed = Object.getOwnPropertyDescriptor(clamping, key)?.configurable === false
    if (member && !fixed && key !== 'arguments' && key !== 'caller')
      Object.defineProperty(clamping, key, member)
  }
}

/** Pi hands a tool a callback for partial updates as its fourth argument. */
const ON_UPDATE = 3

function withUpdates(arg: unknown, at: number, policy: Compiled): unknown {
  if (at !== ON_UPDATE || typeof arg !== 'function') return arg
  const update = arg as Call
  return function (this: unknown, partial: unknown, ...rest: unknown[]) {
    return update.call(this, clampValue(partial, policy), ...rest)
  }
}

/** Clamps what a call came to, now or when it is there: a value, a promise, the steps of a generator. */
function settleOutcome(outcome: unknown, policy: Compiled): unknown {
  if (typeof outcome !== 'object' || outcome === null) return clampValue(outcome, policy)
  if (isPromise(outcome)) {
    // The `then` of something that is no promise may return anything.
    return Promise.resolve(outcome).then(
      (value) => settleOutcome(value, policy),
      (error: unknown) => {
        throw clampThrown(error, failed(policy))
      },
    )
  }
  return isGenerator(outcome) ? clampSteps(outcome, policy) : clampValue(outcome, policy)
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof get(value, 'then') === 'function'
}

type Steps = Generator | AsyncGenerator

function isGenerator(value: object): value is Steps {
  const iterates = get(value, Symbol.asyncIterator) ?? get(value, Symbol.iterator)
  return [iterates, get(value, 'next'), get(value, 'throw')].every((method) => typeof method === 'function')
}

/** The same generator to whoever runs it, with every step clamped. */
function clampSteps(steps: Steps, policy: Compiled): Steps {
  const step = (result: unknown): unknown => {
    const { done, value } = result as IteratorResult<unknown>
    return { done, value: settleOutcome(value, policy) }
  }
  const clampFailure = (error: unknown): never => {
    throw clampThrown(error, failed(policy))
  }
  const run =
    (name: 'next' | 'return' | 'throw') =>
    (...args: unknown[]): unknown => {
      try {
        const made = (steps[name] as Call).apply(steps, args)
        return isPromise(made) ? made.then(step, clampFailure) : step(made)
      } catch (error) {
        return clampFailure(error)
      }
    }
  const clamping = Object.create(Object.getPrototypeOf(steps) as object) as Steps
  for (const name of ['next', 'return', 'throw'] as const)
    Object.defineProperty(clamping, name, { value: run(name) })
  return clamping
}

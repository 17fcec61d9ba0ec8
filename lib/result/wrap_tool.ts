import type { wrapTools as Declared, WrapPolicy } from 'spillway'
import { type EnginePolicy, paged, speaking } from '../compiled.js'
import { compileOnce } from '../policy.js'
import { get, isList, isObject, isPlain, isPromise, tryRead } from '../untrusted.js'
import { methodError, optionError } from '../validate.js'
import { converterFor, isAdded, isAiSdkTool } from './model_output.js'
import { givesPages } from './pages.js'
import { type CallSettings, type ToolFunction, wrapCall } from './wrap_call.js'

/** Names of the method that runs a tool. */
const METHODS = ['execute', 'invoke', 'func']

export function wrapTool<T extends object>(tool: T, policy?: WrapPolicy): T {
  return wrapOne(tool, compileOnce(policy))
}

/** Wraps a tool. `name`: its name if it has none of its own. */
function wrapOne<T extends object>(tool: T, given: EnginePolicy, name?: string, field = 'tool'): T {
  const isFunction = typeof tool === 'function'
  if (!isFunction && (typeof tool !== 'object' || tool === null))
    throw optionError(TypeError, field, 'an object or a function', tool)
  const policy = givesPages(tool) ? paged(given) : given
  const clamping: CallSettings = { policy, tool: toolNameOf(tool) ?? name, returns: 'content' }
  if (isFunction) return wrapCall(tool as unknown as ToolFunction, clamping) as unknown as T
  const [method, call] = methodOf(tool, policy, field)
  const toModel = method === 'execute' ? get(tool, 'toModelOutput') : undefined
  const methods = new Map<string, ToolFunction>()
  if (method === 'execute' && (isAdded(toModel) || (toModel === undefined && isAiSdkTool(tool)))) {
    // A program relies on the type of what the tool returns, and the model is sent a copy.
    const execute = wrapCall(call, { ...clamping, returns: 'typed', updates: false })
    methods.set(method, execute).set('toModelOutput', converterFor(execute))
  } else if (typeof toModel === 'function') {
    // The tool's own code converts the raw result for the model, and a UI shows the raw result.
    methods.set(method, wrapCall(call, { ...clamping, returns: 'raw' }))
    const seen = { ...clamping, policy: outputsOf(policy), isConverter: true }
    methods.set('toModelOutput', wrapCall(toModel as ToolFunction, seen))
  } else {
    const isPair = method === 'func' && get(tool, 'responseFormat') === 'content_and_artifact'
    const returns = isPair ? 'pair' : 'content'
    methods.set(method, wrapCall(call, { ...clamping, returns, updates: method === 'execute' }))
  }
  return withMethods(tool, methods)
}

/** Policies for the output of `toModelOutput`, one for each policy: wrapping twice then equals
 *  wrapping once. */
const outputs = new WeakMap<EnginePolicy, EnginePolicy>()

function outputsOf(policy: EnginePolicy): EnginePolicy {
  const known = outputs.get(policy)
  if (known) return known
  const made = speaking(policy, 'ai-sdk')
  outputs.set(policy, made)
  return made
}

/** Replaces methods of a tool. A plain object is copied, a class instance gets the methods as its
 *  own. */
function withMethods<T extends object>(tool: T, methods: ReadonlyMap<string, ToolFunction>): T {
  if ([...methods].every(([name, call]) => get(tool, name) === call)) return tool
  const copies = isPlain(tool)
  const members = Object.getOwnPropertyDescriptors(tool) as Record<string, PropertyDescriptor>
  for (const [name, value] of methods) {
    const enumerable = members[name]?.enumerable ?? copies
    members[name] = { value, enumerable, writable: true, configurable: true }
    if (!copies && !Reflect.defineProperty(tool, name, members[name])) {
      throw optionError(TypeError, 'tool', `an object whose method ${name} can be replaced`, tool)
    }
  }
  return copies ? (Object.create(Object.getPrototypeOf(tool) as object | null, members) as T) : tool
}

export const wrapTools: typeof Declared = function wrapTools<T extends object>(
  tools: T,
  policy?: WrapPolicy | ((name: string, tool: object) => WrapPolicy | undefined),
): T {
  if (!isRecord(tools)) throw optionError(TypeError, 'tools', 'an array or a record of tools', tools)
  const common = typeof policy === 'function' ? undefined : compileOnce(policy)
  const wrap = (tool: object, name: string): object => {
    const own = typeof policy === 'function' ? policy(name, tool) : undefined
    const compiled = common ?? (own === undefined ? undefined : compileOnce(own))
    const field = `tools.${name}`
    return !compiled || runsElsewhere(tool, compiled, field) ? tool : wrapOne(tool, compiled, name, field)
  }
  if (isList(tools))
    return tools.map((tool, at) =>
      wrap(tool as object, toolNameOf(tool as object) ?? String(at)),
    ) as unknown as T
  const members = Object.getOwnPropertyDescriptors(tools) as Record<string, PropertyDescriptor>
  for (const [name, tool] of Object.entries(tools as Record<string, object>)) {
    members[name] = { value: wrap(tool, name), enumerable: true, writable: true, configurable: true }
  }
  return Object.create(Object.getPrototypeOf(tools) as object | null, members) as T
}

/** Returns true if the tools in a value can be read by name. */
function isRecord(value: unknown): boolean {
  if (isList(value)) return true
  return isObject(value) && !isPromise(value) && typeof get(value, Symbol.iterator) !== 'function'
}

/**
 * Returns true if a tool has nothing to run here: a client or a provider runs it. Rejects a tool
 * that another method may run, and a record or a list of tools: neither would be bounded.
 */
function runsElsewhere(tool: unknown, { method }: EnginePolicy, field: string): boolean {
  if (!isObject(tool) || isPromise(tool) || method !== undefined) return false
  if (!METHODS.every((name) => get(tool, name) === undefined)) return false
  const own = isList(tool) ? undefined : methodsOf(tool).find((name) => !HOOK.test(name))
  if (own !== undefined)
    throw methodError(field, METHODS, tool, `; give \`method: '${own}'\` if that runs it`)
  const within = toolWithin(tool)
  if (within !== undefined)
    throw methodError(field, METHODS, tool, `; wrap the tools in it by themselves (\`${within}\`)`)
  return true
}

/** Names of hooks of a tool and of what describes it: `onInputStart`, `toModelOutput`,
 *  `needsApproval`, `isEnabled`, `inputSchema`. */
const HOOK = /^(?:on|to|is|needs)[A-Z]|Schema$/

/** Returns the names of the methods of an object, also of those that its class has. */
function methodsOf(tool: object): string[] {
  const names: string[] = []
  for (let holder: object | null = tool; holder && holder !== Object.prototype; holder = above(holder))
    for (const [name, { value }] of Object.entries(tryRead(() => descriptors(holder as object)) ?? {}))
      if (typeof value === 'function' && (holder === tool || name !== 'constructor')) names.push(name)
  return names
}

const { getOwnPropertyDescriptors: descriptors } = Object

/** Returns the prototype of an object of a class, in any realm. */
function above(holder: object): object | null {
  return isPlain(holder) ? null : (tryRead(() => Object.getPrototypeOf(holder) as object | null) ?? null)
}

/** Levels and members that are looked through for tools, at most. */
const LEVELS = 8
const MEMBERS = 10_000

/** Returns the path of a tool within lists and plain data. */
function toolWithin(value: object): string | undefined {
  let left = MEMBERS
  const find = (value: object, path: readonly string[]): string | undefined => {
    for (const name of (tryRead(() => Object.keys(value)) ?? []).slice(0, left)) {
      left -= 1
      const member = get(value, name)
      if (!isObject(member) || !(isList(member) || isPlain(member)) || path.length === LEVELS) continue
      const own = [...path, name]
      if (METHODS.some((method) => typeof get(member, method) === 'function')) return own.join('.')
      const found = find(member, own)
      if (found !== undefined) return found
    }
    return undefined
  }
  return isList(value) || isPlain(value) ? find(value, []) : undefined
}

function toolNameOf(tool: object): string | undefined {
  const name = (tool as { name?: unknown } | null)?.name
  return typeof name === 'string' && name !== '' ? name : undefined
}

/** Returns the method that runs a tool, with its name. */
function methodOf(tool: object, { method }: EnginePolicy, field: string): [name: string, call: ToolFunction] {
  const names = method === undefined ? METHODS : [method]
  for (const name of names) {
    const call = get(tool, name)
    if (typeof call === 'function') return [name, call as ToolFunction]
  }
  throw methodError(field, names, tool)
}

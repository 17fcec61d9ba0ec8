import { get, indexesOf, isList, tryRead } from '../untrusted.js'

/** Given as a new value, omits the property or the element from the copy. */
export const GONE = Symbol('gone')

/**
 * Copies an object with some of its properties changed. Its prototype and all other properties are
 * kept. Accessors are not run, an array keeps properties that are not indexes, and an index from
 * its length on appends to it.
 */
export function copy(value: object, changes: ReadonlyMap<string | number, unknown>): object {
  try {
    return isList(value) ? copyList(value, changes) : copyObject(value, changes)
  } catch {
    return copyReadable(value, changes)
  }
}

/** Copies what can be read of a proxy whose traps throw. */
function copyReadable(value: object, changes: ReadonlyMap<string | number, unknown>): object {
  const names = tryRead(() => Object.keys(value)) ?? []
  const members = new Map<string | number, unknown>(names.map((name) => [name, get(value, name)]))
  for (const [name, to] of changes) members.set(String(name), to)
  const left = [...members].filter(([, to]) => to !== GONE)
  return isList(value) ? left.map(([, to]) => to) : Object.fromEntries(left)
}

function copyObject(value: object, changes: ReadonlyMap<string | number, unknown>): object {
  const prototype = Object.getPrototypeOf(value) as object | null
  const made = prototype === Object.prototype ? {} : (Object.create(prototype) as object)
  // Under another prototype, an assignment could run a setter of the class.
  const assigns = prototype === Object.prototype || prototype === null
  for (const name of Reflect.ownKeys(value)) {
    const member = Object.getOwnPropertyDescriptor(value, name)
    if (!member) continue
    const changed = typeof name === 'string' && changes.has(name)
    const to = changed ? changes.get(name) : member.value
    if (to === GONE) continue
    if (assigns && name !== '__proto__' && (changed ? member.enumerable : isPlain(member)))
      (made as Record<PropertyKey, unknown>)[name] = to
    else Object.defineProperty(made, name, changed ? changedTo(to, member.enumerable) : member)
  }
  for (const [name, to] of changes) {
    if (to !== GONE && !Object.hasOwn(made, name)) Object.defineProperty(made, name, changedTo(to, true))
  }
  for (let above = prototype; above && above !== Object.prototype; above = Object.getPrototypeOf(above))
    if (hasPrivate(above)) bringAccessors(above, value, made)
  return made
}

/** Returns true if the source of a class names private fields. A copy does not have them. */
function hasPrivate(prototype: object): boolean {
  const made = get(prototype, 'constructor')
  return typeof made === 'function' && /#[\w$]/.test(Function.prototype.toString.call(made))
}

/** Defines accessors that throw on a copy as values, read from the original. */
function bringAccessors(prototype: object, value: object, made: object): void {
  for (const [name, { get: read }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (!read || Object.hasOwn(made, name) || tryRead(() => [read.call(made)])) continue
    const known = tryRead(() => [read.call(value)])
    if (known) Object.defineProperty(made, name, changedTo(known[0], false))
  }
}

function copyList(value: readonly unknown[], changes: ReadonlyMap<string | number, unknown>): unknown[] {
  const list: unknown[] = []
  let gone = 0
  for (const at of indexesOf(value)) {
    const member = Object.getOwnPropertyDescriptor(value, at)
    const to = changes.has(at) ? changes.get(at) : member?.value
    if (to === GONE) gone += 1
    else if (changes.has(at) || (member && isPlain(member))) list[at - gone] = to
    else if (member) Object.defineProperty(list, at - gone, member)
  }
  list.length = value.length - gone
  for (const [at, to] of changes)
    if (typeof at === 'number' && at >= value.length && to !== GONE) list.push(to)
  const prototype = Object.getPrototypeOf(value) as object | null
  if (prototype !== Array.prototype) Object.setPrototypeOf(list, prototype)
  const names = Reflect.ownKeys(value)
  // The own keys of an array are its indexes, then `length`, then all others.
  for (const name of names.slice(names.indexOf('length') + 1)) {
    const member = Object.getOwnPropertyDescriptor(value, name)
    if (member) Object.defineProperty(list, name, member)
  }
  return list
}

function isPlain({ enumerable, writable, configurable }: PropertyDescriptor): boolean {
  return enumerable === true && writable === true && configurable === true
}

function changedTo(value: unknown, enumerable = true): PropertyDescriptor {
  return { value, enumerable, writable: true, configurable: true }
}

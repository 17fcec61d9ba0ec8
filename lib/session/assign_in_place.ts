type Member = PropertyDescriptor | undefined

/** Overwrites an object with its copy, member by member. Returns false and changes nothing if a
 *  member cannot be written. */
export function assignInPlace(value: object, copy: object): boolean {
  const names = [...new Set([...Reflect.ownKeys(value), ...Reflect.ownKeys(copy)])]
  const changes = names
    .map((name) => [name, memberOf(value, name), memberOf(copy, name)] as const)
    .filter(([, now, then]) => !isSame(now, then))
  if (!changes.every(([, now, then]) => mayBecome(value, now, then))) return false
  return changes.every(([name, now, then]) => {
    if (!then) return Reflect.deleteProperty(value, name)
    return Reflect.defineProperty(value, name, now?.configurable === false ? { value: then.value } : then)
  })
}

function memberOf(value: object, name: PropertyKey): Member {
  return Object.getOwnPropertyDescriptor(value, name)
}

function isSame(now: Member, then: Member): boolean {
  return now?.get === then?.get && now?.set === then?.set && now?.value === then?.value && !now === !then
}

/** Members of a sealed object can be written, but not added or removed. */
function mayBecome(value: object, now: Member, then: Member): boolean {
  if (!now) return Object.isExtensible(value)
  return now.configurable === true || (now.writable === true && then !== undefined && 'value' in then)
}

type Member = PropertyDescriptor | undefined

/** Makes an object what its copy is, member by member; false, and nothing changes, where a member refuses. */
export function overwrite(value: object, copy: object): boolean {
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

/** Of a sealed object, members can be written but neither come nor go. */
function mayBecome(value: object, now: Member, then: Member): boolean {
  if (!now) return Object.isExtensible(value)
  return now.configurable === true || (now.writable === true && then !== undefined && 'value' in then)
}

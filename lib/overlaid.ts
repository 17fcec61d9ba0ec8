/** Returns an object that is another one but for some members. Its methods run on that one, since
 *  they may use private members. `own`: the members that differ, which may be accessors. A frozen
 *  object is overlaid too, so the proxy stands for an empty object of its class. */
export function overlaid<T extends object>(target: T, own: object): T {
  return new Proxy(Object.create(Object.getPrototypeOf(target)) as T, {
    has: (_, name) => Reflect.has(target, name),
    get(_, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name)
      const member: unknown = Reflect.get(target, name)
      // A function that was set is a callback, which keeps its identity.
      return typeof member === 'function' && !Object.hasOwn(target, name) ? member.bind(target) : member
    },
    set: (_, name, value) => Reflect.set(Object.hasOwn(own, name) ? own : target, name, value),
  })
}

type Callable = (...args: unknown[]) => unknown
type Class = new (...args: unknown[]) => object

/**
 * Returns the functions of a module that is loaded when one of them is first called. They are
 * functions and not getters, since an `import` of a CommonJS package reads all of its exports at
 * once.
 */
export function functionsOf<M extends object>(load: () => M): M {
  let loaded: Record<string, Callable> | undefined
  const wing = () => {
    loaded ??= load() as Record<string, Callable>
    return loaded
  }
  const named = (name: string) => ({ [name]: (...args: unknown[]) => wing()[name]?.(...args) })[name]
  return new Proxy({} as M, { get: (_, name) => named(String(name)) })
}

/** Returns a class of a module that is loaded with the first instance. Its methods are inherited
 *  from then on. */
export function classOf<K extends string, M extends Record<K, unknown>>(name: K, load: () => M): M[K] {
  const construct = (args: unknown[], target: Class) => {
    const real = load()[name] as Class
    if (Object.getPrototypeOf(shell.prototype) !== real.prototype)
      Object.setPrototypeOf(shell.prototype, real.prototype)
    return Reflect.construct(real, args, target)
  }
  const shell = {
    [name]: class {
      constructor(...args: unknown[]) {
        // biome-ignore lint/correctness/noConstructorReturn: the instance of the real class, private fields and all
        return construct(args, new.target as Class)
      }
    },
  }[name] as unknown as Class
  return shell as M[K]
}

import type { Context } from 'spillway'
import { isObject } from '../untrusted.js'
import { optionError } from '../validate.js'

/** A context of one conversation, or a function that finds it by the arguments of a hook. If it
 *  returns undefined, the request passes unchanged. */
export type Found<P> = Context | ((params: P) => Context | undefined)

/** Returns a function that finds the context of a request. */
export function contextOf<P>(given: Found<P>): (params: P) => Context | undefined {
  if (typeof given === 'function') return given
  if (!isObject(given) || typeof given.prepare !== 'function')
    throw optionError(
      TypeError,
      'context',
      'a context of createContext, or a function that returns one',
      given,
    )
  return () => given
}

import { ON_UPDATE } from '../clamp_event.js'
import { get, isObject } from '../untrusted.js'

/** Members of the arguments in which frameworks pass the context of a call: the AI SDK, OpenAI
 *  Agents, Mastra, LangChain (two), and anyone's signal. */
const CONTEXT = ['toolCallId', 'toolCall', 'agent', 'configurable', 'callbacks', 'abortSignal', 'signal']

/** Returns the arguments of a call that a model wrote, without those that a framework adds. */
export function writtenIn(args: readonly unknown[]): readonly unknown[] {
  const [first, second] = args
  // Pi passes an id first.
  if (args.length > ON_UPDATE && typeof first === 'string' && isObject(second)) return [second]
  if (isObject(first) && get(first, 'type') === 'tool_call') return [get(first, 'args')]
  return args.filter((arg, at) => at === 0 || !isObject(arg) || CONTEXT.every((name) => !has(arg, name)))
}

function has(value: object, name: string): boolean {
  return get(value, name) !== undefined
}

/** Returns the arguments of a call from those of a function that converts its output. */
export function inputIn([first]: readonly unknown[]): unknown {
  return isObject(first) ? get(first, 'input') : undefined
}

// biome-ignore-all lint/suspicious/noExplicitAny: the messages of eleven dialects

export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(frozen)
  }
  return value
}

/** Returns a history in which results and arguments have the lengths of a list, in turn. */
export function grown(messages: readonly object[], lines: readonly number[]): object[] {
  let number = 0
  const next = () => lines[number++ % lines.length] as number
  const grow = (value: unknown) => {
    if (typeof value === 'string' && /^what .* returned$/.test(value)) {
      // Long ones repeat each other, whole or but for a line.
      const many = next()
      const lines = Array.from({ length: many }, (_, at) => `line ${at} of the file`)
      return [...(many === 40 ? [] : [value]), ...lines].join('\n')
    }
    return value === 'src/a.ts' ? 'src/a.ts '.repeat(1 + next()) : value
  }
  return JSON.parse(JSON.stringify(messages), (key, value) =>
    key === 'arguments' && typeof value === 'string'
      ? JSON.stringify(JSON.parse(value, (_, inner) => grow(inner)))
      : grow(value),
  )
}

/** True for a message of the model. */
export const isAnswer = (message: any) =>
  ['assistant', 'model'].includes(message.role) ||
  message.type === 'ai' ||
  /^(function|custom_tool|shell|apply_patch)_call$|^reasoning$|^computer_call$/.test(message.type ?? '') ||
  (message.lc === 1 && message.id.at(-1) === 'AIMessage')

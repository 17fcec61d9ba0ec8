/** The members of another program's object, of any type. */
export type Members = Readonly<Record<string, unknown>>

/** A message of JSON-RPC. */
export interface Message {
  /** JSON of its id, as the message spells it. */
  readonly id: string | undefined
  readonly body: Members
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns true for a request or a notification. A message with a result or an error, or without a
 *  method, is an answer: some readers take it for one. */
export function isRequest({ body }: Message): boolean {
  const isPart = (name: string) => /^(?:result|error)$/i.test(name)
  return typeof body['method'] === 'string' && !Object.keys(body).some(isPart)
}

/** Returns the JSON of an id. Only a scalar is an id. */
export function idText(id: unknown): string | undefined {
  return typeof id === 'object' && id !== null ? undefined : JSON.stringify(id)
}

import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { get, isObject, tryRead } from '../../untrusted.js'

/** Returns the message of the last row in which a session differs from its backup, and the id of
 *  that row. */
export async function lastChangedMessage(
  backup: string,
  file: string,
): Promise<{ message: unknown; entryId?: string } | undefined> {
  const linesOf = (path: string) => createInterface({ input: createReadStream(path), crlfDelay: Infinity })
  const before = linesOf(backup)[Symbol.asyncIterator]()
  let changed: string | undefined
  for await (const line of linesOf(file)) {
    const { value, done } = await before.next()
    // Further rows were appended, not rewritten.
    if (done) break
    if (value !== line) changed = line
  }
  await before.return?.()
  const row: unknown = changed && tryRead(() => JSON.parse(changed as string))
  if (!isObject(row)) return undefined
  const id = get(row, 'id')
  return { message: get(row, 'message') ?? row, ...(typeof id === 'string' && { entryId: id }) }
}

import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Writes to a stream, and waits if its buffer is full. */
export async function put(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  if (!stream.write(chunk)) await once(stream, 'drain')
}

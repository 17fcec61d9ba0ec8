import { once } from 'node:events'
import type { Writable } from 'node:stream'

/** Writes to a stream, and waits where it has enough. */
export async function put(stream: Writable, chunk: string | Uint8Array): Promise<void> {
  if (!stream.write(chunk)) await once(stream, 'drain')
}

import { fstatSync, readSync, writeSync } from 'node:fs'
import { out } from '../term/terminal.js'
import { UsageError } from '../term/usage_error.js'

/** Bytes of one read. */
const BLOCK = 256 * 1024

/** Reads stdin to its end without a stream of Node, which takes milliseconds to open while the host
 *  waits. */
export async function read(): Promise<string> {
  if (fstatSync(0).isCharacterDevice() && process.stdin.isTTY)
    throw new UsageError('stdin is a terminal; the host writes an event to it')
  const chunks: Buffer[] = []
  try {
    for (;;) {
      const chunk = Buffer.allocUnsafe(BLOCK)
      const bytes = readSync(0, chunk)
      if (bytes === 0) break
      chunks.push(chunk.subarray(0, bytes))
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EAGAIN') for await (const chunk of process.stdin) chunks.push(chunk)
    else if (code !== 'EOF') throw error
  }
  return Buffer.concat(chunks).toString()
}

/** Writes a text to stdout, the rest of it by a stream if the reader is not fast enough. */
export async function write(text: string): Promise<void> {
  const bytes = Buffer.from(text)
  let done = 0
  try {
    while (done < bytes.length) done += writeSync(1, bytes, done)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    await out.write(bytes.subarray(done))
  }
}

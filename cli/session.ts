import { open, stat } from 'node:fs/promises'
import { inspectSession } from '../index.js'
import { failed, Mistake } from './mistake.js'

const KNOWN = 'give one in JSONL, of Pi, OpenClaw up to 7, Claude Code, or messages'

export function noSession(file: string): Mistake {
  return new Mistake(`${file}: no session that is known; ${KNOWN}`, 1)
}

/** Bytes in which a first row begins. */
const START = 4_096

/** Refuses a file that holds no session, such as an image: a repair would give it a newline. One whose first row is no JSON
 *  object may be damaged there alone, so that it is read. What cannot be opened is told by what works on it. */
export async function checkSession(file: string, signal: AbortSignal): Promise<void> {
  const found = await stat(file).catch(() => undefined)
  if (found?.isDirectory()) throw failed({ code: 'EISDIR' }, file)
  // To open a pipe would be to wait for who writes to it.
  const handle = found?.isFile() && (await open(file).catch(() => undefined))
  if (!handle) return
  try {
    const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(START) })
    const start = buffer
      .toString('utf8', 0, bytesRead)
      .replace(/^\ufeff/, '')
      .trimStart()
    if (start === '' || start.startsWith('{')) return
  } finally {
    await handle.close()
  }
  const { format } = await inspectSession(file, { signal })
  if (format === 'unknown') throw noSession(file)
}

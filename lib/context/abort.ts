/** Waits for work. If the signal aborts first, rejects with its reason at once and ignores the outcome of the work. */
export async function unlessAborted<T>(
  signal: AbortSignal | undefined,
  work: () => T | PromiseLike<T>,
): Promise<T> {
  if (!signal) return work()
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    // The signal comes first in the race, so its reason wins over a rejection that the abort causes.
    return await Promise.race([aborted, (async () => work())()])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Waits for work, but no longer than until the signal is aborted; then it rejects with the signal's reason at once, and
 *  nothing comes of the work any more. */
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
    // What rejects because of the abort is late by then: the signal's reason comes first.
    return await Promise.race([aborted, (async () => work())()])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

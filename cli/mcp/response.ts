import type { IncomingMessage } from 'node:http'

/** Chars of an error page to report, and milliseconds to wait for it. */
const TOLD = 500
const PATIENCE = 1_000

/** Types of a response. */
export const EVENTS = 'text/event-stream'
export const JSON_TYPE = /^(?:application|text)\/json$|\+json$/

/** Returns the type of a response without parameters, in lower case, or undefined for an encoded
 *  response. */
export function typeOf({ headers }: IncomingMessage): string {
  if (!/^\s*(?:identity)?\s*$/i.test(headers['content-encoding'] ?? '')) return ''
  return (headers['content-type'] ?? '')
    .replace(/[;,].*$/s, '')
    .trim()
    .toLowerCase()
}

/** Discards a response of a type that the protocol does not have, and returns an error. */
export function unexpected(response: IncomingMessage): Error {
  response.destroy()
  const { 'content-type': type = 'no content type', 'content-encoding': encoding } = response.headers
  return new Error(`answered with ${[type, encoding].filter(Boolean).join(' in ')}`)
}

/** Returns the start of a page. A page that does not end is reported as far as it was received. */
export async function startOf(response: IncomingMessage): Promise<string> {
  const late = setTimeout(() => response.destroy(), PATIENCE)
  let text = ''
  try {
    for await (const chunk of response) {
      text += chunk
      if (text.length > TOLD) break
    }
  } catch {
    // The status says more than the error that broke its page off.
  } finally {
    clearTimeout(late)
  }
  return text.slice(0, TOLD)
}

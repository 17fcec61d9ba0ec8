import { plain } from '../text/input.js'
import { pieces } from '../text/pieces.js'
import { isObject } from '../untrusted.js'
import { checkText } from '../validate.js'
import { ByteQueue } from './byte_queue.js'

/** Bytes of a chunk. */
export const CHUNK = 256 * 1024

/** Returns what is to be saved in chunks, whose memory may be used again when the next one is asked
 *  for. */
export function chunksIn(
  input: string | Uint8Array | AsyncIterable<Uint8Array>,
): Iterable<Uint8Array> | AsyncIterable<Uint8Array> {
  if (input instanceof ByteQueue) return input.borrow()
  if (isObject(input) && Symbol.asyncIterator in input) return input
  const given = checkText(input)
  return typeof given === 'string' ? encoded(given) : slices(plain(given, false))
}

function* encoded(text: string): Generator<Uint8Array> {
  for (const piece of pieces(text)) yield Buffer.from(piece)
}

function slices(all: Uint8Array): Iterable<Uint8Array> {
  const size = all.length
  return (function* () {
    for (let start = 0; start < size; start += CHUNK) {
      if (all.length !== size) throw takenAway()
      yield all.subarray(start, start + CHUNK)
    }
  })()
}

/** Makes an error for bytes whose buffer was transferred to another thread during a save. */
function takenAway(): Error {
  const error = new Error(
    'the bytes were transferred while they were being saved; keep them until save() resolves',
  )
  return Object.assign(error, { code: 'ERR_SPILLWAY_SPILL' })
}

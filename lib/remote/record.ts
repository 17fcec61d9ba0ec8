import type { SpillRecord } from 'spillway'
import { native } from '../engine.js'
import { isList, isObject, tryRead } from '../untrusted.js'

/** The record of an output. It is stored after all chunks. */
export interface OutputRecord {
  /** Size of the full output. */
  readonly bytes: number
  readonly lines: number
  readonly complete: boolean
  readonly tool?: string
  readonly callId?: string
  /** Times in milliseconds since 1970: when the save ended, and when it began. The names of the
   *  chunks contain the latter. */
  readonly created: number
  readonly started: number
  /** Bytes of all chunks together, and bytes of each chunk except the last. */
  readonly size: number
  readonly chunk: number
  /** The line in which each chunk begins (1-based), then the line after the last chunk. */
  readonly firstLines: readonly number[]
  /** Lines of all chunks together. */
  readonly sizeLines: number
  /** The digest of each chunk, since a storage may return other bytes of the same length. */
  readonly digests: readonly string[]
}

/** Writes a record below a line with the digest of its id and text, so that a reader rejects the
 *  record of another output. */
export function encode(id: string, stored: OutputRecord): Uint8Array {
  const text = JSON.stringify(stored)
  return Buffer.from(`${sealOf(id, text)}\n${text}`)
}

/** Parses a record. Returns undefined if the text is not a valid record. */
export function decode(id: string, bytes: Uint8Array): OutputRecord | undefined {
  const [, seal, text = ''] = /^([0-9a-f]+)\n(.*)$/s.exec(new TextDecoder().decode(bytes)) ?? []
  if (seal !== sealOf(id, text)) return undefined
  const stored = tryRead(() => JSON.parse(text) as OutputRecord)
  return isObject(stored) && isSound(stored) ? stored : undefined
}

function sealOf(id: string, text: string): string {
  return native.digestOf(Buffer.from(id + text))
}

function isSound({
  bytes,
  lines,
  complete,
  created,
  started,
  size,
  chunk,
  firstLines,
  sizeLines,
  digests,
}: OutputRecord) {
  const counts = [bytes, lines, created, started, size, chunk, sizeLines]
  return (
    typeof complete === 'boolean' &&
    isList(firstLines) &&
    [...counts, ...firstLines].every((count) => Number.isSafeInteger(count) && count >= 0) &&
    chunk > 0 &&
    firstLines.length === Math.ceil(size / chunk) + 1 &&
    isList(digests) &&
    digests.length === Math.ceil(size / chunk)
  )
}

/** The names of keys under a prefix. */
export class Keys {
  readonly base: string

  constructor(prefix: string) {
    this.base = prefix === '' ? '' : `${prefix}:`
  }

  record(id: string): string {
    return `${this.base}${id}:record`
  }

  /** Names a chunk. The name contains the time at which the save began, so that a sweep knows the
   *  age of what a dead process left. */
  chunk(id: string, at: number, started: number): string {
    return `${this.base}${id}:${at}-${started}`
  }

  chunks(id: string, { size, chunk, started }: OutputRecord): string[] {
    return Array.from({ length: Math.ceil(size / chunk) }, (_, at) => this.chunk(id, at, started))
  }

  /** Groups the keys of outputs by their ids. Omits other keys. */
  byId(keys: readonly string[]): Map<string, Parts> {
    const outputs = new Map<string, Parts>()
    for (const key of keys) {
      const [, id, started] = (key.startsWith(this.base) && PART.exec(key.slice(this.base.length))) || []
      if (id === undefined) continue
      const parts = outputs.get(id) ?? { isSaved: false, chunks: [] }
      outputs.set(id, parts)
      if (started === undefined) parts.isSaved = true
      else parts.chunks.push({ key, started: Number(started) })
    }
    return outputs
  }
}

const PART = /^([0-9a-f]{16}):(?:record|\d{1,9}-(\d{1,15}))$/

/** The keys that an output has. */
interface Parts {
  isSaved: boolean
  readonly chunks: { key: string; started: number }[]
}

export function shown(keys: Keys, id: string, { bytes, lines, complete }: OutputRecord): SpillRecord {
  return { id, path: keys.record(id), bytes, lines, complete }
}

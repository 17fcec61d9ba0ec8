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
  /** The name of the save in the keys of its chunks. */
  readonly save: string
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
  save,
}: OutputRecord) {
  const counts = [bytes, lines, created, started, size, chunk, sizeLines]
  return (
    typeof complete === 'boolean' &&
    isList(firstLines) &&
    [...counts, ...firstLines].every((count) => Number.isSafeInteger(count) && count >= 0) &&
    chunk > 0 &&
    firstLines.length === Math.ceil(size / chunk) + 1 &&
    SAVE.test(save) &&
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

  /** The key of the secret that the workers share. */
  get secret(): string {
    return `${this.base}secret`
  }

  /** Names a chunk: by its save, since the id of the output is known only at its end. The name
   *  contains the time at which the save began, so that a sweep knows the age of what a dead process
   *  left. */
  chunk({ save, started }: Pick<OutputRecord, 'save' | 'started'>, at: number): string {
    return `${this.base}${save}:${at}-${started}`
  }

  chunks(stored: OutputRecord): string[] {
    return Array.from({ length: Math.ceil(stored.size / stored.chunk) }, (_, at) => this.chunk(stored, at))
  }

  /** Returns the ids of outputs with a record, and the chunks by their save. Omits other keys. */
  parts(keys: readonly string[]): Parts {
    const parts: Parts = { ids: [], chunks: new Map() }
    for (const key of keys) {
      const [, name = '', started] =
        (key.startsWith(this.base) && PART.exec(key.slice(this.base.length))) || []
      if (name === '') continue
      if (started === undefined) parts.ids.push(name)
      else parts.chunks.set(name, [...(parts.chunks.get(name) ?? []), { key, started: Number(started) }])
    }
    return parts
  }
}

const PART = /^([0-9a-f]{16}):(?:record|\d{1,9}-(\d{1,15}))$/
const SAVE = /^[0-9a-f]{16}$/

/** The keys of all outputs. */
export interface Parts {
  readonly ids: string[]
  readonly chunks: Map<string, { key: string; started: number }[]>
}

export function shown(keys: Keys, id: string, { bytes, lines, complete }: OutputRecord): SpillRecord {
  return { id, path: keys.record(id), bytes, lines, complete }
}

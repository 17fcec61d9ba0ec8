import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventsOf, type ServerEvent } from '../../cli/mcp/events.js'
import { ByteBuffer, linesOf, type Overlong } from '../../cli/mcp/lines.js'
import { turns } from '../support/wait.js'

const END = 1_024
const MOST = 3_000

/** Returns the events of a whole stream, word for word as the HTML standard has them, except that
 *  lines of data are joined by a blank, and that what is not a message has no data. */
function eventsIn(bytes: Buffer): ServerEvent[] {
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\r|\n/)
  const events: ServerEvent[] = []
  let [data, type] = ['', '']
  let id: string | undefined
  for (const line of lines.slice(0, -1)) {
    const [, name = '', value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? []
    if (name === 'data') data = data === '' ? value : `${data} ${value}`
    if (name === 'event') type = value
    if (name === 'id' && !value.includes('\0')) id = value
    if (name === 'retry' && /^[0-9]+$/.test(value)) events.push({ retry: Number(value) })
    if (line !== '') continue
    const isMessage = data !== '' && (type === '' || type === 'message')
    events.push({ ...(isMessage && { data: boundOf(Buffer.from(data)) }), ...(id !== undefined && { id }) })
    data = ''
    type = ''
  }
  return events
}

function boundOf(bytes: Buffer): Buffer | Overlong {
  if (bytes.length <= MOST) return bytes
  const [head, tail] = [bytes.subarray(0, END), bytes.subarray(-END)]
  return { head: head.toString(), tail: tail.toString(), bytes: bytes.length }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** Cuts bytes into chunks of these sizes, in turn. */
function* chunksOf(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  for (let at = 0, nth = 0; at < bytes.length; nth++) {
    const size = sizes[nth % sizes.length] as number
    yield Buffer.from(bytes.subarray(at, at + size))
    at += size
  }
}

const NAMES = [
  'data',
  'event',
  'id',
  'retry',
  '',
  'dat',
  'dataset',
  'DATA',
  ' data',
  'retryx',
  'a longer name',
]
const LINE = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: fc.constant('data') }, fc.constantFrom(...NAMES)),
    fc.constantFrom('', ':', ': ', ':  ', ' :'),
    fc.oneof(
      fc.constantFrom('', 'message', 'ping', '7', '+7', '7e9', 'a\0b', '漢😀', ':', '\ufeff'),
      fc.nat({ max: 2 * MOST }).map((size) => 'x'.repeat(size)),
    ),
  )
  .map((parts) => parts.join(''))
const STREAM = fc
  .tuple(
    fc.constantFrom('', '\ufeff', '\ufeff\ufeff', '\n'),
    fc.array(fc.tuple(fc.oneof(LINE, fc.constant('')), fc.constantFrom('\n', '\r', '\r\n')), {
      maxLength: 30,
    }),
    fc.constantFrom('', 'data: half'),
  )
  .map(([start, lines, rest]) => Buffer.from(start + lines.flat().join('') + rest))
const SIZES = fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9_000 })), {
  minLength: 1,
  maxLength: 9,
})

describe('events of a server', () => {
  it('are those of the standard, in whatever chunks they come', async () => {
    await fc.assert(
      fc.asyncProperty(STREAM, SIZES, async (bytes, sizes) => {
        expect(await all(eventsOf(chunksOf(bytes, sizes), MOST))).toEqual(eventsIn(bytes))
      }),
      { numRuns: 3_000 },
    )
  })

  it('end with the empty line, even if it is a carriage return, before more comes', async () => {
    const events = eventsOf([Buffer.from('data: a\r\r'), Buffer.from('\ndata: b\r\n\r\n')], MOST)
    const first = await events.next()
    expect(first.value).toEqual({ data: Buffer.from('a') })
    expect(await all(events)).toEqual([{ data: Buffer.from('b') }])
  })
})

describe('what is held of a message', () => {
  it('is all of it up to the limit, else both ends, in whatever parts it comes', () => {
    fc.assert(
      fc.property(fc.nat({ max: 3 * MOST }), SIZES, (size, sizes) => {
        const bytes = Buffer.from(Array.from({ length: size }, (_, at) => 32 + (at % 90)))
        const held = new ByteBuffer(MOST)
        for (const part of chunksOf(bytes, sizes)) held.add(part)
        expect(held.done()).toEqual(boundOf(bytes))
      }),
      { numRuns: 1_000 },
    )
  })

  it('does not grow with the number of its parts', async () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const parts = 10_000
    const held = new ByteBuffer(parts)
    const added = Array.from({ length: parts }, () => {
      const part = Buffer.of(65)
      held.add(part)
      return new WeakRef(part)
    })
    // A reference keeps its part until the turn in which it was made ends.
    await turns()
    gc()
    expect(added.filter((part) => part.deref()).length).toBeLessThan(10)
    expect((held.done() as Buffer).length).toBe(parts)
  })

  it('changes neither what came nor what was yielded', async () => {
    const chunks = ['one\ntw', 'o\nth', 'ree'].map((text) => Buffer.from(text))
    const lines = await all(linesOf(chunks, 100))
    expect(lines.map(String)).toEqual(['one\n', 'two\n', 'three'])
    expect(chunks.map(String)).toEqual(['one\ntw', 'o\nth', 'ree'])
  })
})

import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import type { SpillRecord, SpillSlice, SpillStore } from 'spillway'
import type { TestRunner } from 'spillway/testing'

/** Lines of all kinds: empty, long, wide, and the last one without an end. */
const TEXT = [
  ...Array.from({ length: 400 }, (_, at) =>
    at % 7 === 0 ? '' : `line ${at} of ${'漢字 😀 é '.repeat(at % 5)}`,
  ),
  'x'.repeat(9_000),
  'Überall: the LAST line',
].join('\n')

const bytesOf = (text: string) => Buffer.from(text)

export function testSpillStore(make: () => SpillStore | Promise<SpillStore>, { test }: TestRunner): void {
  for (const [name, run] of Object.entries(TESTS)) test(name, async () => run(await make()))
}

const TESTS: Readonly<Record<string, (store: SpillStore) => Promise<void>>> = {
  async 'saves texts, bytes and chunks alike'(store) {
    const bytes = bytesOf(TEXT)
    const records = [await store.save(TEXT), await store.save(bytes), await store.save(chunks(bytes, 1_000))]
    for (const record of records) {
      const { bytes, lines, complete, path } = record
      deepEqual({ bytes, lines, complete }, { bytes: bytesOf(TEXT).length, lines: 402, complete: true })
      equal(typeof path, 'string')
      equal(await whole(store, record), TEXT)
    }
    equal(new Set(records.map(({ id }) => id)).size, 3, 'each output has an id of its own')
  },

  async 'names an output by 16 hexadecimal digits'(store) {
    const { id } = await store.save('a')
    ok(/^[0-9a-f]{16}$/.test(id), `${JSON.stringify(id)} is no id`)
  },

  async 'saves what is empty'(store) {
    for (const empty of ['', new Uint8Array(0), chunks(new Uint8Array(0), 1)]) {
      const record = await store.save(empty)
      deepEqual([record.bytes, record.lines, record.complete], [0, 0, true])
      equal(await whole(store, record), '')
    }
  },

  async 'keeps text well-formed'(store) {
    equal(await whole(store, await store.save('a\ud800b')), 'a\ufffdb')
    equal(await whole(store, await store.save(new Uint8Array([0x61, 0xff, 0x62]))), 'a\ufffdb')
  },

  async 'asks for chunks one after another'(store) {
    let open = 0
    const slow: AsyncIterable<Uint8Array> = {
      async *[Symbol.asyncIterator]() {
        for (let at = 0; at < 5; at++) {
          open += 1
          await new Promise(setImmediate)
          equal(open, 1, 'a chunk was asked for while another one was')
          open -= 1
          yield bytesOf(`chunk ${at}\n`)
        }
      },
    }
    equal(await whole(store, await store.save(slow)), 'chunk 0\nchunk 1\nchunk 2\nchunk 3\nchunk 4\n')
  },

  async 'keeps nothing of chunks that end in an error, and rejects with that error'(store) {
    const before = idsOf(await store.list())
    const failure = new Error('the producer failed')
    async function* failing() {
      yield bytesOf('a first chunk\n'.repeat(9_000))
      throw failure
    }
    await rejects(store.save(failing()), (error) => error === failure)
    deepEqual(idsOf(await store.list()), before)
  },

  async 'has pages by byte that make up the output'(store) {
    const { id } = await store.save(TEXT)
    for (const maxBytes of [1, 7, 100, 40_960]) {
      let [text, at]: [string, number | undefined] = ['', 0]
      // The smallest pages of a long text would take long.
      const most = maxBytes < 100 ? 60 : Number.POSITIVE_INFINITY
      for (let pages = 0; at !== undefined && pages < most; pages++) {
        const page: SpillSlice = await store.read(id, { byte: at, maxBytes })
        equal(page.byte, at)
        equal(page.line, linesBefore(text) + 1)
        equal(page.totalBytes, bytesOf(TEXT).length)
        equal(page.totalLines, 402)
        ok(
          page.text !== '' && bytesOf(page.text).length <= Math.max(maxBytes, 4),
          `${page.text.length} chars`,
        )
        text += page.text
        at = page.nextByte
        equal(at ?? bytesOf(TEXT).length, bytesOf(text).length)
      }
      equal(text, TEXT.slice(0, text.length))
      if (most === Number.POSITIVE_INFINITY) equal(text, TEXT)
    }
  },

  async 'has pages by line that make up the output'(store) {
    const { id } = await store.save(TEXT)
    let [text, line]: [string, number | undefined] = ['', 1]
    while (line !== undefined) {
      const page: SpillSlice = await store.read(id, { line, lines: 50 })
      equal(page.line, line)
      equal(page.byte, bytesOf(text).length)
      ok(linesBefore(page.text) <= 50)
      text += page.text
      line = page.nextLine
      if (line !== undefined) equal(linesBefore(text), line - 1)
    }
    equal(text, TEXT)
    const fifth = await store.read(id, { line: 5, lines: 2 })
    equal(fifth.text, `${TEXT.split('\n').slice(4, 6).join('\n')}\n`)
  },

  async 'has empty pages beyond the end'(store) {
    const { id } = await store.save('a\nb\n')
    for (const range of [{ line: 3 }, { line: 1_000_000 }, { byte: 4 }, { byte: 1_000_000 }]) {
      const { text, nextLine, nextByte } = await store.read(id, range)
      deepEqual({ text, nextLine, nextByte }, { text: '', nextLine: undefined, nextByte: undefined })
    }
  },

  async 'finds lines, with lines around them, where pages have them'(store) {
    const { id } = await store.save(TEXT)
    const lines = TEXT.split('\n')
    const [found, ...others] = await store.search(id, 'line 100 of', { context: 2 })
    deepEqual(others, [])
    deepEqual([found?.line, found?.text], [101, lines[100]])
    deepEqual([found?.before, found?.after], [lines.slice(98, 100), lines.slice(101, 103)])
    const { text } = await store.read(id, { byte: found?.byte ?? 0 })
    ok(text.startsWith('line 100 of'), 'byte is where the match begins')
    equal((await store.search(id, 'no such words')).length, 0)
    const first = await store.search(id, 'line ', { max: 3 })
    const next = await store.search(id, 'line ', { max: 1, line: (first[2]?.line ?? 0) + 1 })
    deepEqual(
      [...first, ...next].map(({ line }) => line),
      [2, 3, 4, 5],
    )
  },

  async 'reads a pattern as a text, as an expression, and without regard to case'(store) {
    const { id } = await store.save('a.c\nabc\nÜBER\n')
    const linesOf = async (pattern: string, options = {}) =>
      (await store.search(id, pattern, options)).map(({ line }) => line)
    deepEqual(await linesOf('a.c'), [1])
    deepEqual(await linesOf('a.c', { regex: true }), [1, 2])
    deepEqual(await linesOf('^[ab]+c$', { regex: true }), [2])
    deepEqual(await linesOf('über'), [])
    deepEqual(await linesOf('über', { ignoreCase: true }), [3])
    await rejects(store.search(id, '(', { regex: true }), hasCode)
  },

  async 'lists outputs, the oldest first'(store) {
    const records: SpillRecord[] = []
    for (const text of ['one', 'two', 'three']) {
      records.push(await store.save(text))
      // Engines tell the age of outputs by a clock.
      await new Promise((done) => setTimeout(done, 20))
    }
    const own = new Set(idsOf(records))
    deepEqual(
      (await store.list()).filter(({ id }) => own.has(id)),
      records,
    )
  },

  async 'sweeps nothing that is to be retained'(store) {
    const records = [await store.save('one'), await store.save('two')]
    const { removed, bytes } = await store.sweep({ retain: idsOf(records) })
    ok(Number.isSafeInteger(removed) && Number.isSafeInteger(bytes) && removed >= 0 && bytes >= 0)
    equal(await whole(store, records[0] as SpillRecord), 'one')
    equal(await whole(store, records[1] as SpillRecord), 'two')
  },

  async 'saves and reads many at once, beside sweeps'(store) {
    const texts = Array.from({ length: 24 }, (_, at) => `output ${at}\n`.repeat(500 * (at + 1)))
    const saved = await Promise.all(
      texts.map(async (text, at) => {
        if (at % 6 === 0) await store.sweep()
        return store.save(at % 2 ? text : chunks(bytesOf(text), 4_096), { tool: 'bash', callId: `c${at}` })
      }),
    )
    equal(new Set(idsOf(saved)).size, texts.length)
    deepEqual(await Promise.all(saved.map((record) => whole(store, record))), texts)
  },

  async 'rejects what is no id of an output, with a code'(store) {
    const { id, path } = await store.save('a')
    const others = [
      '',
      '0000000000000000',
      `${id}x`,
      id.slice(1),
      '../../etc/passwd',
      path,
      `./${id}`,
      `${id}\0`,
      '*',
    ]
    for (const other of others) {
      if (other === id) continue
      await rejects(store.read(other), hasCode, `read(${JSON.stringify(other)})`)
      await rejects(store.search(other, 'a'), hasCode, `search(${JSON.stringify(other)})`)
    }
  },
}

/** Returns an output, page by page. */
async function whole(store: SpillStore, { id }: SpillRecord): Promise<string> {
  let [text, at]: [string, number | undefined] = ['', 0]
  while (at !== undefined) {
    const page: SpillSlice = await store.read(id, { byte: at })
    ok(page.nextByte === undefined || page.nextByte > at, 'a page that leads to another one is not empty')
    text += page.text
    at = page.nextByte
  }
  return text
}

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const idsOf = (records: readonly SpillRecord[]) => records.map(({ id }) => id)

const linesBefore = (text: string) => text.split('\n').length - 1

function hasCode(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string'
}

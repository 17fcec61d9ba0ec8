import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import type { SpillRecord, SpillSlice, SpillStore } from 'spillway'
import type { StoreLimits, TestRunner } from 'spillway/testing'

/** Lines of all kinds: empty, long, wide, and the last one without an end. */
const TEXT = [
  ...Array.from({ length: 400 }, (_, at) =>
    at % 7 === 0 ? '' : `line ${at} of ${'漢字 😀 é '.repeat(at % 5)}`,
  ),
  'x'.repeat(9_000),
  'Überall: the LAST line',
].join('\n')

const bytesOf = (text: string) => Buffer.from(text)

type Make = (limits: StoreLimits) => SpillStore | Promise<SpillStore>

export function testSpillStore(make: Make, { test }: TestRunner): void {
  for (const [name, run] of Object.entries(TESTS)) test(name, async () => run(await make({}), make))
}

const TESTS: Readonly<Record<string, (store: SpillStore, make: Make) => Promise<void>>> = {
  async 'saves texts, bytes and chunks alike'(store) {
    const bytes = bytesOf(TEXT)
    const records = [await store.save(TEXT), await store.save(bytes), await store.save(chunks(bytes, 1_000))]
    for (const record of records) {
      const { bytes, lines, complete, path } = record
      deepEqual({ bytes, lines, complete }, { bytes: bytesOf(TEXT).length, lines: 402, complete: true })
      equal(typeof path, 'string')
      equal(await whole(store, record), TEXT)
    }
    const others = [await store.save('another'), await store.save('one more')]
    const ids = new Set(idsOf([...records, ...others]))
    ok(ids.size >= 3, 'each of three outputs has an id of its own')
    for (const { id } of records) ok(!idsOf(others).includes(id), 'another output has another id')
  },

  async 'names an output by 16 hexadecimal digits'(store) {
    const { id } = await store.save('a')
    ok(/^[0-9a-f]{16}$/.test(id), `${JSON.stringify(id)} is not an id`)
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
    async function* failing(chunks: number) {
      for (let at = 0; at < chunks; at++) yield bytesOf('a chunk of a log\n'.repeat(18_000))
      throw failure
    }
    for (const chunks of [0, 1, 4])
      await rejects(store.save(failing(chunks)), (error) => error === failure, `after ${chunks} chunks`)
    deepEqual(idsOf(await store.list()), before)
    const [, saved] = await Promise.all([
      rejects(store.save(failing(2)), (error) => error === failure),
      store.save(TEXT),
    ])
    equal(await whole(store, saved), TEXT, 'a save that fails does not harm another')
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

  async 'keeps the first part of what is over its quota, and says so'(_, make) {
    const all = bytesOf(TEXT)
    // The last one ends inside a sequence, if it is kept to the byte.
    for (const maxFileBytes of [0, all.length - 1, all.length, all.indexOf('漢') + 1]) {
      const store = await make({ maxFileBytes })
      for (const given of [TEXT, all, chunks(all, 1_000)]) {
        const record = await store.save(given)
        const { id, bytes, lines, complete } = record
        deepEqual({ bytes, lines }, { bytes: all.length, lines: 402 }, 'the record counts the full output')
        const { totalBytes, totalLines } = await store.read(id)
        equal(complete, totalBytes === all.length, 'complete is what holds the full output')
        const kept = all.subarray(0, totalBytes).toString()
        equal(await whole(store, record), kept)
        equal(totalLines, linesBefore(kept) + Number(kept !== '' && !kept.endsWith('\n')))
        for (const range of [{ byte: totalBytes }, { line: totalLines + 1 }]) {
          const { text, nextByte } = await store.read(id, range)
          deepEqual([text, nextByte], ['', undefined], 'nothing follows what is kept')
        }
        const found = await store.search(id, 'l', { max: 1_000 })
        const has = (kept: string) => kept.split('\n').filter((line) => line.includes('l')).length
        equal(found.length, has(kept), 'what is kept is searched')
        deepEqual(
          (await store.list()).find((listed) => listed.id === id),
          record,
        )
      }
    }
  },

  async 'sweeps by size what is not to be retained, and counts it'(_, make) {
    const store = await make({ maxTotalBytes: 2_500 })
    const records: SpillRecord[] = []
    for (const letter of 'abcd') {
      records.push(await store.save(letter.repeat(1_000)))
      await new Promise((done) => setTimeout(done, 20))
    }
    await sweeps(store, records, [records[0] as SpillRecord])
    await sweeps(store, records, [])
  },

  async 'sweeps by age what is not to be retained, and counts it'(_, make) {
    const start = performance.now()
    const store = await make({ maxAge: 1 })
    const records = [await store.save('one'), await store.save('two'), await store.save('three')]
    await new Promise((done) => setTimeout(done, 20))
    await sweeps(store, records, records.slice(1, 2), start)
  },

  async 'rejects arguments that are wrong, with a code, and goes on'(store) {
    const before = idsOf(await store.list())
    async function* words() {
      yield 'words' as unknown as Uint8Array
    }
    const wrong: unknown[] = [undefined, null, 42, {}, words()]
    for (const given of wrong) await rejects(store.save(given as string), hasCode, `save(${String(given)})`)
    deepEqual(idsOf(await store.list()), before)
    const { id } = await store.save('a\nb\n')
    for (const name of ['line', 'byte', 'lines', 'maxBytes'])
      for (const value of [-1, 1.5, Number.NaN, '1', ...(name === 'byte' ? [] : [0])])
        await rejects(store.read(id, { [name]: value }), hasCode, `read, ${name}: ${JSON.stringify(value)}`)
    for (const pattern of ['', 'a\nb', undefined as unknown as string])
      await rejects(store.search(id, pattern), hasCode, `search(${JSON.stringify(pattern)})`)
    for (const pattern of ['(', '[', 'a{9999999}', '*'])
      await rejects(store.search(id, pattern, { regex: true }), hasCode, `search(/${pattern}/)`)
    for (const options of [{ max: 0 }, { max: -1 }, { context: -1 }, { line: 0 }, { line: 1.5 }])
      await rejects(store.search(id, 'a', options), hasCode, `search, ${JSON.stringify(options)}`)
    equal((await store.read(id)).text, 'a\nb\n')
    equal((await store.search(id, 'b')).length, 1)
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

  async 'rejects a text that is not the id of an output, with a code'(store) {
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

/** Sweeps a store, and compares what is gone afterwards with what the sweep says. Engines that
 *  expire outputs by themselves count in seconds: later than that after `start`, an output may be
 *  gone without a sweep. */
async function sweeps(
  store: SpillStore,
  records: readonly SpillRecord[],
  retained: readonly SpillRecord[],
  start?: number,
): Promise<void> {
  const before = await store.list()
  const { removed, bytes } = await store.sweep({ retain: idsOf(retained) })
  const after = new Set(idsOf(await store.list()))
  const gone = before.filter(({ id }) => !after.has(id))
  const texts = await Promise.all(retained.map((record) => whole(store, record).catch(() => undefined)))
  if (start === undefined || performance.now() - start < 900) {
    deepEqual(
      texts.map((text) => text?.length),
      retained.map(({ bytes }) => bytes),
      'what is to be retained is still there',
    )
    equal(removed, gone.length, 'removed counts what is gone')
    // Of an output that is not complete, less was stored than the record counts.
    const sum = (all: SpillRecord[]) => all.reduce((sum, { bytes }) => sum + bytes, 0)
    ok(
      bytes <= sum(gone) && bytes >= sum(gone.filter(({ complete }) => complete)),
      `${bytes} bytes, not ${sum(gone)}`,
    )
  }
  for (const { id } of records.filter(({ id }) => !after.has(id))) {
    await rejects(store.read(id), hasCode, 'an output that was removed cannot be read')
    await rejects(store.search(id, 'a'), hasCode, 'an output that was removed cannot be searched')
  }
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

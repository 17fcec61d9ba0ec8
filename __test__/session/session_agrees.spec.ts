// biome-ignore-all lint/suspicious/noExplicitAny: rows of thirteen frameworks
/**
 * The promise of both readers of results, of live objects and of stored rows: the same results are
 * found, a model reads the same texts, and all else stays as it was. Side data and members that no
 * dialect knows are valid JSON within their bytes; how each reader shortens them is its own.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import {
  type ClampEvent,
  clampMessages,
  clampResult,
  inspectSession,
  type Keep,
  type MessagesPolicy,
  type RepairOptions,
  type ResultPolicy,
  repairSession,
  wrapTool,
} from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { histories } from '../support/histories.js'
import { effective, failingLog, hostileText, limits, searching } from '../support/hostile.js'
import { longForMost } from '../support/long.js'
import { fragmentsOf, payload, planted } from '../support/payloads.js'
import { samples } from '../support/samples.js'

const dir = mkdtempSync(join(tmpdir(), 'spillway-session-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let files = 0

/** The rows that a repair leaves of these, and its report. */
async function repaired(rows: readonly unknown[], options: RepairOptions = {}) {
  const path = join(dir, `${files++}.jsonl`)
  const text = rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join('')
  writeFileSync(path, text)
  const report = await repairSession(path, { backup: false, ...options })
  const after = readFileSync(path, 'utf8')
  expect(report.bytesAfter).toBe(Buffer.byteLength(after))
  expect(report.changed).toBe(after !== text)
  // Cut lines may be alike, and then a cleaning folds them.
  if (!options.clean) {
    const again = await repairSession(path, { backup: false, ...options })
    expect(again, 'repairing twice is repairing once').toMatchObject({ changed: false, clamped: 0 })
  }
  const left = after.split('\n').slice(0, -1)
  expect(left).toHaveLength(rows.length)
  return { report, text: after, path, rows: left.map((row) => JSON.parse(row) as any) }
}

/** A value as a reader of the file would have it. */
const stored = (value: unknown): any => JSON.parse(JSON.stringify(value))

/** Of a value alone nothing is asked, but of a row of a file. */
const PLAIN = { notice: 'hint', sideData: 'whole', query: false } as const

async function expectAgreement(
  values: readonly object[],
  given: ResultPolicy,
  names: readonly string[] = [],
) {
  const policy = { ...PLAIN, ...given }
  const rows = values.map(stored)
  const expected = rows.map((row) => stored(clampMessages([row], policy).messages[0]))
  const { rows: left } = await repaired(rows, policy)
  for (const [at, row] of left.entries()) expect(row, names[at] ?? `row ${at}`).toEqual(expected[at])
}

const line = 'a line of output é\n'
// Every line brings a name, so that only a search for failures keeps the error.
const filler = Array.from({ length: 9_000 }, (_, at) => `filler_${at.toString(36)} 漢字\n`)
const log = `first\n${filler.slice(0, 4_500).join('')}error: it broke here\n${filler.slice(4_500).join('')}last\n`

describe('what of a block of MCP is neither text nor payload', () => {
  const long = `file:///${'long/'.repeat(9_000)}`
  const resource = (uri: string, text = 'a') => ({ type: 'resource', resource: { uri, text } })
  const link = (uri: string, name = 'a') => ({ type: 'resource_link', uri, name })

  it.each([
    ['the address of a resource', resource(long)],
    [
      'the type of a resource',
      { type: 'resource', resource: { ...resource('a:').resource, mimeType: long } },
    ],
    ['the address of bytes', { type: 'resource', resource: { uri: long, blob: 'aGk=' } }],
    ['the address of a link', link(long)],
    ['the name of a link', link('a:', long)],
    ['the type of a link', { ...link('a:'), mimeType: long }],
    ['the type of an image', { type: 'image', data: 'aGk=', mimeType: long }],
  ])('is bounded: %s', { tags: 'long' }, async (_, block) => {
    for (const content of [[block], [{ type: 'text', text: log }, block]]) {
      const clamped = clampResult({ content }, { maxBytes: 5_000 })
      expect(Buffer.byteLength(JSON.stringify(clamped))).toBeLessThan(6_000)
      // A client asks for all members of a block.
      const kinds = (value: unknown) =>
        JSON.stringify(value, (_, part) => (typeof part === 'string' ? '' : part))
      expect(kinds(clamped)).toBe(kinds({ content }))
      const { rows } = await repaired([{ content }], { ...PLAIN, maxBytes: 5_000 })
      expect(Buffer.byteLength(JSON.stringify(rows[0]))).toBeLessThan(6_000)
    }
  })

  it('has no size as long as it is short', async () => {
    const content = Array.from({ length: 99 }, (_, at) => [
      resource(`file:///a/b/${at}`),
      link(`a:${at}`),
    ]).flat()
    const result = { content }
    expect(clampResult(result, { maxBytes: 200 })).toBe(result)
    await expectAgreement([{ content: [...content, { type: 'text', text: log }] }], {})
  })

  it.each([
    ['an empty text', { type: 'text', text: '' }],
    ['an empty resource', resource('', '')],
    ['a link', link('', '')],
    ['an image', { type: 'image', data: '', mimeType: '' }],
  ])('is bounded in any number of blocks: %s', { tags: 'long' }, async (_, block) => {
    const content: unknown[] = Array.from({ length: 20_000 }, () => block)
    content[5] = { type: 'text', text: 'read' }
    const clamped = clampResult({ content }, { maxBytes: 5_000 })
    expect(clamped.content.length).toBeLessThan(3_000)
    expect(clamped.content).toContainEqual({ type: 'text', text: 'read' })
    await expectAgreement([{ content }], { maxBytes: 5_000 })
    const few = { content: content.slice(0, 2_000) }
    expect(clampResult(few, { maxBytes: 5_000 })).toBe(few)
  })
})

describe('all samples in one file', () => {
  const nameOf = ({ dialect, name }: (typeof samples)[number]) => `${dialect}: ${name}`

  /** One file for each text: a failure names the sample. */
  async function expectSamplesToAgree(texts: readonly string[], policy: ResultPolicy) {
    for (const text of texts)
      await expectAgreement(
        samples.map(({ make }) => make(text)),
        policy,
        samples.map(nameOf),
      )
  }

  // Every slot on its own, and all together; few and many that go.
  it.each<ResultPolicy>([
    { share: 'each', maxBytes: 300 },
    {},
    { maxBytes: 5, share: 'order', notice: false },
    { maxChars: 40, notice: 'count' },
    { maxLineBytes: 60, clean: true },
  ])('have the same slots for both readers under %j', { tags: 'long' }, async (policy) => {
    await expectSamplesToAgree([line.repeat(4), line.repeat(4_000), log], policy)
  })

  it('have the same slots for both readers where equal lines meet in the cut', async () => {
    const met = `same\nsame\n${line.repeat(90)}same\nsame\n`
    for (const maxChars of [20, 45, 90])
      await expectSamplesToAgree([met], { maxChars, keep: 'ends', notice: false, clean: true })
  })

  it('have the same slots for both readers where only blanks of a cleaned text fit', async () => {
    for (const text of ['\0\n漢字', '\0\nabcdefghij', '\0\n'])
      await expectSamplesToAgree([text], { maxBytes: 1, clean: true })
  })

  it('have the same copies beside the text', async () => {
    for (const sideData of [{ maxBytes: 700 }, 'drop'] as const)
      await expectSamplesToAgree([line.repeat(900)], { sideData })
  })
})

describe.each(
  samples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
)('%s', (_, sample) => {
  it('has the same ids, tools and error flags', { tags: longForMost(samples, sample) }, async () => {
    const value = stored(sample.make(log))
    const events: ClampEvent[] = []
    await wrapTool({ execute: async () => value }, { onClamp: (event) => events.push(event) }).execute()
    const { path, text } = await repaired([value], { ...PLAIN, maxBytes: 1e9, maxLines: 1e9 })
    const { largest, ...report } = await inspectSession(path, { top: 99 })
    const named = ({ callId, tool }: { callId?: string; tool?: string }) => `${callId} ${tool}`
    expect(largest.map(named).sort()).toEqual(events.map(named).sort())
    expect(report.toolResults).toBe(events.length)
    expect(report.oversized).toBe(events.length)
    const chars = (sizes: { chars: number }[]) => sizes.map(({ chars }) => chars).sort()
    expect(chars(largest)).toEqual(chars(events.map(({ total }) => total)))
    expect(text).toBe(`${JSON.stringify(value)}\n`)
    // 'auto' keeps findings of an error, and of anything else relevant lines beside them.
    const kept = async (keep: Keep) => sample.texts((await repaired([value], { ...PLAIN, keep })).rows[0])[0]
    const [auto, findings, relevant] = [await kept('auto'), await kept('findings'), await kept('relevant')]
    const failed = sample.error ?? sample.saysFailed
    if (!sample.json && failed) expect(auto).toEqual(findings)
    if (!sample.json && !failed) expect(auto).not.toEqual(findings)
    expect(findings).not.toEqual(relevant)
  })
})

const json = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  hostileText.map((text) => ({ output: text, rows: [text, { deep: [text] }], n: 12.5, '7': text })),
  hostileText,
)

/** Messages of all kinds around hostile texts and data. */
const message = fc.oneof(
  fc.tuple(hostileText, hostileText, json, fc.boolean()).map(([one, other, details, isError]): object => ({
    role: 'toolResult',
    toolCallId: one,
    content: [
      { type: 'text', text: one },
      { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      { type: 'text', text: other, cache_control: { type: 'ephemeral' } },
    ],
    details,
    isError,
  })),
  fc.tuple(fc.nat(samples.length - 1), hostileText).map(([at, text]) => samples[at]?.make(text) as object),
  fc
    .tuple(fc.nat(samples.length - 1), json)
    .map(([at, value]) => samples[at]?.make(JSON.stringify(value)) as object),
  fc.tuple(fc.nat(samples.length - 1), failingLog).map(([at, text]) => samples[at]?.make(text) as object),
  fc.tuple(fc.constantFrom('json', 'error-json'), json).map(([type, value]) => ({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: 'c', toolName: 't', output: { type, value } }],
  })),
  fc.tuple(json, json).map(([output, error]) => ({
    role: 'user',
    parts: [{ functionResponse: { name: 'f', response: { output, error } } }],
  })),
  fc.tuple(json, hostileText).map(([value, text]) => ({
    role: 'user',
    content: [
      { toolResult: { toolUseId: 'c', content: [{ text }, { json: value }, { json: value, text }] } },
    ],
  })),
  fc.array(fc.tuple(hostileText, fc.boolean()), { maxLength: 6 }).map((blocks) => ({
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: blocks.map(([text, nested]) =>
          nested
            ? { type: 'search_result', source: 's', content: [{ type: 'text', text }], providerOptions: {} }
            : { type: 'text', text, cache_control: { type: 'ephemeral' } },
        ),
      },
    ],
  })),
  fc.tuple(json, fc.boolean()).map(([data, asText]) => ({
    type: 'local_shell_call_output',
    id: 'c',
    output: asText
      ? typeof data === 'string'
        ? data
        : `data: ${JSON.stringify(data)}`
      : JSON.stringify(data),
  })),
  fc.tuple(hostileText, json).map(([content, artifact]) => {
    const fields = { type: 'tool', content, tool_call_id: 'c', artifact }
    return { ...fields, lc_kwargs: { ...fields } }
  }),
  fc.tuple(json, fc.array(json, { maxLength: 2 })).map(([structuredContent, texts]) => ({
    structuredContent,
    content: texts.map((text) => ({ type: 'text', text: JSON.stringify(text) })),
  })),
  fc
    .jsonValue({ maxDepth: 4 })
    .filter((value): value is object => typeof value === 'object' && value !== null),
)

const policies = fc
  .tuple(
    fc.oneof(limits, searching),
    fc.record(
      {
        keep: fc.constantFrom('head', 'tail', 'ends', 'findings', 'relevant', 'auto'),
        share: fc.constantFrom('fair', 'order', 'each'),
        sideData: fc.oneof(fc.constantFrom('whole', 'drop'), fc.record({ maxBytes: fc.nat(300) })),
        snap: fc.constantFrom('line', 'char'),
        headShare: fc.double({ min: 0, max: 1, noNaN: true }),
        clean: fc.constantFrom(true, false, { ansi: false }, { repeats: false, control: false }),
        isError: fc.boolean(),
        json: fc.constantFrom('text', 'keep-shape'),
        structured: fc.constantFrom('both', 'text', 'structured'),
        schema: fc.constantFrom(
          {},
          { items: { required: ['a'] } },
          { properties: { rows: { minItems: 1 } } },
        ),
        source: fc.constantFrom('stdout', 'ausgäbe'),
        notice: fc.constantFrom('hint', 'pi', 'count', false, '<{omittedChars:,} of {totalLines}>'),
      },
      { requiredKeys: [] },
    ),
  )
  .map(([limits, rest]) => ({ ...limits, ...effective(rest) }) as ResultPolicy)

describe('a file of messages', () => {
  it('comes to what clampMessages makes of each alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 1, maxLength: 5 }), policies, (messages, policy) =>
        expectAgreement(messages, policy),
      ),
      { numRuns: 400 },
    )
  })

  it('comes to what clampMessages makes of all', async () => {
    const aggregate = fc.record(
      {
        maxChars: fc.oneof(fc.nat(60), fc.nat(3_000)),
        order: fc.constantFrom('oldest', 'newest'),
        protectNewest: fc.boolean(),
        minKeepChars: fc.constantFrom(0, 5, 100),
      },
      { requiredKeys: ['maxChars'] },
    )
    const answer = fc
      .constantFrom({}, { stopReason: 'error' }, { finish_reason: 'error' }, { stop_reason: 'end_turn' })
      .map((end) => ({ role: 'assistant', content: [{ type: 'text', text: 'I see.' }], ...end }))
    const turn = fc
      .tuple(fc.constantFrom(...histories), hostileText, hostileText, fc.oneof(hostileText, failingLog))
      .map(([{ make }, ...texts]) => make(...texts))
    const one = fc.oneof({ weight: 3, arbitrary: message }, { weight: 1, arbitrary: answer })
    const history = fc
      .array(
        fc.oneof(
          one.map((one) => [one]),
          turn,
        ),
        { minLength: 1, maxLength: 8 },
      )
      .map((turns) => turns.flat())
    await fc.assert(
      fc.asyncProperty(history, policies, aggregate, async (messages, policy, aggregate) => {
        const options = {
          notice: 'pi',
          sideData: { maxBytes: 8_192 },
          ...policy,
          aggregate,
        } as MessagesPolicy
        const rows = messages.map(stored)
        const expected = stored(clampMessages(rows, options).messages)
        const path = join(dir, `${files++}.jsonl`)
        writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
        await repairSession(path, {
          backup: false,
          sideData: { maxBytes: 8_192 },
          ...policy,
          aggregate,
        } as RepairOptions)
        const left = readFileSync(path, 'utf8').split('\n').slice(0, -1)
        expect(left.map((row) => JSON.parse(row))).toEqual(expected)
      }),
      { numRuns: 300 },
    )
  })

  it('asks what clampMessages asks', async () => {
    const letter = (digit: string) => String.fromCharCode(97 + Number.parseInt(digit, 20))
    const nameOf = (at: number) => (at * 7_919 + 12_345_678).toString(20).replace(/./g, letter)
    const lines = Array.from({ length: 600 }, (_, at) => `entry ${at} is about the ${nameOf(at)}\n`).join('')
    const word = fc.oneof(
      fc.integer({ min: 100, max: 500 }).map(nameOf),
      fc.constantFrom('漢字', '\ud800', '{"a":1}', '[]', ' ["'),
    )
    const words = fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join(' '))
    const turn = fc
      .tuple(fc.constantFrom(...histories), words, words)
      .map(([{ make }, said, asked]) => make(said, asked, lines))
    const turns = fc.array(turn, { minLength: 1, maxLength: 4 }).map((turns) => turns.flat())
    let [runs, moved] = [0, 0]
    await fc.assert(
      fc.asyncProperty(turns, fc.boolean(), async (messages, isWrapped) => {
        const policy = { keep: 'relevant', maxChars: 2_000 } as const
        const rows = messages.map(stored)
        const expected = stored(clampMessages(rows, policy).messages)
        const wrap = (message: object) =>
          isWrapped ? { type: 'message', id: 'm', parentId: null, message } : message
        const header = isWrapped ? [{ type: 'session', version: 3, id: 's' }] : []
        const { rows: left } = await repaired([...header, ...rows.map(wrap)], policy)
        expect(left.slice(header.length)).toEqual(expected.map(wrap))
        const alone = stored(clampMessages(rows, { ...policy, query: false }).messages)
        runs += 1
        moved += Number(JSON.stringify(alone) !== JSON.stringify(expected))
      }),
      { numRuns: 150 },
    )
    expect(moved, 'questions matter').toBeGreaterThan(runs / 2)
  })

  it('counts what the notice of an earlier cut will tell, however much is kept beside it', async () => {
    const result = (id: string, length: number) => ({
      role: 'tool',
      tool_call_id: id,
      content: id.repeat(length),
    })
    const rows = [result('a', 110), result('b', 11_950)]
    for (let maxChars = 2_050; maxChars < 2_160; maxChars += 10) {
      const options = { notice: 'pi', maxBytes: 2_036, aggregate: { maxChars } } as const
      const left = (await repaired(rows, options)).rows
      expect(left).toEqual(clampMessages(rows, options).messages)
    }
  })

  it('leaves side data of every shape within its bytes', async () => {
    const data = fc.oneof(
      fc.jsonValue({ maxDepth: 6 }),
      fc.array(json, { maxLength: 30 }),
      fc.dictionary(fc.oneof(fc.string(), fc.nat(30).map(String)), json, { maxKeys: 30 }),
      fc.record({ spillway: json, '[...]': json, rest: json }),
    )
    await fc.assert(
      fc.asyncProperty(data, fc.nat(900), async (details, maxBytes) => {
        const message = { role: 'toolResult', content: 'ok', details }
        const {
          rows: [left],
        } = await repaired([message], { ...PLAIN, sideData: { maxBytes } })
        const sizeOf = (data: unknown) => (data === undefined ? 0 : Buffer.byteLength(JSON.stringify(data)))
        if (sizeOf(stored(details)) <= maxBytes) expect(left).toEqual(stored(message))
        else expect(sizeOf(left.details)).toBeLessThanOrEqual(maxBytes)
      }),
      { numRuns: 400 },
    )
  })

  it('cuts a string of JSON in side data to JSON, as live data is cut', async () => {
    const inner = fc.oneof(
      fc.array(json, { minLength: 1, maxLength: 30 }),
      fc.dictionary(fc.string(), json, { minKeys: 1, maxKeys: 30 }),
      fc.string({ minLength: 20, maxLength: 900 }),
      fc.record({
        status: fc.string(),
        task: fc.record({ output: fc.string({ minLength: 200, maxLength: 900 }) }),
      }),
    )
    await fc.assert(
      fc.asyncProperty(
        inner,
        fc.integer({ min: 60, max: 900 }),
        fc.boolean(),
        async (value, maxBytes, isNested) => {
          const text = JSON.stringify(isNested ? JSON.stringify(value) : value)
          const details = { exitCode: 1, text }
          const message = stored({ role: 'toolResult', content: 'ok', details })
          const policy = { ...PLAIN, sideData: { maxBytes } }
          const {
            rows: [left],
          } = await repaired([message], policy)
          expect(left).toEqual(stored(clampMessages([message], policy).messages[0] as object))
          const cut = left.details?.text
          if (typeof cut === 'string') expect(() => JSON.parse(cut)).not.toThrow()
        },
      ),
      { numRuns: 300 },
    )
  })

  it('agrees on payloads, which are omitted whole', async () => {
    const size = fc.tuple(fc.integer({ min: 768, max: 9_000 }), fc.nat())
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...samples),
        fc.array(size, { minLength: 1, maxLength: 4 }),
        fc.nat(4_000),
        fc.constantFrom<ResultPolicy>(
          { maxBytes: 2_000 },
          { maxBytes: 6_000, share: 'order' },
          { maxChars: 300, keep: 'findings', notice: false },
          { maxTokens: 400, keep: 'ends' },
          { maxLineBytes: 90, share: 'each' },
        ),
        async (sample, sizes, maxBytes, limits) => {
          const message = stored(sample.make('a line\n'.repeat(20)))
          const encoded = message.type === 'local_shell_call_output' ? JSON.parse(message.output) : undefined
          const payloads = sizes.map(([bytes, at]) =>
            planted(encoded ?? message, payload(`${bytes} ${at}`, bytes), at, sample.json),
          )
          if (encoded) message.output = JSON.stringify(encoded)
          const policy = { ...PLAIN, sideData: { maxBytes }, ...limits } as const
          const { text, rows } = await repaired([message], policy)
          expect(fragmentsOf(payloads, text)).toEqual([])
          // A block with the text may be dropped.
          const texts = (value: object) => {
            try {
              return sample.texts(value)
            } catch {
              return []
            }
          }
          // A list with blocks of other dialects is plain data: alive it is cut as data, and a row
          // stays a row.
          const alive = clampResult(message, policy) as unknown
          const asText: unknown = clampResult(message, { ...policy, json: 'text' })
          if (typeof asText === 'string' && typeof message !== 'string') return
          expect(texts(rows[0])).toEqual(texts(stored(alive as object)))
          expect(texts(stored(clampResult(rows[0], policy))), 'nothing is left to cut').toEqual(
            texts(rows[0]),
          )
        },
      ),
      { numRuns: 200 },
    )
  })

  it('agrees on what is a payload', async () => {
    const sign = fc.constantFrom('A', 'QUJD', '0a', 'zZ9', '+/', '-_', '=', ' ', 'é', '\\')
    const run = fc.tuple(sign, fc.nat(900), fc.array(sign, { maxLength: 4 }))
    const raw = fc.oneof(
      run.map(([one, times, rest]) => one.repeat(times) + rest.join('')),
      fc.tuple(run, fc.nat(6)).map(([[one, times], cut]) => `${one.repeat(times)}zZ9+${'='.repeat(cut % 4)}`),
    )
    const url = fc
      .tuple(
        fc.constantFrom('data:', 'DATA:', 'x:'),
        fc.constantFrom('a/b', '', 'é', 'a b'),
        raw,
        fc.boolean(),
      )
      .map(([scheme, type, raw, isBase64]) => `${scheme}${type}${isBase64 ? ';base64' : ''},${raw}`)
    const name = fc.constantFrom('mimeType', 'mime_type', 'mediaType', 'media_type', 'format', 'type')
    const medium = fc.constantFrom(
      'audio/wav',
      'text/plain',
      'a/b/c',
      'wav',
      'input_audio',
      'json',
      '',
      'é/a',
      5,
    )
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(name, medium, { maxKeys: 2 }),
        fc.oneof(raw, url),
        fc.nat(200),
        async (said, data, maxChars) => {
          const json = { ...said, list: [{ ...said, data }], data }
          const content = [{ toolResult: { toolUseId: 'c', content: [{ json }] } }]
          await expectAgreement([{ role: 'user', content }], { maxChars })
        },
      ),
      { numRuns: 200 },
    )
  })

  it('agrees on what is a line of its own that an earlier cut left', async () => {
    const clean = { ansi: false, carriageReturns: false, control: false }
    for (const mark of ['[...]', '[+12 chars]'])
      for (const before of ['head', 'head\n', 'head\r', 'head\u0085', ''])
        for (const after of ['\n', '\r\n', '\r', '\u0085', ' '])
          await expectAgreement(
            [{ role: 'tool', content: `${before}${mark}${after}${'same\n'.repeat(4)}` }],
            { clean },
          )
  })

  it('agrees on texts that are read in windows', { tags: 'long' }, async () => {
    const long = `${'😀漢 text\n'.repeat(400_000)}error: at the end }`
    const failed = `${'x'.repeat(5_000_000)}\nerror: here\n${'a line é\n'.repeat(800_000)}\ndone`
    for (const text of [long, failed])
      for (const policy of [{ keep: 'findings' }, { keep: 'tail', maxBytes: 400_000 }, {}] as const)
        await expectAgreement([{ role: 'tool', tool_call_id: 'c', content: text }], policy)
    await expectAgreement(
      [{ role: 'tool', content: [long, failed].map((text) => ({ type: 'text', text })) }],
      { keep: 'findings' },
    )
  })
})

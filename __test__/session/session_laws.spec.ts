import { isUtf8 } from 'node:buffer'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { clampResult, inspectSession, type RepairOptions, repairSession } from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'
import { chance, partsOf, spelled, without } from '../support/rows.js'

const dir = mkdtempSync(join(tmpdir(), 'spillway-laws-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let files = 0

/** The kind of each row of a file, and its bytes as a string of one char each, with its line
 *  end. */
interface Row {
  readonly kind: 'result' | 'other' | 'broken' | 'blank'
  readonly bytes: string
  readonly end: string
}

const latin = (text: string) => Buffer.from(text).toString('latin1')

/** Something shows at both ends, so that no block goes. */
const text = fc
  .tuple(hostileText, fc.constantFrom(1, 1, 1, 40))
  .map(([text, times]) => `<${text.repeat(times)}>`)

const bytesOf = fc
  .tuple(
    fc.constantFrom('', '', '\x80', '\xff', '\xe2\x82', '\xed\xa0\x80', '\xe2\x80\xa8'),
    fc.integer(),
    fc.constantFrom('pi', 'claude', 'plain', 'list'),
    text,
    text,
    fc.jsonValue({ maxDepth: 3 }),
  )
  .map(([strange, seed, shape, one, other, data]): Row => {
    const by = chance(seed)
    const message = {
      role: 'toolResult',
      toolCallId: `call_${seed}`,
      toolName: 'bash',
      content: by.is(0.3)
        ? one
        : [
            { type: 'text', text: one, textSignature: 'MARK' },
            { type: 'image', data: 'aGk=', mimeType: 'image/png' },
            { type: 'text', text: other },
          ],
      details: by.is(0.5) ? data : { small: 'MARK', large: other, n: 1e21, deep: [[data]] },
      isError: by.is(0.3),
      timestamp: 1_700_000_000_000,
    }
    const around = { parentId: null, unknown: { data, text: one, zero: -0, 'ö\u2028': 0.1 } }
    const claude = [{ type: 'tool_result', tool_use_id: 'c', content: one }]
    const row = {
      pi: { type: 'message', id: 'a1', ...around, message },
      claude: {
        type: 'user',
        ...around,
        message: { role: 'user', content: claude },
        toolUseResult: by.is(0.5) ? one : data,
      },
      plain: message,
      list: { role: 'user', content: [{ type: 'text', text: one }, ...claude] },
    }[shape]
    const source = spelled(row, by)
      .replace('"MARK"', () => by.one(['1e400', '-0']))
      .replaceAll(
        /(?<![\d.])1e\+21(?!\d)/g,
        by.one(['1E+21', '1000000000000000000000', '1e400', '-1E-7', '0.10']),
      )
    const bytes = latin(source).replace(latin('é'), () => latin('é') + strange)
    // Some agents read no file with a row that is not UTF-8, so such a row is damaged.
    const kind = isUtf8(Buffer.from(bytes, 'latin1')) ? 'result' : 'broken'
    return { kind, bytes, end: by.one(['\n', '\n', '\r\n']) }
  })

const others = fc
  .tuple(
    fc.constantFrom(
      '{"type":"session","version":3,"id":"s","cwd":"/"}',
      '{"type":"compaction","summary":"s","firstKeptEntryIndex":2}',
      `{"role":"user","content":"${'long '.repeat(2_000)}"}`,
      `{"role":"assistant","content":[{"type":"text","text":"${'x'.repeat(9_000)}"}]}`,
      `${'['.repeat(20_000)}1e400${']'.repeat(20_000)}`,
      `{"role":"user","other":${'{"a":'.repeat(9_000)}-0${'}'.repeat(9_000)}}`,
      '7',
      '"text"',
      `[${'{},'.repeat(4_000)}null]`,
    ),
    fc.constantFrom('\n', '\r\n', ' \n'),
  )
  .map(([bytes, end]): Row => ({ kind: 'other', bytes, end }))

const broken = fc
  .tuple(
    bytesOf,
    fc.double({ min: 0.01, max: 0.99, noNaN: true }),
    fc.constantFrom('', '\0'.repeat(5_000), '}', '"', 'NaN', `${'x'.repeat(9_000)}\0`, '\u00ef\u00bb\u00bf'),
  )
  .map(([{ bytes }, share, after]): Row => {
    const cut = bytes.slice(0, Math.floor(bytes.length * share))
    return { kind: 'broken', bytes: `{${cut.replaceAll('\n', '')}${after}`, end: '\n' }
  })
  .filter(({ bytes }) => !isJson(bytes))

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const blank = fc.constantFrom('', ' ', '\t', '\r').map((bytes): Row => ({ kind: 'blank', bytes, end: '\n' }))

const file = fc.record({
  rows: fc.array(
    fc.oneof(
      { weight: 5, arbitrary: bytesOf },
      { weight: 2, arbitrary: others },
      { weight: 1, arbitrary: broken },
      { weight: 1, arbitrary: blank },
    ),
    { minLength: 1, maxLength: 9 },
  ),
  mark: fc.constantFrom('', '', '\xef\xbb\xbf'),
  torn: fc.boolean(),
})

const options = fc.record({
  maxChars: fc.constantFrom(600, 1_200, 3_000),
  // The question comes from the rows before, which clampResult does not see.
  query: fc.constant(false as const),
  keep: fc.constantFrom('head', 'tail', 'ends', 'findings', 'auto'),
  snap: fc.constantFrom('line', 'char'),
  notice: fc.constantFrom('hint', 'pi', 'count', false),
  sideData: fc.constantFrom({ maxBytes: 120 }, { maxBytes: 900 }, 'drop', 'whole'),
}) as fc.Arbitrary<RepairOptions>

/** The places of a row where something may be cut; side data that is dropped goes as often as it is
 *  there. */
const isText = (path: string) =>
  /^(message\.)?(content|content\.\d+\.text|details|content\.\d+\.content|content\.\d+\.content\.\d+\.text)$/.test(
    path,
  )
const mayChange = (row: string) => {
  const isBlocks = (path: string) =>
    /(^|\.)content$/.test(path) &&
    partsOf(row).some(({ path: other, start }) => other.join('.') === path && row[start] === '[')
  return (path: string) =>
    (isText(path) && !isBlocks(path)) || /^(!?toolUseResult|(message\.)?!?details)$/.test(path)
}

/** A row without its parts that may change; one that was dropped takes its name and a comma
 *  along. */
function rest(row: string): string {
  const left = without(row, mayChange(row))
  return left.replaceAll(/[\s,]*"(\\u[0-9a-fA-F]{4}|[a-zA-Z\\])*"\s*:\s*#/g, '').replaceAll(/\{\s*,/g, '{')
}

describe('whatever a file holds', () => {
  it('keeps all bytes but those that are cut', async () => {
    await fc.assert(
      fc.asyncProperty(file, options, async ({ rows, mark, torn }, options) => {
        const path = join(dir, `${files++}.jsonl`)
        const last = rows.at(-1) as Row
        const all = rows.map(({ bytes, end }, at) => bytes + (torn && at === rows.length - 1 ? '' : end))
        const before = mark + all.join('')
        writeFileSync(path, before, 'latin1')
        const seen = await inspectSession(path, options)
        const isTorn = torn && last.bytes !== ''
        const report = await repairSession(path, { backup: false, ...options })
        const after = readFileSync(path, 'latin1')
        const counted = rows.filter(({ kind }) => kind !== 'blank').length
        // Both agree on files that are not sessions, and leave them alone. So does a repair of a
        // file that begins like another text, if at least half of it is not JSON.
        const count = (kind: string) => rows.filter((row) => row.kind === kind).length
        const isOther = rows.find(({ kind }) => kind !== 'blank')?.kind === 'broken'
        const isHalf = count('broken') >= count('result') + count('other')
        const isUnknown = report.reason === 'format unknown'
        if (!isUnknown || !isOther || !isHalf)
          expect(isUnknown).toBe(seen.format === 'unknown' && counted > 0)
        if (isUnknown) {
          expect(report).toMatchObject({ changed: false, tornTail: false, bytesAfter: before.length })
          expect(after).toBe(before)
          return
        }
        expect(report).toMatchObject({
          rows: counted,
          tornTail: isTorn,
          bytesBefore: before.length,
          bytesAfter: after.length,
          changed: after !== before,
        })
        expect(seen).toMatchObject({
          rows: counted,
          bytes: before.length,
          damaged: rows.filter(({ kind }) => kind === 'broken').length,
        })
        expect(report.damaged).toBeLessThanOrEqual(seen.damaged)

        expect(after.startsWith(mark)).toBe(true)
        const left = after.slice(mark.length).split('\n')
        expect(left.pop()).toBe('')
        expect(left).toHaveLength(rows.length - Number(torn && !isTorn))
        for (const [at, row] of left.entries()) {
          const { kind, bytes, end } = rows[at] as Row
          const isLast = torn && at === rows.length - 1
          const given = bytes + (isLast ? '' : end.slice(0, -1))
          if (row === given) continue
          expect(kind).toBe('result')
          expect(row.endsWith('\r')).toBe(given.endsWith('\r'))
          expect(rest(row)).toBe(rest(given))
          expectCut(given, row, options)
        }

        const again = await repairSession(path, { backup: false, ...options })
        expect(again).toMatchObject({ changed: false, clamped: 0, damaged: report.damaged })
        expect(readFileSync(path, 'latin1')).toBe(after)
      }),
      { numRuns: 300 },
    )
  })
})

/** A cut text is what `clampResult` makes of it, and texts that it leaves alone keep their
 *  spelling. */
function expectCut(before: string, after: string, options: RepairOptions): void {
  const [was, is] = [before, after].map((row) => JSON.parse(Buffer.from(row, 'latin1').toString()))
  const inner = ({ message = undefined, ...row }) => message ?? row
  const made = clampResult(inner(was), { notice: 'pi', sideData: 'cap', ...options } as RepairOptions)
  // How many digits a number has is for whoever wrote it to say, so side data is measured as it is
  // spelled.
  const shown = (result: object) => JSON.stringify({ ...result, details: undefined })
  expect(shown(inner(is))).toBe(shown(made))
  for (const { path, start, end } of partsOf(after))
    if (
      /^((message\.)?details|toolUseResult)$/.test(path.join('.')) &&
      typeof options.sideData === 'object'
    ) {
      const source = Buffer.from(after.slice(start, end), 'latin1').toString()
      if (!before.includes(after.slice(start, end)))
        expect(source.length).toBeLessThanOrEqual(options.sideData.maxBytes)
    }
  const sources = new Map(
    partsOf(before).map(({ path, start, end }) => [path.join('.'), before.slice(start, end)]),
  )
  for (const { path, start, end } of partsOf(after)) {
    if (/details|toolUseResult/.test(path.join('.'))) continue
    const source = after.slice(start, end)
    const given = sources.get(path.join('.'))
    if (given === undefined || given === source || source[0] !== '"' || given[0] !== '"') continue
    const [then, now] = [given, source].map((source) => JSON.parse(Buffer.from(source, 'latin1').toString()))
    expect(now, `${path.join('.')} is spelled otherwise`).not.toBe(then)
  }
}

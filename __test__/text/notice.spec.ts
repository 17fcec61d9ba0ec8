import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import {
  applyPlan,
  type Cut,
  clampMessages,
  clampResult,
  clampText,
  clampTextWithReport,
  createSpillStore,
  type Keep,
  OutputCapture,
  precheck,
  repairSession,
  wrapTool,
  wrapTools,
} from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { hostileText, limits } from '../support/hostile'

const ASK = 'ask for less, or for specific sections'
const PAGES = 'request smaller chunks (offset/limit) or specific sections'
const BIG = 'x'.repeat(60_000)

/** Name of a limit in a notice. */
const NAMES: Record<Cut['exceeded'][number], RegExp> = {
  bytes: /^[\d,]+(?:B|KB|MB)$/,
  lines: /^[\d,]+ lines$/,
  chars: /^[\d,]+ chars$/,
  tokens: /^[\d,]+ tokens$/,
  lineBytes: /^[\d,]+B a line$/,
}

function namedIn(notice: string): string[] {
  const [, named = ''] = /omitted \(limit ([^()]*)\); /.exec(notice) ?? []
  return named.split(' or ')
}

describe("the notice 'hint'", () => {
  it('names the limits that were broken, with digits grouped, and says what can be done', {
    tags: 'long',
  }, () => {
    const lines = 'a line\n'.repeat(30_000)
    const cases = [
      [BIG, { maxTokens: 90_000 }, `60,000 chars omitted (limit 50KB); ${ASK}]`],
      [BIG, { maxChars: 1_500 }, `60,000 chars omitted (limit 50KB or 1,500 chars); ${ASK}]`],
      [lines, { maxBytes: 1e6 }, `210,000 chars omitted (limit 2,000 lines); ${ASK}]`],
      [lines, {}, `210,000 chars omitted (limit 50KB or 2,000 lines); ${ASK}]`],
      [lines, { maxTokens: 1_000 }, '(limit 50KB or 2,000 lines or 1,000 tokens); '],
      // These are too long to be handed over whole, and only the start of them breaks no limit but
      // one.
      [lines.repeat(9), {}, '1,890,000 chars omitted (limit 50KB or 2,000 lines); '],
      [`${BIG}\n`.repeat(2_100), {}, '(limit 50KB or 2,000 lines); '],
      [`${BIG}\n`.repeat(1_999), {}, '(limit 50KB); '],
      ['漢'.repeat(300_000), { maxBytes: 600_000, maxChars: 1_000 }, '(limit 600,000B or 1,000 chars); '],
      ['a '.repeat(200_000), { maxTokens: 30_000 }, '(limit 50KB or 30,000 tokens); '],
      ['-'.repeat(400_000), { maxTokens: 60_000 }, '(limit 50KB); '],
    ] as const
    for (const [text, policy, told] of cases) {
      for (const keep of ['head', 'tail', 'ends'] as const) {
        expect(clampText(text, { ...policy, keep })).toContain(told)
        const bytes = clampText(Buffer.from(text), { ...policy, keep })
        expect(bytes).toMatch(/ of [\d,]+ bytes omitted \(limit /)
        expect(namedIn(bytes)).toEqual(namedIn(told.includes('omitted') ? told : `omitted ${told}`))
        const row = clampResult(
          { content: [text, 'small'].map((text) => ({ type: 'text', text })) },
          { ...policy, keep },
        )
        expect(row.content.map(({ text }) => text).join('')).toContain(
          `${told.slice(told.indexOf('(limit '))}`,
        )
      }
    }
  })

  it('names those limits, and no others, that the report says were exceeded', () => {
    fc.assert(
      fc.property(
        hostileText,
        limits,
        fc.constantFrom<Keep>('head', 'tail', 'ends', 'findings', 'relevant'),
        (text, limits, keep) => {
          const { notice, exceeded } = clampTextWithReport(text, { ...limits, keep })
          if (!notice.startsWith('[tool output')) return
          const named = exceeded.filter((name) => name !== 'lineBytes' || exceeded.length === 1)
          const told = namedIn(notice)
          expect(told).toHaveLength(named.length)
          for (const [at, name] of named.entries()) expect(told[at]).toMatch(NAMES[name])
          const template = clampTextWithReport(text, { ...limits, keep, notice: '{source} ({limits})' })
          if (template.notice.startsWith('output'))
            expect(template.notice).toBe(`output (${told.join(' or ')})`)
        },
      ),
    )
  })

  it('asks a wrapped tool for a part by the parameters that it has', () => {
    const called = { execute: () => BIG }
    const shape = { limit: { _def: {} } }
    const hostile = Object.defineProperty({}, 'properties', {
      get() {
        throw new Error('not for you')
      },
    })
    for (const [schema, advice] of [
      [{ type: 'object', properties: { offset: { type: 'number' } } }, PAGES],
      [{ type: 'object', properties: { path: {}, limit: {} } }, PAGES],
      [{ shape }, PAGES],
      [shape, PAGES],
      [{ jsonSchema: { properties: { limit: {} } }, validate() {} }, PAGES],
      [{ type: 'object', properties: { path: { type: 'string', limit: 9 } } }, ASK],
      [{ limit: () => 1 }, ASK],
      [hostile, ASK],
      [new Proxy({}, { get: () => expect.fail('read') }), ASK],
      [undefined, ASK],
      ['offset', ASK],
    ] as const) {
      for (const name of ['parameters', 'inputSchema', 'schema']) {
        const tool = { ...called, [name]: schema }
        expect(wrapTool(tool).execute()).toContain(`; ${advice}]`)
        expect(wrapTools([tool])[0]?.execute()).toContain(`; ${advice}]`)
      }
    }
    const tool = { ...called, parameters: shape }
    const once = wrapTool(tool, { maxBytes: 900, keep: 'head' })
    expect(once.execute()).toMatch(/^x+\n\n\[tool output truncated: [^\n]*; request smaller chunks/)
    expect(clampResult(BIG)).toContain(`; ${ASK}]`)
    expect(wrapTool(() => BIG)()).toContain(`; ${ASK}]`)
  })

  it('of a function says of bytes what it says of a string', () => {
    const notice = ({ omittedChars, keptLines }: Cut) => `${omittedChars} not in ${keptLines}`
    fc.assert(
      fc.property(hostileText, limits, fc.constantFrom('head', 'tail', 'ends'), (text, limits, keep) => {
        const given = text.toWellFormed()
        const policy = { ...limits, keep, notice } as const
        expect(clampText(Buffer.from(given), policy)).toBe(clampText(given, policy))
      }),
      { numRuns: 1_000 },
    )
    // The head has more bytes than chars.
    const text = '漢字かな交じり文'.repeat(2)
    expect(clampText(Buffer.from(text), { keep: 'ends', maxTokens: 12, notice })).toBe(
      '漢\n\n14 not in 1-1\n\n文',
    )
  })

  it('of an earlier wording is known when a text is cut again', () => {
    for (const old of [
      '[tool output truncated: 940000 of 1000000 chars omitted (limit 50KB or 2000 lines); request smaller chunks (offset/limit) or specific sections]',
      '[tool output truncated: 940000 of 1000000 chars omitted (limit 50KB or 2000 lines); full output saved as /tmp/a.txt, read or search it there]',
      '[tool output truncated: 940,000 of 1,000,000 chars omitted (limit 50KB); full output saved as /tmp/a.txt, read or search it there or with read_output]',
      '[tool output truncated: 940,000 of 1,000,000 chars omitted (limit 2,000 lines); ask for less, or for specific sections]',
    ]) {
      const twice = clampText(`${BIG}\n\n${old}`, { keep: 'head' })
      expect(twice).toMatch(/ of 1,000,000 chars omitted \(limit 50KB\); /)
      expect(twice.match(/truncated/g)).toHaveLength(1)
    }
  })

  const dir = join(mkdtempSync(join(tmpdir(), 'spillway-')), 'é, a')
  afterAll(() => rmSync(dirname(dir), { recursive: true }))

  it('names the saved output of an earlier cut, whatever is cut again and however', async () => {
    const line = fc.constantFrom('error: no such file', 'GET /api took 12 ms', '', '漢字 😀')
    const text = fc
      .array(line, { minLength: 900, maxLength: 1_200 })
      .map((lines) => lines.map((line, at) => `${at + 1_000} ${line}`).join('\n'))
    const keep = fc.constantFrom(...KEEPS)
    const law = fc.asyncProperty(
      text,
      keep,
      keep,
      fc.boolean(),
      fc.integer({ min: 600, max: 3_000 }),
      async (text, first, second, isPath, maxChars) => {
        const spill = createSpillStore({ dir, reference: isPath ? 'path' : 'id' })
        const once = await wrapTool(async () => text, { keep: first, maxChars: 4_000, spill })()
        const [advice = ''] = /full output saved as .*(?: read_output| it there)\]/.exec(once) ?? []
        expect(advice).toMatch(
          isPath ? /as .*é, a.*, read or search it there/ : /as [0-9a-f]{16}, page or search/,
        )
        const policy = { keep: second, maxChars }
        const block = clampResult({ content: [{ type: 'text', text: once }] }, policy)
        for (const twice of [
          clampText(once, policy),
          String(clampText(Buffer.from(once), policy)),
          clampResult(once, policy),
          block.content[0]?.text,
          clampText(clampText(once, { ...policy, maxChars: maxChars + 200 }), policy),
        ])
          expect(twice).toContain(advice)
        // The line after 'pi' is a part of the notice, whatever cuts the text again.
        const [, name = ''] = / saved as (.*), (?:page|read) or search/.exec(advice) ?? []
        const line = `more characters truncated]\n[Full output: ${name}]`
        const pi = { ...policy, notice: 'pi' } as const
        const [{ content } = { content: '' }] = clampMessages(
          [{ role: 'tool', tool_call_id: 'c', content: once }],
          pi,
        ).messages
        for (const twice of [clampText(once, pi), String(clampText(Buffer.from(once), pi)), content]) {
          expect(twice).toContain(line)
          expect(twice.length).toBeLessThanOrEqual(maxChars)
          expect(clampText(twice, pi)).toBe(twice)
          const shorter = clampText(twice, { ...pi, maxChars: twice.length - 150 })
          expect(shorter.split('[Full output: ')).toHaveLength(2)
          expect(shorter).toContain(line)
          const third = clampText(shorter, { ...policy, maxChars: shorter.length - 50 })
          expect([advice, line].some((said) => third.includes(said))).toBe(true)
          const told = (text: string) => Number(/(\d+) more characters/.exec(text)?.[1])
          expect(told(shorter)).toBeGreaterThan(told(twice))
        }
        const bare = clampText(once, { ...pi, maxChars: 60 })
        expect(bare.length).toBeLessThanOrEqual(60)
      },
    )
    await fc.assert(law, { numRuns: 200 })
  })

  it('leaves room for the name in a plan, live and stored', async () => {
    const spill = createSpillStore({ dir, reference: 'id' })
    const log = Array.from({ length: 4_000 }, (_, at) => `${at} a line of a log`).join('\n')
    const content = await wrapTool(async () => log, { spill })()
    const [, id = ''] = / saved as ([0-9a-f]{16}),/.exec(content) ?? []
    const messages = [
      { role: 'tool', tool_call_id: 'a', content },
      { role: 'tool', tool_call_id: 'b', content: log },
      { role: 'assistant', content: 'done' },
    ]
    const aggregate = { maxChars: 200, minKeepChars: 0, protectNewest: false }
    const [first, second] = clampMessages(messages, { aggregate }).messages
    expect(first?.content).toMatch(
      /^\[\.\.\. \d+ more characters truncated\]\n\[Full output: [0-9a-f]{16}\]$/,
    )
    expect(first?.content).toContain(id)
    expect(`${first?.content}${second?.content}`.length).toBeLessThanOrEqual(200)
    const { plan } = precheck({ messages, contextTokens: 300, reserveTokens: 0, aggregate })
    const planned = applyPlan(messages, plan)
    expect(planned[0]?.content).toContain(`[Full output: ${id}]`)
    const file = join(dir, 'session.jsonl')
    writeFileSync(file, messages.map((message) => `${JSON.stringify(message)}\n`).join(''))
    await repairSession(file, { aggregate })
    const [stored = ''] = readFileSync(file, 'utf8').split('\n')
    expect(JSON.parse(stored).content).toBe(first?.content)
  })

  it('names what a wrapped tool saves, where the notice is to be short', async () => {
    const spill = createSpillStore({ dir, reference: 'id' })
    const once = await wrapTool(async () => 'a line\n'.repeat(9_000), { spill, notice: 'pi' })()
    expect(once).toMatch(/more characters truncated\]\n\[Full output: [0-9a-f]{16}\]/)
  })

  it('takes no line for a name that stands elsewhere', () => {
    const line = '[Full output: /tmp/a.log]'
    const pi = '[... 12 more characters truncated]'
    for (const text of [
      `${BIG}\n${line}\n${BIG}`,
      `${pi}\n\n${line}\n${BIG}`,
      `${BIG}\n\n[... 9 lines ...]\n${line}\n\n${BIG}`,
    ])
      expect(clampText(text, { keep: 'head', maxChars: 1_000 })).toContain(`${ASK}]`)
    const two = `${pi}\n[Full output: a]\n${BIG}${pi}\n[Full output: b]`
    expect(clampText(two, { notice: 'pi', maxChars: 1_000 })).not.toContain('Full output')
  })

  it('names a saved output only if it is certain', () => {
    const told = (name: string) =>
      `[tool output truncated: 9 of 70,000 chars omitted (limit 50KB); full output saved as ${name}, page or search it with read_output]`
    const two = `${told('a1')}\n${BIG}\n\n${told('b2')}`
    for (const text of [
      two,
      `${BIG}\n\n${told('c'.repeat(201))}`,
      `${BIG}\n${told('d4')}`,
      `${BIG} ${told('e5')}`,
    ])
      for (const keep of ['ends', 'head'] as const)
        expect(clampText(text, { keep, maxChars: 1_000 })).toContain(`(limit 50KB or 1,000 chars); ${ASK}]`)
  })
})

const KEEPS = ['head', 'tail', 'ends', 'findings', 'relevant', 'auto'] as const
const PI = '[Showing lines 1-1603 of 5000 (50.0KB limit). Use offset=1604 to continue.]'
const CLOSINGS = [
  PI,
  '[12 more lines in file. Use offset=9 to continue.]',
  '[Showing lines 90-99 of 99. Full output: /tmp/pi-bash-1.log]',
  '[Showing lines 90-99 of 99. Full output: /tmp/漢.log]\n\nCommand exited with code 1',
  '"nextCursor": "eyJwYWdlIjoyfQ=="\n}',
]

describe("another tool's word of how to go on", () => {
  it('stays the last line within the limits, in strings, bytes, captures, blocks and under every keep', async () => {
    const lines = Array.from({ length: 1_603 }, (_, at) => `line ${at} error: ${'x'.repeat(20)}`).join('\n')
    const pi = `${lines.slice(0, 51_190)}\n\n${PI}`
    for (const keep of KEEPS) {
      for (const isError of [false, true]) {
        const policy = { keep, isError }
        const out = clampText(pi, policy)
        expect(Buffer.byteLength(out)).toBeLessThanOrEqual(51_200)
        expect(Buffer.byteLength(out)).toBeGreaterThan(50_000)
        expect(out.endsWith(PI)).toBe(true)
        expect(out).toMatch(/ of 51,267 chars omitted \(limit 50KB\); /)
        expect(clampText(out, policy)).toBe(out)
        const twice = clampText(out, { ...policy, maxBytes: 20_000 })
        expect(twice.endsWith(PI)).toBe(true)
        expect(twice).toMatch(/ of 51,267 chars omitted \(limit 20,000B\); /)
        expect(twice.match(/output truncated/g)).toHaveLength(1)
        expect(clampText(Buffer.from(pi), policy)).toBe(out.replace('chars omitted', 'bytes omitted'))
        const capture = new OutputCapture({ ...policy, clean: false })
        capture.stdout.write(pi)
        expect((await capture.finish()).text).toBe(out)
        const { content } = clampResult(
          {
            content: [
              { type: 'text', text: pi },
              { type: 'text', text: 'ok' },
            ],
          },
          policy,
        )
        expect(content[0]?.text.endsWith(PI)).toBe(true)
        expect(clampText(pi, { ...policy, notice: '<{totalLines}>' })).toContain('<5000>')
        const report = clampTextWithReport(pi, policy)
        expect(report.ranges.at(-1)?.[1]).toBe(pi.length)
        expect(report.kept.chars + report.omitted.chars).toBe(pi.length)
      }
    }
  })

  it('changes no limit, whatever stands before it, however often it is cut', () => {
    const closing = fc.constantFrom(...CLOSINGS)
    const cut = fc.record({
      keep: fc.constantFrom(...KEEPS),
      maxChars: fc.integer({ min: 0, max: 900 }),
      notice: fc.constantFrom<false | 'hint' | 'pi' | 'count'>(false, 'hint', 'pi', 'count'),
    })
    fc.assert(
      fc.property(
        hostileText,
        closing,
        fc.array(cut, { minLength: 1, maxLength: 3 }),
        (before, closing, cuts) => {
          let text = `${before}\n\n${closing}`
          for (const policy of cuts) {
            const out = clampText(text, policy)
            expect(out.length).toBeLessThanOrEqual(policy.maxChars)
            expect(out.isWellFormed()).toBe(true)
            expect(clampText(out, policy)).toBe(out)
            if (policy.maxChars >= 450 && text.endsWith(closing)) expect(out.endsWith(closing)).toBe(true)
            text = out
          }
        },
      ),
    )
  })

  it('goes where the limit cannot hold it, and is text where it does not close the text', () => {
    const text = `${'a line\n'.repeat(100)}\n${PI}`
    expect(clampText(text, { maxChars: 60, keep: 'head' })).not.toContain('offset')
    for (const other of [
      `${text}\nmore`,
      text.replace('Use offset=1604', 'Use it'),
      `${BIG}${PI.repeat(4)}`,
    ]) {
      expect(clampText(other, { maxChars: 300, keep: 'head' })).toMatch(/\]$/)
      expect(clampText(other, { maxChars: 300, keep: 'head' })).not.toContain('to continue.]')
    }
  })
})

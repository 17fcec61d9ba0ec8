import * as fc from 'fast-check'
import type { Keep } from 'spillway'

/** Text made of what breaks cuts. */
const piece = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 3, arbitrary: fc.constant('\n') },
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '漢字かな交じり文',
      '😀',
      '👩‍👩‍👧‍👦',
      'é́',
      '\ud83d',
      '\ude00',
      '\r\n',
      '\r',
      '\0',
      '\n\n',
      '\ufeff',
      '[... 123 more characters truncated]',
      '\n\n[tool output truncated: 70 of 90 chars omitted (limit 9B); x]\n\n',
      '... (1,234 chars truncated from x)',
      'error: it failed }',
      '\nerror: no such file\n',
      '{"key": "value", "level": 50}, '.repeat(40),
      'x'.repeat(90),
    ),
  },
)

export const hostileText = fc
  .tuple(fc.array(piece, { maxLength: 40 }), fc.integer({ min: 1, max: 4 }))
  .map(([pieces, times]) => pieces.join('').repeat(times))

const bound = (most: number) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant(Number.POSITIVE_INFINITY) },
    { weight: 1, arbitrary: fc.constantFrom(0, 1, 2) },
    { weight: 4, arbitrary: fc.nat(most) },
  )

/** A log of something that failed: lines that tell of it among many that do not, long ones, wide
 *  ones, old notices. */
export const failingLog = fc
  .array(
    fc.oneof(
      { weight: 8, arbitrary: fc.stringMatching(/^[b-y ]{0,50}$/).map((line) => `${line}\n`) },
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          'error: no such file\n',
          'src/a.ts:12:3 - TypeError: 漢字 is not a function\r\n',
          'FAILED\n    at one\n    at two\n\n',
          '-  was: 1\n+  is: 2\n',
          `${'{"key": "value", "level": 50}, '.repeat(60)}\n`,
          `${'漢😀'.repeat(400)} failed\n`,
          '\ud83d fatal\n',
          'x'.repeat(1_100),
          '\n[tool output truncated: 70 of 90 chars omitted (limit 9B); x]\n\n',
          '[... 123 more characters truncated]',
        ),
      },
    ),
    { minLength: 10, maxLength: 150, size: 'max' },
  )
  .map((lines) => lines.join(''))

/** Policies that search, with limits from a few lines up. */
export const searching = fc.record(
  {
    maxBytes: fc.integer({ min: 0, max: 6_000 }),
    maxLines: fc.integer({ min: 0, max: 100 }),
    maxChars: fc.integer({ min: 0, max: 5_000 }),
    maxTokens: fc.integer({ min: 0, max: 2_000 }),
    needles: fc.constantFrom(['漢'], ['no such needle', 'bb']),
    notice: fc.constantFrom<'hint' | 'pi' | 'count' | false | string>(
      'hint',
      'pi',
      'count',
      false,
      '{keptLines} of {totalLines} ({omittedLines} gone)',
    ),
  },
  { requiredKeys: ['maxBytes'] },
)

/** Limits in every mix, from none to smaller than any notice. */
export const limits = fc.record(
  {
    maxBytes: bound(700),
    maxLines: bound(40),
    maxChars: bound(500),
    maxTokens: bound(200),
    maxLineBytes: bound(120),
  },
  { requiredKeys: [] },
)

const notice = fc.oneof(
  fc.constantFrom<'hint' | 'pi' | 'count' | false>('hint', 'pi', 'count', false),
  fc.constantFrom(
    '<{omittedChars:,} of {totalChars}>',
    '{keptLines} of {totalLines} ({omittedLines} gone)',
    '{omittedBytes}/{totalBytes} of {source}, {limits}{saved}',
  ),
  fc.constantFrom(
    () => 'gone',
    () => '',
    () => 'two\nlines 漢\ud800',
    () => {
      throw new Error('no words')
    },
    () => 5 as unknown as string,
    (cut: { omittedChars: number; keptLines: string }) => `${cut.omittedChars} not in ${cut.keptLines}`,
  ),
)

/** Leaves out the options that have no effect with others of random options, which is an error. */
export function effective<T extends { keep?: string | undefined; json?: string | undefined }>(options: T): T {
  const { keep = 'auto', json } = options
  const useless = ['head', 'tail', 'ends'].includes(keep) ? ['query'] : []
  if (keep !== 'ends') useless.push('headShare')
  if (json === 'text') useless.push('schema')
  return Object.fromEntries(Object.entries(options).filter(([name]) => !useless.includes(name))) as T
}

export const policies = fc
  .tuple(
    limits,
    fc.record(
      {
        keep: fc.constantFrom<Keep>('head', 'tail', 'ends', 'findings', 'relevant', 'auto'),
        needles: fc.constantFrom([], ['a'], ['漢', 'no such needle']),
        query: fc.constantFrom('error 漢字', ['src/a.rs', 'a b c']),
        snap: fc.constantFrom<'line' | 'char'>('line', 'char'),
        headShare: fc.double({ min: 0, max: 1, noNaN: true }),
        isError: fc.boolean(),
        source: fc.constantFrom('stdout', 'ausgäbe'),
        notice,
      },
      { requiredKeys: [] },
    ),
  )
  .map(([limits, rest]) => ({ ...limits, ...effective(rest) }))

export type SomeLimits = {
  maxBytes?: number
  maxLines?: number
  maxChars?: number
  maxTokens?: number
  maxLineBytes?: number
}

/** Counts without the engine. */
export function naive(text: string): { bytes: number; chars: number; lines: number; longest: number } {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n')
  const ended = text.endsWith('\n')
  const contents = lines.map((line, at) => (at < lines.length - 1 || ended ? line.replace(/\r$/, '') : line))
  return {
    bytes: Buffer.byteLength(text),
    chars: text.length,
    lines: lines.length,
    longest: Math.max(0, ...contents.map((line) => Buffer.byteLength(line))),
  }
}

/** Messages that count the reads of their members. */
export function watched<T extends object>(messages: readonly T[]) {
  let reads = 0
  const get = (message: T, name: string | symbol) => {
    reads += 1
    return Reflect.get(message, name)
  }
  return { messages: messages.map((message) => new Proxy(message, { get })), reads: () => reads }
}

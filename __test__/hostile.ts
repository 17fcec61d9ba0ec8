import * as fc from 'fast-check'

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

export const policies = fc
  .tuple(
    limits,
    fc.record(
      {
        keep: fc.constantFrom<'head' | 'tail' | 'ends' | 'auto'>('head', 'tail', 'ends', 'auto'),
        snap: fc.constantFrom<'line' | 'char'>('line', 'char'),
        headShare: fc.double({ min: 0, max: 1, noNaN: true }),
        isError: fc.boolean(),
        source: fc.constantFrom('stdout', 'ausgäbe'),
        notice,
      },
      { requiredKeys: [] },
    ),
  )
  .map(([limits, rest]) => ({ ...limits, ...rest }))

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

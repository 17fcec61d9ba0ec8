import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { formatSize, sliceHead, sliceTail, truncateHead, truncateLine, truncateTail } from 'spillway/pi'
import { describe, expect, it } from 'vitest'

const whole = { truncated: false, truncatedBy: null, firstLineExceedsLimit: false, lastLinePartial: false }
const cut = { ...whole, truncated: true }

/** Cuts in Pi's tests. Cuts of spillway/pi have the fields that they expect. */
const same: [call: string, ours: object, theirs: object][] = [
  [
    'bytes are those of UTF-8',
    truncateHead('ñ漢😀.\n', { maxLines: 5, maxBytes: 50 }),
    { ...whole, content: 'ñ漢😀.\n', totalBytes: 11, outputBytes: 11 },
  ],
  [
    'a final newline is not a line: head',
    truncateHead('1\n2\n', { maxLines: 2 }),
    { ...whole, totalLines: 2, outputLines: 2 },
  ],
  [
    'a final newline is not a line: tail',
    truncateTail('1\n2\n', { maxLines: 2 }),
    { ...whole, totalLines: 2, outputLines: 2 },
  ],
  [
    'a head has whole lines',
    truncateHead('ñañ\nbcd', { maxBytes: 7, maxLines: 5 }),
    { ...cut, content: 'ñañ', truncatedBy: 'bytes', outputBytes: 5, outputLines: 1 },
  ],
  [
    'a first line over the limit',
    truncateHead('ñañ\nbcd', { maxBytes: 4, maxLines: 5 }),
    { ...cut, content: '', truncatedBy: 'bytes', firstLineExceedsLimit: true, outputBytes: 0 },
  ],
  [
    'a tail of one line starts at a char',
    truncateTail('xñ😀yz', { maxBytes: 7, maxLines: 5 }),
    { ...cut, content: '😀yz', truncatedBy: 'bytes', lastLinePartial: true, outputBytes: 6 },
  ],
  [
    'a long line with a final newline keeps its end',
    truncateTail(`${'y'.repeat(70_000)}\n`, { maxBytes: 700, maxLines: 9 }),
    {
      ...cut,
      content: 'y'.repeat(700),
      truncatedBy: 'bytes',
      lastLinePartial: true,
      outputBytes: 700,
      outputLines: 1,
    },
  ],
  [
    'a last char over the limit goes',
    truncateTail('xyz😀', { maxBytes: 2, maxLines: 5 }),
    { ...cut, content: '', truncatedBy: 'bytes', lastLinePartial: true, outputBytes: 0 },
  ],
  ['half a pair goes with its other half: head', [sliceHead('a😀', 2), sliceHead('a😀', 3)], ['a', 'a😀']],
  ['half a pair goes with its other half: tail', [sliceTail('😀a', 2), sliceTail('😀a', 3)], ['a', '😀a']],
  [
    'no limit and no text: lines',
    truncateHead('', { maxLines: -1 }),
    {
      ...cut,
      content: '',
      truncatedBy: 'lines',
      totalLines: 0,
      totalBytes: 0,
      outputLines: 0,
      outputBytes: 0,
    },
  ],
  [
    'no limit and no text: bytes',
    truncateHead('', { maxBytes: -1 }),
    {
      ...cut,
      content: '',
      truncatedBy: 'bytes',
      totalLines: 0,
      totalBytes: 0,
      outputLines: 0,
      outputBytes: 0,
    },
  ],
]

/** Answers that are not those of Pi's tests. */
const other: [call: string, answer: object, ours: object, theirs: object, reason: string][] = [
  [
    'one line over both limits (Pi 0.82)',
    truncateTail('y'.repeat(900), { maxBytes: 100, maxLines: 1 }),
    { content: 'y'.repeat(100), truncatedBy: 'lines', lastLinePartial: true },
    { content: 'y'.repeat(100), truncatedBy: 'bytes', lastLinePartial: true },
    'Pi 1.5.2 says lines',
  ],
  [
    'a lone surrogate in what fits',
    truncateTail('a\ud83d', { maxBytes: 4 }),
    { content: 'a\ufffd', outputBytes: 4 },
    { content: 'a\ud83d', outputBytes: 4 },
    'providers refuse it',
  ],
  [
    'nothing left of a last line',
    truncateTail('😀', { maxBytes: 3 }),
    { content: '', outputLines: 0 },
    { content: '', outputLines: 1 },
    'nothing is not a line',
  ],
]

describe('spillway/pi', () => {
  it.each(same)('answers as Pi: %s', (_, ours, theirs) => {
    expect(ours).toMatchObject(theirs)
  })

  it.each(other)('answers otherwise: %s', (_, answer, ours, theirs) => {
    expect(answer).toMatchObject(ours)
    expect(answer).not.toMatchObject(theirs)
  })

  it.each([
    ['a\nb\nc', { maxLines: 2 }, 'a\nb', 'b\nc'],
    ['a\nb\nc\n', { maxLines: 3 }, 'a\nb\nc\n', 'a\nb\nc\n'],
    ['aa\nbb\ncc', { maxBytes: 4 }, 'aa', 'cc'],
    ['aa\nbb\ncc', { maxBytes: 5 }, 'aa\nbb', 'bb\ncc'],
    [`${'x'.repeat(100)}\n`, { maxBytes: 10 }, '', 'xxxxxxxxxx'],
    ['😀'.repeat(10), { maxBytes: 10 }, '', '😀😀'],
    ['a\nb', { maxLines: 0 }, '', ''],
    ['abc', { maxBytes: 0 }, '', ''],
  ])('cuts %j to %j', (content, options, head, tail) => {
    expect(truncateHead(content, options).content).toBe(head)
    expect(truncateTail(content, options).content).toBe(tail)
  })

  it('tells why and how much', () => {
    expect(truncateHead('漢\n'.repeat(10), { maxLines: 3 })).toEqual({
      content: '漢\n漢\n漢',
      truncated: true,
      truncatedBy: 'lines',
      totalLines: 10,
      totalBytes: 40,
      outputLines: 3,
      outputBytes: 11,
      lastLinePartial: false,
      firstLineExceedsLimit: false,
      maxLines: 3,
      maxBytes: 51_200,
    })
    expect(truncateHead('x'.repeat(99), { maxBytes: 9 })).toMatchObject({
      firstLineExceedsLimit: true,
      truncatedBy: 'bytes',
    })
    expect(truncateTail('x'.repeat(99), { maxBytes: 9 })).toMatchObject({
      lastLinePartial: true,
      outputLines: 1,
    })
    expect(formatSize(51_200)).toBe('50.0KB')
    expect(truncateLine(`${'a'.repeat(499)}😀`)).toEqual({
      text: `${'a'.repeat(499)}... [truncated]`,
      wasTruncated: true,
    })
  })

  it.each([
    ['ab😀cd', 2, 'ab', 'cd'],
    ['ab😀cd', 3, 'ab', 'cd'],
    ['ab😀cd', 4, 'ab😀', '😀cd'],
    ['ab😀cd', 9, 'ab😀cd', 'ab😀cd'],
    ['ab😀cd', Number.POSITIVE_INFINITY, 'ab😀cd', 'ab😀cd'],
    ['ab', 0, '', ''],
    ['ab', -3, '', ''],
    ['', 5, '', ''],
    ['\ude00ab\ud83d', 3, '\ufffdab', 'ab\ufffd'],
  ])('slices %j at %d', (text, maxUnits, head, tail) => {
    expect(sliceHead(text, maxUnits)).toBe(head)
    expect(sliceTail(text, maxUnits)).toBe(tail)
  })

  it.each([
    ['', { maxLines: -1 }, 'lines'],
    ['', { maxBytes: -1 }, 'bytes'],
    ['a\nb', { maxLines: -1 }, 'lines'],
    ['\na\nb', { maxBytes: -2 }, 'bytes'],
  ])('keeps nothing of %j by %j', (content, options, truncatedBy) => {
    for (const truncate of [truncateHead, truncateTail]) {
      const { totalLines, ...result } = truncate(content, options)
      expect(result).toMatchObject({
        content: '',
        truncated: true,
        truncatedBy,
        outputLines: 0,
        outputBytes: 0,
      })
      expect(totalLines).toBe(content.length === 0 ? 0 : content.split('\n').length)
    }
  })

  it('reports a negative limit once', () => {
    const heard: unknown[] = []
    const listen = (warning: unknown) => heard.push(warning)
    subscribe('spillway:warning', listen)
    for (const maxLines of [-11, -12, -11, 3, -12]) truncateHead('a', { maxLines })
    truncateTail('a', { maxBytes: -11 })
    unsubscribe('spillway:warning', listen)
    expect(heard).toEqual([
      { field: 'maxLines', value: -11, used: 0 },
      { field: 'maxLines', value: -12, used: 0 },
      { field: 'maxBytes', value: -11, used: 0 },
    ])
  })

  it.each([Number.NaN, 1.5, '-1', null])('refuses a limit of %j', (wrong) => {
    const limit = wrong as number
    for (const call of [
      () => truncateHead('a', { maxLines: limit }),
      () => truncateTail('a', { maxBytes: limit }),
      () => truncateLine('a', limit),
      () => sliceHead('a', limit),
      () => sliceTail('a', limit),
    ])
      expect(call).toThrow(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
  })
})

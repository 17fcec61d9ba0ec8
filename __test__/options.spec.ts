import {
  clampResult,
  clampText,
  definePolicy,
  sliceUtf16Safe,
  truncateUtf16Safe,
  wrapTool,
  wrapTools,
} from 'spillway'
import { describe, expect, it } from 'vitest'

const any = (value: unknown) => value as never

describe('options', () => {
  const bad: [object, string, string][] = [
    [{ maxBytes: Number.NaN }, 'maxBytes', 'NaN'],
    [{ maxBytes: Number.NEGATIVE_INFINITY }, 'maxBytes', '-Infinity'],
    [{ maxLines: -1 }, 'maxLines', '-1'],
    [{ maxChars: 1.5 }, 'maxChars', '1.5'],
    [{ maxTokens: '50' }, 'maxTokens', '"50"'],
    [{ maxTokens: 5n }, 'maxTokens', '5n'],
    [{ maxLineBytes: null }, 'maxLineBytes', 'null'],
    [{ maxBytes: 2 ** 53 }, 'maxBytes', '9007199254740992'],
    [{ keep: 'middle' }, 'keep', '"middle"'],
    [{ keep: 3 }, 'keep', '3'],
    [{ headShare: 2 }, 'headShare', '2'],
    [{ headShare: Number.NaN }, 'headShare', 'NaN'],
    [{ snap: 'word' }, 'snap', '"word"'],
    [{ isError: 1 }, 'isError', '1'],
    [{ source: 7 }, 'source', '7'],
    [{ needles: 'name' }, 'needles', '"name"'],
    [{ needles: ['name', 7] }, 'needles[1]', '7'],
    [{ needles: [''] }, 'needles[0]', '""'],
    [{ clean: 'yes' }, 'clean', '"yes"'],
    [{ clean: null }, 'clean', 'null'],
    [{ clean: { ansi: 1 } }, 'clean.ansi', '1'],
    [{ notice: 'no field' }, 'notice', '"no field"'],
    [{ notice: '' }, 'notice', '""'],
    [{ notice: '{omittedChars} {nothing}' }, 'notice', '"{nothing}"'],
    [{ notice: '{omittedChars:x}' }, 'notice', '"{omittedChars:x}"'],
    [{ notice: '{source:,}' }, 'notice', '"{source:,}"'],
    [{ notice: true }, 'notice', 'true'],
    [{ ...definePolicy({ maxLines: 5 }), maxLines: -5 }, 'maxLines', '-5'],
  ]

  it.each(bad)('refuses %o with a code, naming field and value', (policy, field, value) => {
    for (const call of [
      () => clampText('', any(policy)),
      () => definePolicy(any(policy)),
      () => wrapTool(() => '', any(policy)),
    ]) {
      try {
        call()
        expect.unreachable()
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
        expect([TypeError, RangeError]).toContain((error as Error).constructor)
        expect(error).toMatchObject({ code: 'ERR_SPILLWAY_OPTION' })
        expect((error as Error).message).toContain(field)
        expect((error as Error).message).toContain(`got ${value}`)
      }
    }
  })

  it('throws a TypeError for a wrong kind and a RangeError for a wrong value', () => {
    for (const policy of [{ maxBytes: '5' }, { keep: 5 }, { notice: true }])
      expect(() => clampText('', any(policy))).toThrow(TypeError)
    for (const policy of [{ maxBytes: -5 }, { keep: 'up' }, { notice: 'x' }])
      expect(() => clampText('', any(policy))).toThrow(RangeError)
    expect(() => sliceUtf16Safe('abc', any(1n))).toThrow(TypeError)
  })

  it('refuses what is no options, no text and no tool', () => {
    const code = expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' })
    for (const policy of [null, 5, 'head', true]) expect(() => clampText('', any(policy))).toThrow(code)
    for (const text of [undefined, null, 5, {}, []]) expect(() => clampText(any(text))).toThrow(code)
    for (const tool of [null, 5, {}, { execute: 5 }]) expect(() => wrapTool(any(tool))).toThrow(code)
    expect(() => wrapTool({ run: () => '' }, { method: 'walk' })).toThrow(code)
    expect(() => wrapTools(any(null))).toThrow(code)
    expect(() => clampResult('', { share: any('none') })).toThrow(code)
    expect(() => clampResult('', { dialect: any('cobol') })).toThrow(code)
    expect(() => truncateUtf16Safe('a', -1)).toThrow(code)
  })

  it('takes undefined for the default, and ignores what is not its own', () => {
    const text = 'x'.repeat(60_000)
    const nothing = {
      maxBytes: undefined,
      maxLines: undefined,
      keep: undefined,
      notice: undefined,
      snap: undefined,
    }
    expect(clampText(text, any(nothing))).toBe(clampText(text))
    expect(clampText(text, any({ colour: 'red' }))).toBe(clampText(text))
  })

  it('reads each option once', () => {
    let reads = 0
    const policy = {
      get maxBytes() {
        reads += 1
        return reads === 1 ? 100 : Number.NaN
      },
    }
    expect(clampText('y'.repeat(200), { ...{}, notice: false, ...policy }).length).toBe(100)
    expect(() => definePolicy(policy)).toThrow()
    expect(reads).toBe(2)
  })
})

describe('definePolicy', () => {
  it('gives a frozen policy with its limits', () => {
    const policy = definePolicy({ maxLines: 5, keep: 'tail' })
    expect(policy).toMatchObject({ maxBytes: 51_200, maxLines: 5, keep: 'tail' })
    expect(Object.isFrozen(policy)).toBe(true)
    expect(clampText('1\n2\n3\n4\n5\n6\n7\n', policy)).toMatch(/truncated[\s\S]*7\n$/)
    const given = { needles: ['name'], clean: { ansi: true } }
    const checked = definePolicy(given)
    given.needles[0] = any(5)
    expect(checked).toMatchObject({ needles: ['name'], clean: { ansi: true } })
    for (const held of [checked.needles, checked.clean]) expect(Object.isFrozen(held)).toBe(true)
  })

  it('takes options that are inherited, as every function does', () => {
    const options = Object.create({ maxChars: 3, notice: false })
    expect(clampText('abcdef', options)).toBe('abc')
    expect(clampText('abcdef', definePolicy(options))).toBe('abc')
  })

  it('counts as checked by identity alone', () => {
    const policy = definePolicy({ maxChars: 3, notice: false })
    expect(clampText('abcd', { ...policy })).toBe('abc')
    expect(() => clampText('abcd', Object.assign(Object.create(policy), { maxChars: -1 }))).toThrow()
    expect(definePolicy()).toMatchObject({ maxBytes: 51_200, maxLines: 2_000 })
  })
})

import {
  applyPlan,
  clampError,
  clampMessages,
  clampResult,
  clampText,
  clearToolResults,
  definePolicy,
  OutputCapture,
  precheck,
  repairSession,
  sanitizeForDisplay,
  wrapTool,
  wrapTools,
} from 'spillway'
import * as daycare from 'spillway/daycare'
import * as openclaw from 'spillway/openclaw'
import * as pi from 'spillway/pi'
import { describe, expect, it } from 'vitest'
import { POLICY } from '../../lib/options.js'
import { OPTIONS as TABLE } from '../../lib/read_options.js'

const any = (value: unknown) => value as never
const capture = (policy: object) => new OutputCapture(policy)
const PROMPT = { messages: [], contextTokens: 1_000, reserveTokens: 100 }

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
    [{ query: 7 }, 'query', '7'],
    [{ query: null }, 'query', 'null'],
    [{ query: ['name', 7] }, 'query[1]', '7'],
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

  const SEARCHES = ['auto', 'findings', 'relevant']
  const ENDS = ['head', 'tail', 'ends']
  it.each([
    ['query', [{ query: 'x' }, { query: ['', 'x'] }, { query: () => 'x' }], 'keep', SEARCHES, ENDS],
    ['headShare', [{ headShare: 0.2 }], 'keep', ['ends'], ['head', 'tail', ...SEARCHES]],
    ['schema', [{ schema: { type: 'object' } }], 'json', ['data', 'keep-shape'], ['text']],
  ])('refuses %s where it has no effect', (option, wishes, other, able, unable) => {
    for (const wish of wishes as object[]) {
      for (const value of able) expect(definePolicy(any({ ...wish, [other]: value }))).toMatchObject(wish)
      for (const value of unable)
        for (const take of [clampText.bind(null, ''), definePolicy, wrapTool.bind(null, () => ''), capture])
          expect(() => take(any({ ...wish, [other]: value }))).toThrow(
            expect.objectContaining({
              name: 'TypeError',
              code: 'ERR_SPILLWAY_OPTION',
              message: expect.stringMatching(
                `^${option} has no effect with ${other} "${value}": set ${other} to .*"${able[0]}"`,
              ),
            }),
          )
    }
  })

  it('lists here all needs of the options of a policy, and refuses a time for a lock that is not taken', async () => {
    const needy = POLICY.names.filter((name) => POLICY.rows[name as keyof typeof POLICY.rows].needs)
    expect(needy.sort()).toEqual(['headShare', 'query', 'schema'])
    await expect(repairSession('none.jsonl', { lock: false, lockTimeout: 5 })).rejects.toThrow(
      'lockTimeout has no effect with lock false: set lock to true, or leave lockTimeout out',
    )
  })

  it('accepts facts, and what asks for nothing, with every keep', () => {
    const nothing = { query: false, headShare: 0.5 } as const
    for (const keep of [...SEARCHES, ...ENDS])
      for (const given of [nothing, { query: [''] }, { isError: true, source: 'log', explain: true }])
        expect(definePolicy(any({ ...given, keep }))).toMatchObject(given)
  })

  it('allows a wrapper whose policy keeps what the inner one does not ask about', () => {
    const inner = wrapTool((_: object) => 'x'.repeat(5_000), { query: 'x' })
    expect(wrapTool(inner, { keep: 'head', maxChars: 900 })({})).toHaveLength(900)
  })

  it('throws a TypeError for a wrong kind and a RangeError for a wrong value', () => {
    for (const policy of [{ maxBytes: '5' }, { keep: 5 }, { notice: true }])
      expect(() => clampText('', any(policy))).toThrow(TypeError)
    for (const policy of [{ maxBytes: -5 }, { keep: 'up' }, { notice: 'x' }])
      expect(() => clampText('', any(policy))).toThrow(RangeError)
    expect(() => openclaw.sliceUtf16Safe('abc', any(1n))).toThrow(TypeError)
  })

  it('refuses options, texts and tools of a wrong type', () => {
    const code = expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' })
    for (const policy of [null, 5, 'head', true]) expect(() => clampText('', any(policy))).toThrow(code)
    for (const text of [undefined, null, 5, {}, []]) expect(() => clampText(any(text))).toThrow(code)
    for (const tool of [null, 5, {}, { execute: 5 }]) expect(() => wrapTool(any(tool))).toThrow(code)
    expect(() => wrapTool({ run: () => '' }, { method: 'walk' })).toThrow(code)
    expect(() => wrapTools(any(null))).toThrow(code)
    expect(() => clampResult('', { share: any('none') })).toThrow(code)
    expect(() => clampResult('', { dialect: any('cobol') })).toThrow(code)
    expect(() => openclaw.truncateUtf16Safe('a', any('1'))).toThrow(code)
  })

  it('takes undefined for the default', () => {
    const text = 'x'.repeat(60_000)
    const nothing = {
      maxBytes: undefined,
      maxLines: undefined,
      keep: undefined,
      notice: undefined,
      snap: undefined,
    }
    expect(clampText(text, any(nothing))).toBe(clampText(text))
  })

  it.each([
    ['maxByte', 'maxBytes'],
    ['maxByets', 'maxBytes'],
    ['max_bytes', 'maxBytes'],
    ['MAXBYTES', 'maxBytes'],
    ['bytes', 'maxBytes'],
    ['maxchars', 'maxChars'],
    ['kep', 'keep'],
    ['ansii', 'ansi'],
    ['toolName', 'tool'],
    ['maxCharacters', 'maxChars'],
    ['max_line', 'maxLines'],
    ['maximumTokens', 'maxTokens'],
    ['limit', undefined],
    ['x', undefined],
    ['colour', undefined],
    ['k'.repeat(1_000_000), undefined],
  ])('refuses %.20s, which may be meant for %s', (name, meant) => {
    const shown = name.length > 60 ? `${name.slice(0, 60)}...` : name
    // If no name is similar, the error lists all.
    const hint =
      meant === undefined ? `expected one of ${TABLE.policy.join(', ')}` : `did you mean \`${meant}\`?`
    const error = { code: 'ERR_SPILLWAY_OPTION', message: `unknown option \`${shown}\`; ${hint}` }
    expect(() => clampText('', any({ [name]: 5 }))).toThrow(expect.objectContaining(error))
  })

  it('refuses the name of an option within another, and says which', () => {
    const error = (meant: string) => ({
      code: 'ERR_SPILLWAY_OPTION',
      message: expect.stringContaining(`did you mean \`${meant}\`?`),
    })
    const throwing = (meant: string) => expect.objectContaining(error(meant))
    expect(() => clampResult('', any({ maxItems: 1 }))).toThrow(throwing('media.maxItems'))
    expect(() => clampMessages([], any({ protectNewest: true }))).toThrow(throwing('aggregate.protectNewest'))
  })

  it('refuses the plural or the singular of an own name, unless that is given too', async () => {
    const error = (name: string, meant: string) =>
      expect.objectContaining({
        code: 'ERR_SPILLWAY_OPTION',
        message: `unknown option \`${name}\`; did you mean \`${meant}\`?`,
      })
    expect(() => new OutputCapture(any({ tools: 'bash' }))).toThrow(error('tools', 'tool'))
    expect(() => precheck(any({ ...PROMPT, tool: [] }))).toThrow(error('tool', 'tools'))
    expect(new OutputCapture(any({ tools: [], tool: 'bash' }))).toBeInstanceOf(OutputCapture)
    expect(precheck(any({ ...PROMPT, tools: [], tool: 'bash' })).route).toBe('fits')
  })

  it('refuses unknown names in prices, steps of a plan and exits', async () => {
    const error = (name: string) =>
      expect.objectContaining({
        code: 'ERR_SPILLWAY_OPTION',
        message: expect.stringContaining(`unknown option \`${name}\`; `),
      })
    expect(() => clearToolResults([], any({ prices: { wrote: 1 } }))).toThrow(error('prices.wrote'))
    expect(() => precheck(any({ ...PROMPT, prices: { wrote: 1 } }))).toThrow(error('prices.wrote'))
    const step = { index: 0, callId: 'c', chars: 3, maxChar: 1 }
    expect(() => applyPlan([{ role: 'tool', tool_call_id: 'c', content: 'abc' }], any([step]))).toThrow(
      error('plan[0].maxChar'),
    )
    await expect(new OutputCapture().finish(any({ code: 1 }))).rejects.toThrow(error('exit.code'))
  })

  it('refuses a misspelt option that is inherited or undefined, and passes over what nobody misspelt', () => {
    const code = expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' })
    expect(() => clampText('', any({ maxByte: undefined }))).toThrow(code)
    expect(() => clampText('', Object.create({ maxByte: 5 }))).toThrow(code)
    expect(() => clampText('', any({ ...definePolicy(), maxByte: 5 }))).toThrow(code)
    class Settings {
      maxChars = 3
      get notice() {
        return false as const
      }
      unrelated() {}
    }
    expect(clampText('abcd', new Settings())).toBe('abc')
    expect(clampText('', any({ [Symbol('maxByte')]: 5 }))).toBe('')
    expect(clampText('', Object.defineProperty({}, 'maxByte', { value: 5 }))).toBe('')
    Object.defineProperty(Object.prototype, 'polluted', {
      enumerable: true,
      configurable: true,
      writable: true,
    })
    try {
      expect(clampText('abcd', { maxChars: 3, notice: false })).toBe('abc')
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted')
    }
  })

  it('says so where a promise or a Map is given for what it holds', () => {
    const promise = Promise.resolve('x'.repeat(60_000))
    for (const [call, message] of [
      [() => clampResult(promise), 'result must be awaited, got a promise'],
      [() => clampResult(Object.fromEntries([['then', () => {}]])), 'result must be awaited, got a promise'],
      [() => sanitizeForDisplay(promise), 'result must be awaited, got a promise'],
      [() => clampText(any(promise)), 'text must be a string or a Uint8Array, got a promise'],
      [() => wrapTools(any(promise)), 'tools must be an array or a record of tools, got a promise'],
      [() => wrapTools(any(new Map())), 'tools must be an array or a record of tools, got a Map'],
      [() => wrapTools(any(new Set())), 'tools must be an array or a record of tools, got a Set'],
      [() => wrapTools(any([].values())), 'tools must be an array or a record of tools, got an object'],
      [() => wrapTools(any({ bash: Promise.resolve() })), 'tools.bash must be an object with one of'],
      [() => wrapTools(any({ name: 'bash' })), 'tools.name must be an object or a function, got "bash"'],
    ] as const)
      expect(call).toThrow(
        expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(message) }),
      )
    // Who asks for a thrown promise, as React does, gets it.
    expect(clampError(promise)).toBe(promise)
  })

  it('passes over what it does not know in the drop-ins, whose hosts pass more', async () => {
    const host = any({ maxByte: 5, colour: 'red' })
    const tool = { name: 'read', execute: () => 'x' }
    expect(pi.truncateHead('x', host).content).toBe('x')
    expect(daycare.stringTruncate('xxxxx', 2, host)).toBe('xx...')
    expect(openclaw.wrapToolWithHardOutputTruncate(tool, host).execute()).toBe('x')
    expect(openclaw.hardTruncateToolPayload('x', host)).toBe('x')
    const promise = Promise.resolve('x')
    expect(openclaw.hardTruncateToolPayload(promise)).toBe(promise)
    const message = { role: 'toolResult', content: [{ type: 'text', text: 'x' }] }
    expect(openclaw.truncateToolResultMessage(message, 5, host)).toBe(message)
    expect(openclaw.sanitizeToolResult('x')).toBe('x')
    openclaw.installSessionToolResultGuard({ appendMessage: () => '' }, host)
    const session = any({ sessionFile: '/nowhere/session.jsonl', contextWindowTokens: 5, colour: 'red' })
    const { reason } = await openclaw.truncateOversizedToolResultsInSession(session)
    expect(reason).not.toContain('option')
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
    const given = { needles: ['name'], query: ['asked'], clean: { ansi: true } }
    const checked = definePolicy(given)
    given.needles[0] = any(5)
    given.query[0] = any(5)
    expect(checked).toMatchObject({ needles: ['name'], query: ['asked'], clean: { ansi: true } })
    for (const held of [checked.needles, checked.query, checked.clean])
      expect(Object.isFrozen(held)).toBe(true)
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

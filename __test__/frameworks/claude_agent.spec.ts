import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { type ClampEvent, createSpillStore, type SpillStore, type WrapPolicy } from 'spillway'
import { type HookInput, spillwayHooks } from 'spillway/claude-agent'
import { describe, expect, it } from 'vitest'
import { place, seq, spillway } from '../support/cli.js'
import { secretValue } from '../support/secret_grammar.js'

const BIG = seq(9_000)
const SECRET = `ghp_${'a1B2'.repeat(9)}`

const eventOf = (tool_name: string, tool_response: unknown, tool_input: unknown = {}): HookInput => ({
  hook_event_name: 'PostToolUse',
  tool_name,
  tool_input,
  tool_response,
})

async function answerTo(event: HookInput, policy?: WrapPolicy) {
  const [matcher] = spillwayHooks(policy).PostToolUse
  const answer = await matcher?.hooks[0]?.(event)
  return answer?.hookSpecificOutput
}

/** Returns the result that replaces that of an event. */
const outputFor = async (event: HookInput, policy?: WrapPolicy) =>
  (await answerTo(event, policy))?.updatedToolOutput

const bash = (stdout: string, more = {}) => ({
  stdout,
  stderr: '',
  interrupted: false,
  isImage: false,
  ...more,
})
const SHAPES: [tool: string, resultOf: (text: string) => unknown][] = [
  ['Bash', (text) => bash(text)],
  ['Read', (content) => ({ type: 'text', file: { filePath: '/a', content, numLines: 9 } })],
  ['Grep', (content) => ({ mode: 'content', filenames: [], content, numLines: 9 })],
  ['mcp__some__tool', (text) => [{ type: 'text', text }]],
]

describe('the hook of the Claude Agent SDK', () => {
  it.each(SHAPES)('answers for %s as the command does', async (tool, resultOf) => {
    const event = eventOf(tool, resultOf(`token = ${SECRET}\n${BIG}`))
    const dir = mkdtempSync(join(place, 'hooks-'))
    const told = await spillway(['hook', 'claude-code', '--redact', '--dir', dir], {
      input: JSON.stringify(event),
      env: { HOME: place, XDG_STATE_HOME: join(place, 'state') },
    })
    const answer = await answerTo(event, { redact: true, spill: createSpillStore({ dir }) })
    expect(answer).toEqual(JSON.parse(told.stdout).hookSpecificOutput)
    expect(JSON.stringify(answer)).toMatch(/truncated/)
    expect(JSON.stringify(answer)).not.toContain(SECRET)
  })

  it.each(SHAPES)('has no answer for a %s that fits', async (tool, resultOf) => {
    expect(await answerTo(eventOf(tool, resultOf('small')))).toBeUndefined()
  })

  it('has no answer to another event', async () => {
    expect(await answerTo({ ...eventOf('Bash', bash(BIG)), hook_event_name: 'PreToolUse' })).toBeUndefined()
  })

  it('redacts each string of a tool whose shape it does not know, and cuts none', async () => {
    const result = { code: 200, pages: [{ url: '/a', body: `key ${SECRET}`, rest: BIG }] }
    const output = await outputFor(eventOf('WebFetch', result), { redact: true })
    expect(JSON.stringify(output)).not.toContain(SECRET)
    expect(output).toEqual({
      code: 200,
      pages: [{ url: '/a', body: expect.stringMatching(/^key /), rest: BIG }],
    })
    expect(await answerTo(eventOf('WebFetch', result))).toBeUndefined()
  })

  it('redacts members beside the text that it cuts', async () => {
    const result = bash(BIG, { returnCodeInterpretation: `set ${SECRET}` })
    const output = await outputFor(eventOf('Bash', result), { redact: true })
    expect(JSON.stringify(output)).not.toContain(SECRET)
    expect(output).toMatchObject({ returnCodeInterpretation: expect.stringMatching(/^set /) })
  })

  it('leaves a page of read_output, and cuts what is larger than any page', async () => {
    const page = 'x'.repeat(900).concat('\n').repeat(45)
    const event = (text: string) => eventOf('mcp__outputs__read_output', [{ type: 'text', text }])
    const dir = mkdtempSync(join(place, 'pages-'))
    const spill = createSpillStore({ dir, reference: 'id' })
    expect(await answerTo(event(page), { spill })).toBeUndefined()
    const output = await outputFor(event(page.repeat(3)), { spill })
    expect(Buffer.byteLength(JSON.stringify(output))).toBeLessThan(53_000)
    expect(readdirSync(dir).filter((name) => name !== 'key')).toEqual([])
  })

  it('cuts the text of the event if the file with the whole output is gone', async () => {
    const result = bash(BIG, { persistedOutputPath: join(place, 'gone.txt'), persistedOutputSize: 90_000 })
    const output = (await outputFor(eventOf('Bash', result))) as { stdout: string }
    expect(Buffer.byteLength(output.stdout)).toBeLessThanOrEqual(16_384)
    expect(output.stdout).toMatch(/truncated/)
  })

  it('observes: reports what it would cut and redact, answers nothing, and saves nothing', async () => {
    const events: ClampEvent[] = []
    const save = () => Promise.reject(new Error('saved'))
    const policy: WrapPolicy = {
      observe: true,
      redact: true,
      spill: { reference: 'id', save } as unknown as SpillStore,
      onClamp: (event) => void events.push(event),
    }
    expect(await answerTo(eventOf('Bash', bash(BIG)), policy)).toBeUndefined()
    expect(await answerTo(eventOf('WebFetch', { body: SECRET }), policy)).toBeUndefined()
    expect(events.map(({ tool, action, applied }) => [tool, action, applied])).toEqual([
      ['Bash', 'cut', false],
      ['WebFetch', 'redacted', false],
    ])
  })

  it('answers nothing if the process is turned off', () => {
    const event = JSON.stringify(eventOf('Bash', bash(BIG)))
    const code = `require('spillway/claude-agent').spillwayHooks({ redact: true }).PostToolUse[0].hooks[0](${event}).then((answer) => console.log(JSON.stringify(answer)))`
    const env = { ...process.env, SPILLWAY: 'off' }
    const { stdout, stderr } = spawnSync(process.execPath, ['-e', code], { env, encoding: 'utf8' })
    expect(stdout).toBe('{}\n')
    expect(stderr).toMatch(/^spillway off/)
  })

  it('rejects a wrong option at once', () => {
    expect(() => spillwayHooks({ maxBytes: -1 })).toThrow(
      expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }),
    )
  })

  it('takes any result, keeps its shape and leaves no secret in it', async () => {
    const words = fc.oneof(
      fc.constantFrom(BIG, 'small', 'stdout', 'file', 'content', 'type', 'text'),
      secretValue,
    )
    const { any } = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { withCrossShrink: true },
        words,
        fc.constant(`token=${SECRET}`),
        fc.jsonValue(),
        fc.dictionary(words, tie('any'), { maxKeys: 3 }),
        fc.array(tie('any'), { maxLength: 3 }),
      ),
    }))
    const tool = fc.constantFrom(...SHAPES.map(([name]) => name), 'Frobnicate', 'mcp__a__read_output')
    const resultOf = (name: string, value: unknown) =>
      SHAPES.find(([tool]) => tool === name)?.[1](typeof value === 'string' ? value : JSON.stringify(value))
    await fc.assert(
      fc.asyncProperty(tool, any, fc.boolean(), async (name, value, isShaped) => {
        const result = isShaped ? (resultOf(name, value) ?? value) : value
        const output = (await outputFor(eventOf(name, result), { redact: true, maxBytes: 2_000 })) ?? result
        expect(Array.isArray(output)).toBe(Array.isArray(result))
        expect(typeof output).toBe(typeof result)
        expect(JSON.stringify(output) ?? '').not.toContain(SECRET)
      }),
      { numRuns: 200 },
    )
  })
})

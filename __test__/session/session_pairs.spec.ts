import { readFileSync } from 'node:fs'
import { repairSession, repairToolPairs } from 'spillway'
import { describe, expect, it } from 'vitest'
import { type AgentSample, agentSamples, fileOf, valuesOf } from '../support/agent_samples.js'
import { spillway } from '../support/cli.js'
import { jsonLines, scratch } from '../support/scratch.js'

// biome-ignore lint/suspicious/noExplicitAny: rows of several formats
type Any = any

const { write } = scratch('.json')
const pair = async (text: string) => {
  const path = write(text)
  const report = await repairSession(path, { pairs: true })
  const after = readFileSync(path, 'utf8')
  expect(await repairSession(path, { pairs: true })).not.toHaveProperty('paired')
  expect(readFileSync(path, 'utf8')).toBe(after)
  return { report, after, values: valuesOf(after) as Any[] }
}
const MISSING = '[No result: the call was interrupted, or its result was removed]'

describe('calls without a result in a stored session', () => {
  it('get a row with the time of its call and a new id, where both differ in each row', async () => {
    const id = (at: number) => `00000000-0000-4000-8000-00000000000${at}`
    const event = (at: number, type: string, data: object) => ({
      type,
      data,
      id: id(at),
      timestamp: `2026-01-02T03:04:0${at}.678Z`,
      parentId: at > 1 ? id(at - 1) : null,
    })
    const call = { toolCallId: 'c1', name: 'bash', arguments: {} }
    const rows = [
      event(1, 'session.start', { sessionId: 'a', version: 1 }),
      event(2, 'user.message', { content: 'go' }),
      event(3, 'assistant.message', { content: '', toolRequests: [call] }),
      event(4, 'tool.execution_start', { toolCallId: 'c1', toolName: 'bash', arguments: {} }),
    ]
    const { values } = await pair(jsonLines(rows))
    const added = values.find(({ type }) => type === 'tool.execution_complete')
    expect(added.timestamp).toBe(rows[2]?.timestamp)
    expect(added.id).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(rows.map(({ id }) => id)).not.toContain(added.id)
  })

  it('get a row after theirs in a tree of Pi, which the next row follows', async () => {
    const row = (id: string, parentId: string | null, message: object) => ({
      type: 'message',
      id,
      parentId,
      timestamp: '2026-01-02T03:04:05.678Z',
      message,
    })
    const call = (id: string) => ({ type: 'toolCall', id, name: 'bash', arguments: {} })
    const rows = [
      { type: 'session', version: 3, id: 's' },
      row('0000000a', null, { role: 'user', content: 'go', timestamp: 1 }),
      row('0000000b', '0000000a', {
        role: 'assistant',
        content: [call('c1'), call('c2')],
        timestamp: 2,
        stopReason: 'toolUse',
      }),
      row('0000000c', '0000000b', {
        role: 'toolResult',
        toolCallId: 'c2',
        toolName: 'bash',
        content: [{ type: 'text', text: 'x' }],
        isError: false,
        timestamp: 3,
      }),
      row('0000000d', '0000000b', { role: 'user', content: 'a branch that was left', timestamp: 4 }),
      row('0000000e', '0000000c', { role: 'user', content: 'on', timestamp: 5 }),
    ]
    const { report, values } = await pair(jsonLines(rows))
    expect(report).toMatchObject({ changed: true, paired: 1 })
    expect(values).toHaveLength(7)
    const [, , , result, added, other, next] = values
    expect(added).toEqual({
      type: 'message',
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
      parentId: '0000000c',
      timestamp: '2026-01-02T03:04:05.678Z',
      message: {
        role: 'toolResult',
        toolCallId: 'c1',
        toolName: 'bash',
        content: [{ type: 'text', text: MISSING }],
        isError: true,
        timestamp: 2,
      },
    })
    expect([result.parentId, other.parentId, next.parentId]).toEqual(['0000000b', '0000000b', added.id])
    const branch = values.slice(1).filter(({ id }) => id !== '0000000d')
    const messages = branch.map(({ message }) => message)
    expect(repairToolPairs(messages).messages).toBe(messages)
  })

  it('get a row behind all rows of their message in Claude Code', async () => {
    const row = (uuid: string, parentUuid: string | null, type: string, message: object) => ({
      parentUuid,
      isSidechain: false,
      userType: 'external',
      cwd: '/w',
      sessionId: 's',
      version: '2.1.0',
      type,
      message,
      uuid,
      timestamp: 'T',
    })
    const id = (at: number) => `00000000-0000-4000-8000-00000000000${at}`
    const use = (call: string) => ({
      role: 'assistant',
      id: 'msg_1',
      content: [{ type: 'tool_use', id: call, name: 'Read', input: {} }],
    })
    const { report, values } = await pair(
      jsonLines([
        row(id(1), null, 'user', { role: 'user', content: 'go' }),
        row(id(2), id(1), 'assistant', use('toolu_1')),
        row(id(3), id(2), 'assistant', use('toolu_2')),
        row(id(4), id(3), 'user', { role: 'user', content: 'hello' }),
      ]),
    )
    expect(report).toMatchObject({ paired: 2 })
    expect(values.map(({ type }) => type)).toEqual(['user', 'assistant', 'assistant', 'user', 'user', 'user'])
    const [, , last, one, two, next] = values
    expect([one.parentUuid, two.parentUuid, next.parentUuid]).toEqual([last.uuid, one.uuid, two.uuid])
    expect(one).toMatchObject({
      sessionId: 's',
      isSidechain: false,
      uuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
    })
    expect(one.message).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: MISSING, is_error: true }],
    })
  })

  /** A sample without its results. */
  const cut = (sample: AgentSample, isResult: (value: Any) => boolean) => {
    const made = sample.make('x')
    return typeof made === 'string'
      ? JSON.stringify(valuesOf(made)[0].filter((value: Any) => !isResult(value)))
      : jsonLines(made.filter((row) => !isResult(row)))
  }
  const sampleOf = (agent: string) => agentSamples.find((sample) => sample.agent === agent) as AgentSample

  it('get one without the members of the model, where all messages are turns of the model', async () => {
    const call = (id: string) => ({ type: 'function', id, function: { name: 'Shell', arguments: '{}' } })
    const turn = (id: string) => ({ role: 'assistant', content: 'x', tool_calls: [call(id)] })
    const { values } = await pair(
      jsonLines([{ role: '_system_prompt', content: 'You build.' }, turn('c1'), turn('c2')]),
    )
    const added = (id: string) => ({ role: 'tool', tool_call_id: id, content: MISSING })
    expect(values.slice(1)).toEqual([turn('c1'), added('c1'), turn('c2'), added('c2')])
  })

  it('are only counted in a rollout of Codex, since other files hold byte offsets of it', async () => {
    const text = cut(
      sampleOf('Codex CLI'),
      ({ type, payload }) => type === 'compacted' || payload.type === 'function_call_output',
    )
    const { report, after } = await pair(text)
    expect([report.changed, report.paired, report.unpaired, after]).toEqual([false, undefined, 1, text])
  })

  it('get an event in a session of Copilot CLI', async () => {
    const { values } = await pair(
      cut(sampleOf('Copilot CLI'), ({ type }) => type === 'tool.execution_complete'),
    )
    const [, , call, added, start] = values
    expect(added).toEqual({
      type: 'tool.execution_complete',
      data: { toolCallId: 'toolu_1', success: false, error: { message: MISSING } },
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      timestamp: call.timestamp,
      parentId: call.id,
    })
    expect(start.parentId).toBe(added.id)
  })

  it('get a message in the list of a document', async () => {
    const { report, after, values } = await pair(
      cut(sampleOf('Cline and Roo Code'), ({ content }) => content[0].type === 'tool_result'),
    )
    expect(report).toMatchObject({ paired: 1, tornTail: false })
    expect(after.endsWith(']')).toBe(true)
    // Messages of the model side by side are one turn. All messages are dated.
    expect(values[0][3]).toEqual({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: MISSING, is_error: true }],
      ts: values[0][1].ts,
    })
    expect(repairToolPairs(values[0]).messages).toBe(values[0])
  })

  it('get it within where both are one object', async () => {
    const part = fileOf(sampleOf('OpenCode'), 'x').replace('"completed"', '"running"')
    const { values } = await pair(part)
    expect(values[0].state).toMatchObject({
      status: 'error',
      error: MISSING,
      input: { command: 'make' },
      time: { start: 0, end: 0 },
    })
    const record = fileOf(sampleOf('Gemini CLI up to 0.38'), 'x').replace('"success"', '"executing"')
    const [call] = (await pair(record)).values[0].messages[1].toolCalls
    expect(call).toMatchObject({
      status: 'error',
      result: [
        { functionResponse: { id: 'run_1', name: 'run_shell_command', response: { error: MISSING } } },
      ],
    })
  })

  it.each([
    'No result provided',
    '[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.',
    'aborted',
    '[Request interrupted by user for tool use]',
    MISSING,
  ])('are replaced by the real result that comes later: %s', async (words) => {
    const use = { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] }
    const answer = (content: string, is_error: boolean) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content, is_error }],
    })
    const words_of = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] })
    const rows = [
      use,
      answer(words, true),
      words_of('compacted'),
      answer('REAL: 42 files', false),
      words_of('on'),
    ]
    const expected = repairToolPairs(rows).messages
    expect(expected).toHaveLength(3)
    expect(JSON.stringify(expected)).not.toContain(JSON.stringify(words))
    const { report, values } = await pair(jsonLines(rows))
    expect([report.paired, values]).toEqual([1, expected])
    expect((await pair(JSON.stringify(rows))).values).toEqual([expected])
    const real = [use, answer('REAL: 1 file', false), words_of('compacted'), answer('REAL: 42 files', false)]
    expect((await pair(jsonLines(real))).values).toEqual(repairToolPairs(real).messages)
  })

  it('are replaced in a tree, where the rows after the real result follow the row before it', async () => {
    const row = (id: string, parentId: string | null, message: object) => ({
      type: 'message',
      id,
      parentId,
      message,
    })
    const result = (text: string, isError: boolean) => ({
      role: 'toolResult',
      toolCallId: 'x',
      toolName: 'read',
      content: [{ type: 'text', text }],
      isError,
      timestamp: 1,
    })
    const rows = [
      { type: 'session', version: 3, id: 's' },
      row('a', null, {
        role: 'assistant',
        content: [{ type: 'toolCall', id: 'x', name: 'read', arguments: {} }],
        timestamp: 1,
      }),
      row('b', 'a', result('No result provided', true)),
      row('c', 'b', { role: 'user', content: 'on', timestamp: 1 }),
      row('d', 'c', result('REAL: 42 files', false)),
      row('e', 'd', { role: 'user', content: 'thanks', timestamp: 1 }),
    ]
    const { values } = await pair(jsonLines(rows))
    expect(values.map(({ id }) => id)).toEqual(['s', 'a', 'd', 'c', 'e'])
    expect(values[2].message).toEqual(result('REAL: 42 files', false))
    expect(values.slice(2).map(({ parentId }) => parentId)).toEqual(['a', 'd', 'c'])
  })

  it('get one that rows without a message follow as well', async () => {
    const use = {
      role: 'assistant',
      id: 'msg_1',
      content: [{ type: 'tool_use', id: 'toolu_1', name: 'Read', input: {} }],
    }
    const { values } = await pair(
      jsonLines([
        { type: 'assistant', message: use, uuid: 'a', parentUuid: null },
        { type: 'system', subtype: 'local_command', content: 'x', uuid: 'b', parentUuid: 'a' },
        { type: 'user', message: { role: 'user', content: 'on' }, uuid: 'c', parentUuid: 'b' },
      ]),
    )
    expect(values.map(({ type }) => type)).toEqual(['assistant', 'user', 'system', 'user'])
    expect(values[2].parentUuid).toBe(values[1].uuid)
  })

  it('are counted where the format has no way, and told of', async () => {
    const call = {
      role: 'assistant',
      content: [{ type: 'toolCall', id: 'c1', name: 'bash', arguments: {} }],
      timestamp: 2,
    }
    const path = write(
      jsonLines([
        { type: 'session', id: 's' },
        { type: 'message', message: call },
      ]),
    )
    expect(await repairSession(path, { pairs: true })).toMatchObject({ changed: false, unpaired: 1 })
    const { stdout } = await spillway(['repair', '--pairs', path])
    expect(stdout).toContain('1 call without a result: this format has no way to add one')
  })

  it('stay as they are unless asked', async () => {
    const path = write(
      cut(
        sampleOf('Codex CLI'),
        ({ type, payload }) => type === 'compacted' || payload.type === 'function_call_output',
      ),
    )
    expect(await repairSession(path)).toMatchObject({ changed: false, reason: 'nothing to do' })
  })
})

describe('results without a call in a stored session', () => {
  const orphaned = async (text: string) => {
    const { report, after, values } = await pair(text)
    expect(report.paired).toBeUndefined()
    return { orphans: report.orphans, after, values }
  }
  const block = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'x' })
  const user = (...content: object[]) => ({ role: 'user', content })
  const words = { type: 'text', text: 'on' }

  it('go with their row in a tree of Pi, where rows that name it name the one before', async () => {
    const row = (id: string, parentId: string | null, message: object) => ({
      type: 'message',
      id,
      parentId,
      message,
    })
    const orphan = { role: 'toolResult', toolCallId: 'gone', toolName: 'read', content: 'x', isError: false }
    const rows = [
      { type: 'session', version: 3, id: 's' },
      row('a', null, orphan),
      row('b', 'a', { role: 'user', content: 'go' }),
      row('c', 'b', orphan),
      { type: 'label', id: 'd', parentId: 'c', targetId: 'c', label: 'here' },
    ]
    const { orphans, values } = await orphaned(jsonLines(rows))
    expect(orphans).toBe(2)
    expect(values).toEqual([
      rows[0],
      row('b', null, { role: 'user', content: 'go' }),
      { type: 'label', id: 'd', parentId: 'b', targetId: 'b', label: 'here' },
    ])
  })

  it('go from messages of several blocks, in rows and in a document', async () => {
    const messages = [
      user(block('gone'), words),
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }] },
      user(block('toolu_1'), block('gone')),
      user(block('gone'), block('too')),
      { role: 'assistant', content: [words] },
    ]
    const left = [user(words), messages[1], user(block('toolu_1')), messages[4]]
    for (const text of [jsonLines(messages), JSON.stringify(messages)]) {
      const { orphans, values } = await orphaned(text)
      expect([orphans, values.flat()]).toEqual([4, left])
    }
    const claude = (message: object, at: number) => ({
      type: at === 1 || at === 4 ? 'assistant' : 'user',
      message,
      uuid: `u${at}`,
      parentUuid: at === 0 ? null : `u${at - 1}`,
    })
    const { values } = await orphaned(jsonLines(messages.map(claude)))
    expect(values.map(({ message }) => message)).toEqual(left)
    expect(values.map(({ parentUuid }) => parentUuid)).toEqual([null, 'u0', 'u1', 'u2'])
  })

  it('stay as words that are cut, without secrets, where nothing else begins a conversation', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const content = `token ${secret}\n${'line\n'.repeat(400)}the end`
    const said = { role: 'assistant', content: [words] }
    const messages = [user({ ...block('gone'), content }), said]
    for (const text of [jsonLines(messages), JSON.stringify(messages)]) {
      const path = write(text)
      const options = { pairs: true, redact: true, keep: 'ends', maxChars: 300 } as const
      expect(await repairSession(path, options)).toMatchObject({ orphans: 1 })
      const [first, second] = (valuesOf(readFileSync(path, 'utf8')) as Any[]).flat()
      const [{ type, text: left }] = first.content
      expect([type, second]).toEqual(['text', said])
      expect(left).toMatch(/^\[Result of .*, whose call is no longer in the history\]\ntoken /)
      expect(left).toMatch(/the end$/)
      expect(left).not.toContain(secret)
      expect(left.length).toBeLessThan(400)
      expect(await repairSession(path, options)).toMatchObject({ changed: false })
    }
  })

  it('stay in two messages, as Cline CLI itself writes the results of parallel calls', async () => {
    const call = (id: string) => ({ type: 'tool_use', id, name: 'read', input: {} })
    const result = (id: string) => ({ ...block(id), name: 'read' })
    const model = { role: 'assistant', content: [call('c1'), call('c2')] }
    const said = { role: 'assistant', content: [words] }
    const messages = [user(words), model, user(result('c1')), user(result('c2')), said]
    const { values, report } = await pair(JSON.stringify({ version: 1, messages }))
    expect(report.changed).toBe(false)
    expect(values[0].messages).toEqual(messages)
  })

  it('stay in a rollout of Codex, and are counted', async () => {
    const output = { type: 'function_call_output', call_id: 'gone', output: 'x' }
    const rows = [
      { type: 'session_meta', payload: { id: 's' } },
      { type: 'response_item', payload: output },
      { type: 'compacted', payload: { message: 'so far', replacement_history: [output] } },
    ]
    // A checkpoint takes the place of the history before it.
    const { report, after } = await pair(jsonLines(rows))
    expect([report.changed, report.strays, report.orphans, after]).toEqual([
      false,
      1,
      undefined,
      jsonLines(rows),
    ])
  })

  it('stay where no message would be left, and are explained', async () => {
    const message = { role: 'toolResult', toolCallId: 'gone', toolName: 'bash', content: [words] }
    const row = { type: 'message', id: 'a', parentId: null, message }
    const path = write(jsonLines([{ type: 'session', version: 3, id: 's' }, row]))
    const { stdout } = await spillway(['repair', '--pairs', path])
    expect(stdout).toContain('1 result without a call left: ')
    expect(stdout).toContain('or no message would be left')
  })

  it('go where a block wraps them', async () => {
    const part = { functionResponse: { id: 'gone', name: 'read', response: { output: 'x' } } }
    const rows = [
      { role: 'user', parts: [{ text: 'go' }, part] },
      { role: 'user', parts: [part] },
    ]
    expect((await orphaned(jsonLines(rows))).values).toEqual([{ role: 'user', parts: [{ text: 'go' }] }])
  })

  it.each(agentSamples)('of $agent are distinguished from results with a call', async (sample) => {
    const text = fileOf(sample, 'x')
    const path = write(text)
    expect(await repairSession(path, { pairs: true })).not.toHaveProperty('orphans')
    expect(readFileSync(path, 'utf8')).toBe(text)
  })

  it('stay where a program reads the rows as events, and where rows are named by number', async () => {
    const event = (id: string, parentId: string | null, type: string, data: object) => ({
      type,
      data,
      id,
      parentId,
    })
    const copilot = [
      event('a', null, 'session.start', { sessionId: 's' }),
      event('b', 'a', 'tool.execution_complete', {
        toolCallId: 'gone',
        success: true,
        result: { content: 'x' },
      }),
    ]
    const pi = [
      { type: 'session', id: 's' },
      { type: 'message', message: { role: 'toolResult', toolCallId: 'gone', content: 'x' } },
    ]
    const hosted = [
      { type: 'mcp_call', id: 'mcp_1', name: 'search', arguments: '{}', output: 'x' },
      { role: 'user', content: 'on' },
    ]
    for (const rows of [copilot, pi, hosted]) {
      expect((await orphaned(jsonLines(rows))).values).toEqual(rows)
    }
  })

  it('stay as text where nothing else is in the session', async () => {
    const messages = [user(block('gone'))]
    const { orphans, values } = await orphaned(jsonLines(messages))
    expect([orphans, values]).toEqual([1, repairToolPairs(messages).messages])
    expect(JSON.stringify(values)).toContain('whose call is no longer in the history')
  })

  it('are reported by repair and doctor', async () => {
    const rows = [user(block('gone')), { role: 'user', content: 'on' }]
    const path = write(jsonLines(rows))
    const { stdout } = await spillway(['doctor', path])
    expect(stdout).toContain('1 result without a call')
    expect(stdout).toContain('spillway repair --pairs')
    expect((await spillway(['repair', '--pairs', path])).stdout).toContain(
      '1 result without a call was removed',
    )
  })
})

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspectSession } from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'

const dir = mkdtempSync(join(tmpdir(), 'spillway-inspect-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

let files = 0
function session(rows: readonly unknown[]): string {
  const path = join(dir, `${files++}.jsonl`)
  writeFileSync(path, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''))
  return path
}

const header = { type: 'session', version: 3, id: 's', cwd: '/' }
const entry = (message: object) => ({ type: 'message', id: 'a', parentId: null, message })
const toolResult = (toolName: string, toolCallId: string, text: string) =>
  entry({ role: 'toolResult', toolName, toolCallId, content: [{ type: 'text', text }], isError: false })

describe('inspectSession', () => {
  it('tells what a context is spent on, by tool and by row', async () => {
    const path = session([
      header,
      entry({ role: 'user', content: [{ type: 'text', text: 'x'.repeat(90_000) }] }),
      toolResult('read', 'one', 'é'.repeat(30_000)),
      '',
      '{"type":"message","mess',
      toolResult('bash', 'two', 'b'.repeat(60_000)),
      toolResult('read', 'three', '😀'.repeat(10)),
    ])
    const before = statSync(path)
    expect(await inspectSession(path, { top: 2 })).toEqual({
      format: 'pi',
      rows: 6,
      bytes: before.size,
      toolResults: 3,
      byTool: [
        { tool: 'bash', results: 1, chars: 60_000, bytes: 60_000 },
        { tool: 'read', results: 2, chars: 30_020, bytes: 60_040 },
      ],
      largest: [
        { row: 6, tool: 'bash', callId: 'two', chars: 60_000, bytes: 60_000 },
        { row: 3, tool: 'read', callId: 'one', chars: 30_000, bytes: 60_000 },
      ],
      oversized: 2,
      damaged: 1,
      resultTokens: expect.any(Number),
    })
    expect(statSync(path)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
    expect(await inspectSession(path, { maxBytes: 1e6, top: 0 })).toMatchObject({ oversized: 0, largest: [] })
    expect(await inspectSession(path, { maxChars: 10 })).toMatchObject({ oversized: 3 })
  })

  it('names tools by their calls where results do not', async () => {
    const call = { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'Bash', input: {} }] }
    const answer = (id: string) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content: id }],
    })
    const rows = [
      { type: 'assistant', message: call },
      { type: 'user', message: answer('c1'), toolUseResult: { stdout: 'c1' } },
      { type: 'user', message: answer('other') },
    ]
    const { format, byTool, largest } = await inspectSession(session(rows))
    expect(format).toBe('claude-code')
    expect(byTool).toEqual([
      { tool: 'unknown', results: 1, chars: 5, bytes: 5 },
      { tool: 'Bash', results: 1, chars: 2, bytes: 2 },
    ])
    expect(largest).toEqual([
      { row: 3, callId: 'other', chars: 5, bytes: 5 },
      { row: 2, tool: 'Bash', callId: 'c1', chars: 2, bytes: 2 },
    ])
    const chat = [
      {
        role: 'assistant',
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'ok' },
    ]
    expect(await inspectSession(session(chat))).toMatchObject({
      format: 'messages',
      byTool: [{ tool: 'ls', results: 1 }],
    })
  })

  it('tells formats apart', async () => {
    for (const [rows, format] of [
      [[{ type: 'session', id: 'x' }], 'pi'],
      [[{ role: 'user', content: 'hi' }], 'messages'],
      [[{ type: 'function_call_output', call_id: 'c', output: 'x' }], 'messages'],
      [[{ level: 'info', text: 'a log' }], 'unknown'],
      [['{', '7'], 'unknown'],
      [[], 'unknown'],
    ] as const)
      expect(await inspectSession(session(rows)), JSON.stringify(rows)).toMatchObject({ format })
  })

  it('rejects as repairs do', async () => {
    const missing = join(dir, 'none.jsonl')
    await expect(inspectSession(missing)).rejects.toMatchObject({ code: 'ENOENT', path: missing })
    await expect(inspectSession(session([]), { top: -1 })).rejects.toMatchObject({
      code: 'ERR_SPILLWAY_OPTION',
    })
    const reason = new Error('enough')
    const path = session([header])
    await expect(inspectSession(path, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    const controller = new AbortController()
    const large = session(Array.from({ length: 60 }, () => toolResult('t', 'c', 'x'.repeat(1_000_000))))
    const stopped = inspectSession(large, { signal: controller.signal })
    controller.abort(reason)
    await expect(stopped).rejects.toBe(reason)
    expect(readFileSync(path, 'utf8')).toBe(`${JSON.stringify(header)}\n`)
  })
})

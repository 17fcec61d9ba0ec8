import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { clampMessages, clampResult, clampText, OutputCapture, repairSession, wrapTool } from 'spillway'
import { afterAll, describe, expect, it } from 'vitest'
import { logForms } from '../support/log_forms.js'

const dir = mkdtempSync(join(tmpdir(), 'spillway-forms-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const call = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'run', arguments: '{}' } }],
}
const message = (text: string) => ({ role: 'tool', tool_call_id: 'c', content: text })

/** Every way in which a tool's output comes, with the policy that is the default. */
const DOORS: Record<string, (text: string) => unknown> = {
  'a string': (text) => clampText(text),
  'an object with an exit code': (text) =>
    wrapTool({ name: 'run', execute: async () => ({ stdout: text, exitCode: 1 }) }).execute(),
  'an MCP result': (text) => clampResult({ content: [{ type: 'text', text }], isError: true }),
  'a capture': async (text) => {
    const capture = new OutputCapture()
    for (let at = 0; at < text.length; at += 65_536) capture.stdout.write(text.slice(at, at + 65_536))
    return (await capture.finish({ exitCode: 1 })).text
  },
  'a stored row': async (text) => {
    const path = join(dir, 's.jsonl')
    writeFileSync(
      path,
      [{ role: 'user', content: 'go' }, call, message(text)]
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    )
    await repairSession(path, { backup: false })
    return readFileSync(path, 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((row) => JSON.parse(row) as unknown)
  },
  'a message': (text) => clampMessages([{ role: 'user', content: 'go' }, call, message(text)]),
}

/** Returns all strings in a value. A text may be JSON itself. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value, value.replaceAll('\\"', '"').replaceAll('\\n', '\n')]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : []
}

describe.each([
  [3_000, []],
  [20_000, ['long']],
  [60_000, ['long']],
])('of a log of %d lines', (count, tags) => {
  const forms = logForms(count)

  it.each(Object.keys(DOORS))('%s keeps the one line that explains the failure', { tags }, async (door) => {
    const lost: string[] = []
    for (const { name, text, error } of forms) {
      const kept = textsOf(await DOORS[door]?.(text))
      expect(kept.join().length).toBeLessThan(text.length * 2)
      if (!kept.some((one) => one.includes(error))) lost.push(name)
    }
    expect(lost).toEqual([])
  })
})

import { spawn } from 'node:child_process'
import { Writable } from 'node:stream'
import { OutputCapture } from 'spillway'
import { expect, it } from 'vitest'

it('a child is waited for where something else reads its output slowly', async () => {
  const child = spawn('sh', ['-c', 'seq 1 60000; echo "error: the last line"; exit 1'])
  // It takes one chunk at a time, be it small or large: each is some progress within the grace.
  const write = (_chunk: unknown, _encoding: string, done: () => void) => void setTimeout(done, 300)
  child.stdout.pipe(new Writable({ highWaterMark: 1, write }))
  const { text, total } = await new OutputCapture().attach(child, { graceMs: 1_000 })
  expect(total.lines).toBe(60_001)
  expect(text).toContain('error: the last line')
})

// A bash tool: a time-out, the whole tree of processes killed, partial updates, saved output, and a
// tool to read it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createSpillStore, OutputCapture, spillTool } from 'spillway'

const spill = createSpillStore({ dir: 'outputs' })
const readOutput = spillTool(spill)

async function bash(command, { timeoutMs = 120_000, onStart, onUpdate } = {}) {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe', 'pipe'], detached: true })
  onStart?.(child)
  const capture = new OutputCapture({ spill, tool: 'bash' })
  const updates = setInterval(() => onUpdate?.(capture.snapshot().text), 100)
  const signal = AbortSignal.timeout(timeoutMs)
  // A detached child leads a group: what it started ends with it.
  signal.addEventListener('abort', () => process.kill(-child.pid, 'SIGKILL'))
  try {
    return await capture.attach(child, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
    return await capture.finish({ timedOut: true })
  } finally {
    clearInterval(updates)
  }
}

function check(holds, what) {
  if (!holds) throw new Error(what)
}

const failing = await bash('seq 40000; echo "error: no such table: orders" >&2; seq 40000 90000; exit 3')
check(failing.text.length <= 51_200 && failing.text.includes('no such table: orders'), 'the error is lost')
check(failing.text.endsWith('[exit code 3]'), failing.text.slice(-200))

const [{ id }] = await spill.list()
const found = await readOutput.execute({ id, pattern: 'no such table' })
check(JSON.stringify(found).includes('no such table: orders'), JSON.stringify(found))

const seen = []
/** Resolves when the last process that has the fourth pipe is gone. */
let gone
const late = await bash('echo started; while true; do sleep 600 & sleep 600; done', {
  timeoutMs: 500,
  onStart: ({ stdio }) => {
    gone = once(stdio[3].resume(), 'end', { signal: AbortSignal.timeout(30_000) })
  },
  onUpdate: (text) => seen.push(text),
})
check(late.text.includes('started') && late.text.includes('[timed out]') && seen.length > 0, late.text)
await gone
console.log('failed, searched and timed out, as it should')

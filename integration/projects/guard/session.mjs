// A session of JSON lines: guarded as it is written, and repaired when something wrote past the
// guard.
import { appendFileSync, readFileSync, rmSync, statSync } from 'node:fs'
import { guardSession, inspectSession, repairSession } from 'spillway'

const FILE = 'session.jsonl'
const huge = 'a line of a log\n'.repeat(300_000)
const turn = (id, text) => [
  { role: 'assistant', content: [{ type: 'toolCall', id, name: 'bash', arguments: { command: 'make' } }] },
  { role: 'toolResult', toolCallId: id, toolName: 'bash', content: [{ type: 'text', text }], isError: false },
]

class Session {
  appendMessage(message) {
    appendFileSync(FILE, `${JSON.stringify({ type: 'message', message })}\n`)
  }
}

rmSync(FILE, { force: true })
const session = new Session()
const guard = guardSession(session)
for (const message of turn('call 1', huge)) session.appendMessage(message)
if (guard.clamped !== 1 || statSync(FILE).size > 60_000) throw new Error('the guard let a result pass')

guard.uninstall()
for (const message of turn('call 2', huge)) session.appendMessage(message)
const before = await inspectSession(FILE)
const report = await repairSession(FILE)
const rows = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map((row) => JSON.parse(row))
if (report.clamped !== 1 || statSync(FILE).size > 120_000) throw new Error(JSON.stringify({ before, report }))
if (rows.length !== 4 || rows[3].message.toolCallId !== 'call 2') throw new Error('rows are missing')
console.log(`repaired: ${report.bytesBefore} bytes became ${report.bytesAfter}`)

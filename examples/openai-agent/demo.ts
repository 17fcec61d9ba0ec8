// Runs the agent against the stub: a command prints 20 MB, and the agent finds one line of it.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { savedIn, startStub } from './stub.js'

const script = `for (let n = 0; n < 900000; n++) console.log(n === 444444 ? 'the answer is 42' : 'line ' + n + ' of a log')`
const stub = await startStub(128_000, (messages, nth) => {
  if (nth === 0) return { tool: 'bash', input: { command: `"${process.execPath}" -e "${script}"` } }
  if (nth === 1) return { tool: 'read_output', input: { id: savedIn(messages), pattern: 'answer' } }
  return `I searched the output: ${/the answer is \d+/.exec(messages.at(-1)?.content ?? '')?.[0]}`
})
const env = { ...process.env, OPENAI_BASE_URL: stub.url, OPENAI_API_KEY: 'none' }
const child = spawn('npm', ['start', '--silent', '--', 'What is the answer?'], { env, stdio: 'inherit' })
await once(child, 'exit')
stub.close()

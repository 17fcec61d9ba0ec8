// The agent in a process of its own, against the stub.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { savedIn, startStub } from './stub.js'

const LINE = 'src/cart.ts:7 - error: no such name'
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
const agent = fileURLToPath(new URL(`agent.${extension}`, import.meta.url))

/** A folder with a program that the agent runs. */
function folderWith(program: string) {
  const dir = mkdtempSync(join(tmpdir(), 'agent-'))
  const file = join(dir, 'program.mjs')
  writeFileSync(file, program)
  return { dir, sessionFile: join(dir, 'session.jsonl'), command: `"${process.execPath}" "${file}"` }
}

/** Starts the agent with a question. */
function start(dir: string, url: string, question = 'Go') {
  const env = {
    ...process.env,
    OPENAI_BASE_URL: url,
    OPENAI_API_KEY: 'none',
    AGENT_DIR: dir,
    AGENT_WINDOW: '32000',
  }
  const child = spawn(process.execPath, [...process.execArgv, agent, question], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (part) => {
    said += part
  })
  const answered = once(child, 'close').then(() => said.trim())
  return { child, answered }
}

test('a result of 20 MB is cut, saved and searched', async () => {
  const rows = `for (let n = 0; n < 400000; n++) console.log(n === 200000 ? 'row of the answer: 42' : 'a row of a long table, number ' + n)`
  const { dir, command } = folderWith(rows)
  const stub = await startStub(32_000, (messages, nth) => {
    if (nth === 0) return { tool: 'bash', input: { command } }
    if (nth === 1) return { tool: 'read_output', input: { id: savedIn(messages), pattern: 'answer' } }
    return /answer: (\d+)/.exec(messages.at(-1)?.content ?? '')?.[1] ?? 'not found'
  })
  assert.equal(await start(dir, stub.url).answered, '42')
  assert.equal(stub.seen.refused, 0)
  stub.close()
})

test('twenty results of 40 KB go through a window that is smaller than it was told', async () => {
  const { dir, command } = folderWith(
    `const [n] = process.argv.slice(2); for (let row = 0; row < 1000; row++) console.log('row ' + row + ' of part ' + n + ' of the data, ${'x'.repeat(10)}')`,
  )
  const stub = await startStub(20_000, (_messages, nth) =>
    nth < 20 ? { tool: 'bash', input: { command: `${command} ${nth}` } } : 'all parts are read',
  )
  assert.equal(await start(dir, stub.url).answered, 'all parts are read')
  assert.ok(stub.seen.refused <= 1, `${stub.seen.refused} refusals`)
  // The next process knows the window and the cleared results.
  const before = stub.seen.refused
  assert.equal(await start(dir, stub.url, 'And now?').answered, 'all parts are read')
  assert.equal(stub.seen.refused, before)
  stub.close()
})

test('a process that is killed within a call goes on in the next one', async () => {
  const { dir, sessionFile, command } = folderWith(
    `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv[2], ''); setTimeout(() => {}, 30000)`,
  )
  const started = join(dir, 'started')
  const stub = await startStub(32_000, (messages, nth) =>
    nth === 0
      ? { tool: 'bash', input: { command: `${command} "${started}"` } }
      : `${messages.length} messages`,
  )
  const { child, answered } = start(dir, stub.url)
  while (!existsSync(started)) await sleep(20)
  child.kill('SIGKILL')
  await once(child, 'exit')
  // The command holds the pipe of the agent open.
  child.stdout.destroy()
  await answered
  assert.equal(readFileSync(sessionFile, 'utf8').trim().split('\n').length, 2)
  // The system prompt, the first question, its call, the missing result, the second question.
  assert.equal(await start(dir, stub.url, 'And now?').answered, '5 messages')
  stub.close()
})

test('a secret that a command prints is neither sent nor stored', async () => {
  const secret = ['ghp', 'a1B2'.repeat(9)].join('_')
  const { dir, sessionFile, command } = folderWith(`console.log('token=${secret}\\n${LINE}')`)
  const stub = await startStub(32_000, (_messages, nth) =>
    nth === 0 ? { tool: 'bash', input: { command } } : 'done',
  )
  assert.equal(await start(dir, stub.url).answered, 'done')
  for (const text of [JSON.stringify(stub.seen.messages), readFileSync(sessionFile, 'utf8')]) {
    assert.ok(!text.includes(secret))
    assert.ok(text.includes(LINE))
  }
  stub.close()
})

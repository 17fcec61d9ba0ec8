import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { fauxAssistantMessage, fauxToolCall } from '@earendil-works/pi-ai'
import { SessionManager } from '@earendil-works/pi-coding-agent'
import { makeTool, openSession } from './pi.mjs'
import { LIMIT, TEXT } from './scenario.mjs'

const directory = mkdtempSync(join(tmpdir(), 'spillway-cli-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const WINDOW = 200_000

/** Results of the tools: one of them far too large. */
const RESULTS = { read: TEXT.slice(0, 24_000), grep: TEXT.slice(0, 3_000), bash: TEXT }

const tools = Object.entries(RESULTS).map(([name, text]) =>
  makeTool(name, async () => ({ content: [{ type: 'text', text }], details: {} })),
)

/** A provider that refuses what is over its window, as those of today do. */
function answer({ messages }) {
  const tokens = Math.ceil(JSON.stringify(messages).length / 4)
  const errorMessage = `prompt is too long: ${tokens} tokens > ${WINDOW} maximum`
  if (tokens > WINDOW) return fauxAssistantMessage('', { stopReason: 'error', errorMessage })
  const isAsked = messages.at(-1)?.role === 'user' && JSON.stringify(messages.at(-1)).includes('build it')
  return isAsked
    ? fauxAssistantMessage(
        tools.map(({ name }) => fauxToolCall(name, {})),
        { stopReason: 'toolUse' },
      )
    : fauxAssistantMessage('done')
}

/** Goes on with a session and returns the last that the model said. Compaction is off: where it is
 *  on, Pi gets out of this one by putting a summary in the place of the history. */
async function ask(sessionManager, prompt) {
  const { session, faux } = await openSession({ directory, tools, sessionManager, contextWindow: WINDOW })
  faux.setResponses(Array.from({ length: 20 }, () => answer))
  await session.prompt(prompt)
  const { stopReason, errorMessage, content } = session.messages.findLast(({ role }) => role === 'assistant')
  session.dispose()
  faux.unregister()
  return { stopReason, errorMessage, text: content.map(({ text }) => text ?? '').join('') }
}

const require = createRequire(import.meta.url)
const bin = join(dirname(require.resolve('spillway/package.json')), 'dist/cli.js')

function spillway(...args) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  })
  assert.deepEqual([status, stderr], [0, ''])
  return stdout
}

/** Commands and output that a section of a document shows. */
function shown(file, heading) {
  const doc = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
  return /```\n(\$ [\s\S]*?)```/.exec(doc.split(`\n${heading}\n`)[1] ?? '')?.[1] ?? ''
}

/** Sizes hang on the name of the directory. */
const masked = (text) => text.replaceAll(directory, '/home/me').replace(/\d+\.\d KB/g, 'some KB')

const ids = (manager) => manager.getEntries().map(({ id }) => id)

test('a session of Pi that no model takes any more opens again once it is repaired', async () => {
  const manager = SessionManager.create(directory, directory)
  const made = await ask(manager, 'build it')
  assert.match(made.errorMessage, /^prompt is too long: 1\d{6} tokens > 200000 maximum$/)
  renameSync(manager.getSessionFile(), join(directory, 'session.jsonl'))
  const open = () => SessionManager.open(join(directory, 'session.jsonl'), directory)
  const { errorMessage } = await ask(open(), 'what went wrong?')
  assert.match(errorMessage, /^prompt is too long: 1\d{6} tokens > 200000 maximum$/)

  const before = ids(open())
  const commands = ['inspect', 'repair', 'inspect'].map((command) => [command, 'session.jsonl'])
  const printed = commands.map((args) => `$ spillway ${args.join(' ')}\n${spillway(...args)}`).join('\n')
  assert.equal(masked(printed), masked(shown('docs/cli.md', '## A session that does not open any more')))
  const brief = shown('README.md', '### From a shell').replaceAll('$ npx --no-install ', '$ ')
  assert.ok(brief.includes('repair'))
  for (const line of masked(brief).split('\n')) assert.ok(masked(printed).split('\n').includes(line), line)

  assert.deepEqual(ids(open()), before)
  const opened = await ask(open(), 'what went wrong?')
  assert.deepEqual(opened, { stopReason: 'stop', errorMessage: undefined, text: 'done' })
  const results = open()
    .getBranch()
    .flatMap(({ message }) => (message?.role === 'toolResult' ? [message] : []))
  assert.deepEqual(
    results.map(({ toolName, content }) => [toolName, content[0].text === RESULTS[toolName]]),
    [
      ['read', true],
      ['grep', true],
      ['bash', false],
    ],
  )
  assert.ok(Buffer.byteLength(results[2].content[0].text) <= LIMIT)
})

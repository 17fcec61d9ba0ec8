// spillway/pi-extension in a session of Pi 1.x, whose provider plays a script.
import assert from 'node:assert/strict'
import { mkdtempSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fauxAssistantMessage, fauxProvider, fauxToolCall } from '@earendil-works/pi-ai'
import {
  createAgentSession,
  DefaultResourceLoader,
  ModelRuntime,
  SessionManager,
  SettingsManager,
} from '@earendil-works/pi-coding-agent'
import { createSpillStore } from 'spillway'
import { spillwayExtension } from 'spillway/pi-extension'

const LINE = 'src/cart.ts:7 - error: no such name'
const LOG = `${'compiled one more file\n'.repeat(50_000)}${LINE}\n`
const LIMIT = 4_000

const makeTool = (name, execute) => ({
  name,
  label: name,
  description: name,
  parameters: { type: 'object', properties: {} },
  execute,
})
const textOf = ({ content }) => content.map(({ text = '' }) => text).join('')

test('Pi 1.x: results, errors and structured content are bounded, and read back', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'spillway-pi-'))
  const spill = createSpillStore({ dir: join(dir, 'outputs'), reference: 'id' })
  const faux = fauxProvider({
    models: [{ id: 'faux-1', contextWindow: 200_000, maxTokens: 8_192 }],
    tokensPerSecond: 0,
  })
  let sent = []
  const resultsIn = (messages) => messages.filter(({ role }) => role === 'toolResult')
  const calls = (...all) => fauxAssistantMessage(all, { stopReason: 'toolUse' })
  faux.setResponses([
    () => calls(fauxToolCall('build', {}), fauxToolCall('fails', {})),
    ({ messages }) => {
      const id = /saved as ([0-9a-f]{16})/.exec(textOf(resultsIn(messages)[0]))?.[1]
      return calls(fauxToolCall('read_output', { id, pattern: 'error' }))
    },
    ({ messages }) => {
      sent = structuredClone(resultsIn(messages))
      return fauxAssistantMessage('done')
    },
  ])
  const modelRuntime = await ModelRuntime.create({ allowModelNetwork: false, agentDir: dir })
  modelRuntime.registerNativeProvider(faux.provider)
  const settingsManager = SettingsManager.inMemory({ compaction: { enabled: false } })
  const resourceLoader = new DefaultResourceLoader({
    cwd: dir,
    agentDir: dir,
    settingsManager,
    extensionFactories: [spillwayExtension({ maxBytes: LIMIT, sideData: 'cap', spill })],
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
    noContextFiles: true,
  })
  await resourceLoader.reload()
  const { session } = await createAgentSession({
    cwd: dir,
    agentDir: dir,
    modelRuntime,
    model: faux.getModel(),
    settingsManager,
    resourceLoader,
    sessionManager: SessionManager.create(dir, dir),
    customTools: [
      makeTool('build', async () => ({
        content: [{ type: 'text', text: LOG }],
        details: { rows: LOG.split('\n') },
        structuredContent: { rows: LOG.split('\n') },
      })),
      makeTool('fails', async () => {
        throw new Error(LOG)
      }),
    ],
    tools: ['build', 'fails', 'read_output'],
  })
  await session.prompt('Build it')
  assert.equal(sent.length, 3)
  for (const message of sent) {
    assert.ok(textOf(message).length <= LIMIT, message.toolName)
    assert.ok(textOf(message).includes(LINE), message.toolName)
  }
  assert.equal(sent[1].isError, true)
  const [build] = resultsIn(session.messages)
  for (const data of [build.details, build.structuredContent])
    assert.ok(JSON.stringify(data ?? null).length <= 8_192)
  assert.ok(statSync(session.sessionFile).size < 40_000)
  session.dispose()
})

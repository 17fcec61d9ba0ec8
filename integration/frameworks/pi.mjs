// Runs a real session of Pi's coding agent, offline, with a scripted provider.
import { registerFauxProvider, Type } from '@earendil-works/pi-ai'
import {
  AuthStorage,
  createAgentSession,
  DefaultResourceLoader,
  ModelRegistry,
  SessionManager,
  SettingsManager,
} from '@earendil-works/pi-coding-agent'
import { IMAGE } from './scenario.mjs'

export const IMAGE_BLOCK = { type: 'image', data: IMAGE, mimeType: 'image/png' }

export function makeTool(name, execute) {
  return { name, label: name, description: name, parameters: Type.Object({}), execute }
}

export function textOf({ content }) {
  return content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('')
}

/** A session with these tools alone, without compaction. `faux.setResponses` tells the provider
 *  what to say. */
export async function openSession({
  directory,
  tools,
  names = tools.map(({ name }) => name),
  sessionManager = SessionManager.create(directory, directory),
  contextWindow = 200_000,
  extension,
}) {
  const faux = registerFauxProvider({
    models: [{ id: 'faux-1', contextWindow, maxTokens: 8_192 }],
    tokensPerSecond: 0,
  })
  const model = faux.getModel()
  const authStorage = AuthStorage.inMemory()
  authStorage.setRuntimeApiKey(model.provider, 'faux-key')
  const settingsManager = SettingsManager.inMemory({ compaction: { enabled: false } })
  const place = { cwd: directory, agentDir: directory }
  const resourceLoader = new DefaultResourceLoader({
    ...place,
    settingsManager,
    extensionFactories: extension ? [extension] : [],
    noSkills: true,
    noPromptTemplates: true,
    noThemes: true,
    noContextFiles: true,
  })
  await resourceLoader.reload()
  const { session } = await createAgentSession({
    ...place,
    model,
    authStorage,
    modelRegistry: ModelRegistry.inMemory(authStorage),
    settingsManager,
    sessionManager,
    resourceLoader,
    customTools: tools,
    noTools: 'builtin',
    tools: names,
  })
  return { session, sessionManager, faux }
}

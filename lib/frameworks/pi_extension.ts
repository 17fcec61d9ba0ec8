import type { SpillStore } from 'spillway'
import type { spillwayExtension as Declared, PiMessage, PiResultEvent } from 'spillway/pi-extension'
import { spillTool, wrapTool } from '../index.js'
import { compile, UNLIMITED } from '../policy.js'
import { clampBesidePages } from './beside_pages.js'
import { contextOf, type Found } from './context_of.js'

export const spillwayExtension: typeof Declared = ({ context: given, ...own } = {}) => {
  const policy = { ...own, dialect: 'pi' } as const
  // A wrong option throws here, not with the first result.
  compile(policy)
  const { spill, ...limits } = policy
  const find = given === undefined ? () => undefined : contextOf(given as Found<unknown>)
  const reader = spill && readOutputTool(spill)
  return (pi) => {
    if (reader) pi.registerTool(reader)
    pi.on('tool_result', async (event: PiResultEvent) => {
      const { toolName: name, toolCallId, parentToolCallId, input, type: _, ...result } = event
      // Its pages are bounded.
      if (name === reader?.name) return
      // A script that calls tools reads whole results; its own result is cut.
      const isNested = parentToolCallId !== undefined
      const execute = async (..._: unknown[]) => result
      const tool = wrapTool({ name, execute }, isNested ? { ...limits, ...UNLIMITED } : policy)
      const kept = await tool.execute(toolCallId, input)
      // Content alone would drop structuredContent, so all of it.
      return kept === result ? undefined : kept
    })
    pi.on('context', async ({ messages }: { messages: PiMessage[] }, session: unknown) => {
      const isPage = ({ role, toolName }: PiMessage) =>
        reader !== undefined && role === 'toolResult' && toolName === reader.name
      const kept = clampBesidePages(messages, limits, isPage)
      const context = find(session)
      return { messages: context ? (await context.prepare(kept)).messages : kept }
    })
    // A refusal ends the turn as a message; the next one is prepared for the window that it names.
    pi.on('message_end', async ({ message }: { message: PiMessage }, session: unknown) => {
      if (message.stopReason === 'error') await find(session)?.refused(new Error(message.errorMessage))
    })
  }
}

/** Makes the tool that reads saved outputs in the form of Pi. */
function readOutputTool(store: SpillStore) {
  const { name, description, parameters, execute } = spillTool(store)
  return {
    name,
    label: 'Read output',
    description,
    parameters,
    execute: async (_callId: string, input: unknown) => ({
      content: [{ type: 'text', text: await execute(input) }],
      details: {},
    }),
  }
}

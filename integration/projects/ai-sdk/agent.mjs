// An agent with three tools and read_output on AI SDK 5, 6 and 7, with the model of their tests.
import { mkdtemp } from 'node:fs/promises'
import { createSpillStore, spillTool, wrapTools } from 'spillway'
import { z } from 'zod'

/** The default limit, and what an SDK writes before an error. */
const LIMIT = 51_200 + 16
const rows = Array.from({ length: 60_000 }, (_, i) => `row ${i} of the table of orders`)
const DECISIVE = 'Error: constraint violated: orders.total'

/** Asks for all tools at first and then for the saved output; keeps the prompts that it is sent. */
function script(names, prompts) {
  const called = (toolName, input) => ({ type: 'tool-call', toolCallId: `call ${toolName}`, toolName, input })
  const answer = (content, reason, shape) => ({
    content,
    finishReason: shape < 6 ? reason : { unified: reason, raw: reason },
    usage: shape < 6 ? { inputTokens: 1, outputTokens: 1, totalTokens: 2 } : USAGE,
    warnings: [],
  })
  return (shape) => ({
    doGenerate: async ({ prompt }) => {
      prompts.push(prompt)
      if (prompts.length === 1)
        return answer(
          names.map((name) => called(name, '{}')),
          'tool-calls',
          shape,
        )
      const [, id] = JSON.stringify(prompt).match(/saved as \S*?([0-9a-f]{16})/) ?? []
      if (prompts.length === 2)
        return answer(
          [called('read_output', JSON.stringify({ id, pattern: 'row 30000' }))],
          'tool-calls',
          shape,
        )
      return answer([{ type: 'text', text: 'done' }], 'stop', shape)
    },
  })
}
const USAGE = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

async function run(version, Model) {
  const { generateText, jsonSchema, stepCountIs, isStepCount, tool } = await import(`ai${version}`)
  const dir = await mkdtemp('outputs-')
  const spill = createSpillStore({ dir })
  const { description, parameters, execute } = spillTool(spill)
  const inputSchema = z.object({})
  const failure = [...rows.slice(0, 30_000), DECISIVE, ...rows.slice(30_000)].join('\n')
  const tools = wrapTools(
    {
      table: tool({ inputSchema, execute: async () => rows.join('\n') }),
      object: tool({ inputSchema, execute: async () => ({ rows }) }),
      fails: tool({
        inputSchema,
        execute: async () => {
          throw new Error(failure)
        },
      }),
    },
    { spill },
  )
  const prompts = []
  const model = new Model(script(Object.keys(tools), prompts)(version))
  const { text } = await generateText({
    model,
    prompt: 'why does it fail?',
    tools: { ...tools, read_output: tool({ description, inputSchema: jsonSchema(parameters), execute }) },
    stopWhen: (stepCountIs ?? isStepCount)(5),
  })

  const results = prompts.at(-1).flatMap(({ role, content }) => (role === 'tool' ? content : []))
  const sent = results.map(({ output }) => String(output.value ?? JSON.stringify(output)))
  const largest = Math.max(...sent.map((value) => Buffer.byteLength(value)))
  if (text !== 'done' || results.length !== 4 || largest > LIMIT)
    throw new Error(`AI SDK ${version}: ${text}, ${results.length} results of up to ${largest} bytes`)
  if (!sent.some((value) => value.includes(DECISIVE))) throw new Error(`AI SDK ${version}: the error is lost`)
  if (!sent[3].includes('row 30000 ')) throw new Error(`AI SDK ${version}: ${sent[3].slice(0, 300)}`)
  console.log(`AI SDK ${version}: ${results.length} results, the largest of ${largest} bytes`)
}

await run(5, (await import('ai5/test')).MockLanguageModelV2)
await run(6, (await import('ai6/test')).MockLanguageModelV3)
const seven = await import('ai7/test')
await run(7, seven.MockLanguageModelV4 ?? seven.MockLanguageModelV3)

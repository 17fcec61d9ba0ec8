import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import {
  createContext,
  createSpillStore,
  estimateTokens,
  guardSession,
  OutputCapture,
  type ResultPolicy,
  spillTool,
  wrapTools,
} from 'spillway'

type Message = { role: string; content: string; [member: string]: unknown }
type Call = { id: string; type: 'function'; function: { name: string; arguments: string } }

// Limits and redaction, the same for tools, commands and the stored session.
const store = createSpillStore({ dir: 'outputs', reference: 'id' })
const policy = { redact: true } satisfies ResultPolicy

// Tools: results are bounded, redacted and saved; the model reads the rest with read_output.
const bash = {
  name: 'bash',
  async execute({ command }: { command: string }) {
    const capture = new OutputCapture({ ...policy, spill: store, tool: 'bash' })
    const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
    return (await capture.attach(child)).text
  },
}
const readPart = {
  name: 'read_part',
  execute: async ({ part }: { part: number }) => `row ${part} of the data\n`.repeat(2_000),
}
const wrapped = wrapTools([readPart], { ...policy, spill: store })
const tools = [bash, ...wrapped, spillTool(store)]

// The session on disk: nothing oversized is stored, and no secret in a result.
const session = {
  history: [] as Message[],
  appendMessage(message: Message) {
    this.history.push(message)
    appendFileSync('session.jsonl', `${JSON.stringify(message)}\n`)
  },
}
guardSession(session, policy)

// The context clears old results for good, and learns from a refusal. Store `state` with the session.
const context = createContext({ contextTokens: 32_000, reserveTokens: 4_000, spill: store })

/** Stands in for your client: its model takes less than we were told, and calls a tool 200 times. */
const WINDOW = 20_000
let [asked, refused, most] = [0, 0, 0]
async function model(messages: Message[]): Promise<Message> {
  const tokens = messages.reduce((sum, one) => sum + estimateTokens(JSON.stringify(one)), 0)
  if (tokens > WINDOW) {
    refused += 1
    throw Object.assign(new Error(`prompt is too long: ${tokens} tokens > ${WINDOW} maximum`), {
      status: 400,
    })
  }
  most = Math.max(most, tokens)
  asked += 1
  const call = (name: string, args: object): Call => ({
    id: `call_${asked}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  })
  if (asked > 200) return { role: 'assistant', content: 'All parts are read.' }
  const next = asked % 10 === 0 ? call('bash', { command: 'echo done' }) : call('read_part', { part: asked })
  return { role: 'assistant', content: 'Next.', tool_calls: [next] }
}

async function turn(question: string): Promise<string> {
  session.appendMessage({ role: 'user', content: question })
  for (;;) {
    const answer = await context.run(session.history, model, { system: 'You read data.' })
    session.appendMessage(answer)
    const calls = (answer['tool_calls'] as Call[] | undefined) ?? []
    if (calls.length === 0) return answer.content
    for (const { id, function: call } of calls) {
      const tool = tools.find(({ name }) => name === call.name) as {
        execute: (args: never) => Promise<unknown>
      }
      const result: unknown = await tool.execute(JSON.parse(call.arguments) as never)
      const content = typeof result === 'string' ? result : JSON.stringify(result)
      session.appendMessage({ role: 'tool', tool_call_id: id, content })
    }
  }
}

console.log(await turn('Read all parts.'))
console.log({ asked, refused, fits: most <= WINDOW, stored: session.history.length })

// A complete agent over the chat API of OpenAI, which many providers speak. It survives results of
// any size, a full window and a restart.
//
//   OPENAI_API_KEY   key of the provider
//   OPENAI_BASE_URL  default https://api.openai.com/v1
//   OPENAI_MODEL     default gpt-4.1
//   AGENT_WINDOW     tokens of its window, default 128000; a refusal lowers it
//   AGENT_DIR        its session and outputs, default .agent
//
//   npm start                  asks for a question, and for the next one
//   npm start -- QUESTION      answers one
import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import {
  createContext,
  createSpillStore,
  guardSession,
  OutputCapture,
  type ResultPolicy,
  repairSession,
  spillTool,
  wrapTools,
} from 'spillway'

interface Call {
  id: string
  type: 'function'
  function: { name: string; arguments: string }
}
interface Message {
  role: string
  content: string | null
  tool_calls?: Call[]
  tool_call_id?: string
}
interface Tool {
  name: string
  description: string
  parameters: object
  execute(input: never): Promise<unknown>
}

const {
  OPENAI_API_KEY: key = '',
  OPENAI_BASE_URL: url = 'https://api.openai.com/v1',
  OPENAI_MODEL: model = 'gpt-4.1',
  AGENT_WINDOW: window = '128000',
  AGENT_DIR: dir = '.agent',
} = process.env
const [sessionFile, stateFile] = [join(dir, 'session.jsonl'), join(dir, 'context.json')]
const SYSTEM =
  'You are an agent in a terminal. Use your tools. Read what a result leaves out with read_output.'
/** Milliseconds of a command. */
const TIMEOUT = 120_000

// One policy for tools, commands and the stored session. Full outputs are saved, without secrets.
mkdirSync(dir, { recursive: true })
const store = createSpillStore({ dir: join(dir, 'outputs'), reference: 'id' })
const policy = { redact: true } satisfies ResultPolicy

const bash: Tool = {
  name: 'bash',
  description: 'Runs a command in a shell and returns its output.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  async execute({ command }: { command: string }) {
    const capture = new OutputCapture({ ...policy, spill: store, tool: 'bash' })
    const child = spawn(command, { shell: true, stdio: ['ignore', 'pipe', 'pipe'], timeout: TIMEOUT })
    return (await capture.attach(child)).text
  },
}
const readFile: Tool = {
  name: 'read_file',
  description: 'Returns the text of a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: async ({ path }: { path: string }) => readFileSync(path, 'utf8'),
}
const tools: Tool[] = [bash, ...wrapTools([readFile], { ...policy, spill: store }), spillTool(store)]
const described = tools.map(({ name, description, parameters }) => ({
  type: 'function',
  function: { name, description, parameters },
}))

/** The session of an earlier run. A call whose process ended gets a result, so that a provider
 *  takes the history. */
async function stored(): Promise<Message[]> {
  if (!existsSync(sessionFile)) return []
  await repairSession(sessionFile, { ...policy, pairs: true, damaged: 'mend', backup: false })
  const rows = readFileSync(sessionFile, 'utf8').split('\n')
  return rows.filter((row) => row !== '').map((row) => JSON.parse(row) as Message)
}

const session = {
  history: await stored(),
  appendMessage(message: Message) {
    this.history.push(message)
    appendFileSync(sessionFile, `${JSON.stringify(message)}\n`)
  },
}
guardSession(session, policy)

// Clears old results for good, and learns from a refusal. Its state goes on in the next process.
const state = existsSync(stateFile) ? (JSON.parse(readFileSync(stateFile, 'utf8')) as object) : undefined
const context = createContext({ contextTokens: Number(window), spill: store, state })

/** Sends a request. The error of a refusal has the words of the provider, which the context
 *  reads. */
async function send(messages: Message[]): Promise<Message> {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify({
      model,
      messages: [{ role: 'system', content: SYSTEM }, ...messages],
      tools: described,
    }),
  })
  const body = await response.text()
  if (!response.ok) throw Object.assign(new Error(body), { status: response.status })
  const { choices } = JSON.parse(body) as { choices: { message: Message }[] }
  const message = choices[0]?.message
  if (!message) throw new Error(`the provider sent no message: ${body.slice(0, 500)}`)
  return message
}

/** Runs a call. The model reads what went wrong, and may try again. */
async function result({ function: { name, arguments: input } }: Call): Promise<string> {
  const tool = tools.find((tool) => tool.name === name)
  if (!tool) return `There is no tool ${name}.`
  try {
    const result: unknown = await tool.execute(JSON.parse(input) as never)
    return typeof result === 'string' ? result : JSON.stringify(result)
  } catch (error) {
    return `Error: ${error instanceof Error ? error.message : error}`
  }
}

async function answer(question: string): Promise<string> {
  session.appendMessage({ role: 'user', content: question })
  for (;;) {
    const message = await context.run(session.history, send, { system: SYSTEM, tools: described })
    writeFileSync(stateFile, JSON.stringify(context.state))
    session.appendMessage(message)
    if (!message.tool_calls?.length) return message.content ?? ''
    for (const call of message.tool_calls)
      session.appendMessage({ role: 'tool', tool_call_id: call.id, content: await result(call) })
  }
}

const given = process.argv.slice(2).join(' ')
if (given !== '') console.log(await answer(given))
else {
  const terminal = createInterface({ input: process.stdin, output: process.stdout, prompt: '> ' })
  terminal.prompt()
  for await (const line of terminal) {
    if (line.trim() !== '') console.log(await answer(line))
    terminal.prompt()
  }
}

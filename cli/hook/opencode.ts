import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

interface PluginCall {
  readonly tool: string
  readonly sessionID: string
  readonly callID: string
  readonly args: unknown
}

/** Milliseconds to wait for the command; after that a result stays unchanged. */
const PATIENCE = 10_000

/** Plugin of OpenCode, which cannot run a command for its events: runs the command in its options
 *  for each result. */
const server = async (_: unknown, { command }: { command: string }) => ({
  'tool.execute.after': async ({ tool, sessionID, callID, args }: PluginCall, result: object) => {
    const event = {
      hook_event_name: 'tool.execute.after',
      session_id: sessionID,
      tool_name: tool,
      tool_use_id: callID,
      tool_input: args,
      tool_response: result,
    }
    const answer = await ask(command, JSON.stringify(event)).catch(() => undefined)
    if (answer) Object.assign(result, answer.tool_response)
  },
})

export default { id: 'spillway', server }

async function ask(command: string, event: string): Promise<{ tool_response: object } | undefined> {
  const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.on('error', () => {})
  child.stdin.end(event)
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk) => chunks.push(chunk))
  // The children of a shell outlive it.
  const isLate = await Promise.race([once(child, 'close'), sleep(PATIENCE, true, { ref: false })])
  if (isLate === true) child.kill()
  return isLate === true || chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString())
}

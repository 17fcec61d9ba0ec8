// Stands in for the program of Claude Code, which the SDK starts, takes 400 MB and needs a model.
// Speaks its control protocol on stdin and stdout. Runs the steps of the file SCRIPT: an event for
// the first hook of its kind, or a message for an MCP server in the process of the SDK. Its last
// message is the list of answers.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const steps = JSON.parse(readFileSync(process.env.SCRIPT, 'utf8'))
const answers = []
let hooks = {}

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)

function requestOf(step) {
  if (step.server !== undefined)
    return { subtype: 'mcp_message', server_name: step.server, message: step.message }
  const [callback_id] = hooks[step.hook_event_name][0].hookCallbackIds
  return { subtype: 'hook_callback', callback_id, tool_use_id: step.tool_use_id, input: step }
}

/** Sends the next step, or the answers to all of them. */
function go() {
  const step = steps[answers.length]
  const request_id = String(answers.length)
  if (step) send({ type: 'control_request', request_id, request: requestOf(step) })
  else send({ type: 'result', subtype: 'success', is_error: false, result: JSON.stringify(answers) })
}

for await (const line of createInterface({ input: process.stdin })) {
  const { type, request_id, request, response } = JSON.parse(line)
  if (type === 'control_request') {
    if (request.subtype === 'initialize') hooks = request.hooks ?? {}
    const response = { subtype: 'success', request_id, response: {} }
    send({ type: 'control_response', response })
    if (request.subtype === 'initialize') go()
  } else if (type === 'control_response') {
    answers.push(response.response?.mcp_response ?? response.response ?? response)
    go()
  }
}

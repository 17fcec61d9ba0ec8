import { ofDataUrl } from '../media.mjs'

/** OpenAI's Responses API. */
export const responses = {
  dialect: 'openai-responses',
  owns: (url) => /\/responses(\?|$)/.test(url),
  historyOf: (body) => body.input,

  carried: (body) =>
    body.input.map(({ type, role, call_id, name, arguments: text, output, content }) => {
      if (type === 'function_call') return { kind: 'call', id: call_id, name, text }
      if (type === 'function_call_output') return { kind: 'result', id: call_id, ...told(output) }
      return { kind: role ?? type, ...told(content) }
    }),

  answer: ({ response, body, step, id }) => {
    const output = step.calls?.map(({ name, namespace, input }, at) => ({
      type: 'function_call',
      id: `fc_${id}_${at}`,
      call_id: `call_${id}_${at}`,
      name,
      ...(namespace && { namespace }),
      arguments: JSON.stringify(input),
    })) ?? [
      {
        type: 'message',
        id: `msg_${id}`,
        role: 'assistant',
        content: [{ type: 'output_text', text: step.text, annotations: [] }],
      },
    ]
    const input_tokens = step.tokens ?? 1
    // Local servers report none, and Codex then writes no row behind the call.
    const usage = { usage: { input_tokens, output_tokens: 1, total_tokens: input_tokens + 1 } }
    const whole = {
      id: `resp_${id}`,
      object: 'response',
      status: 'completed',
      output,
      ...(!step.hasNoUsage && usage),
    }
    if (!body.stream) return response.json(whole)
    response.events([
      { type: 'response.created', response: { id: whole.id } },
      ...output.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.completed', response: whole },
    ])
  },
}

function told(content) {
  if (typeof content === 'string') return { text: content, media: [] }
  const parts = content ?? []
  return {
    text: parts.map(({ text = '' }) => text).join('\n'),
    media: parts.flatMap(({ image_url }) => (image_url ? ofDataUrl(image_url) : [])),
  }
}

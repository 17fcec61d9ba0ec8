import { ofDataUrl } from '../media.mjs'

/** OpenAI's Chat Completions, which most hosts speak to any provider: so images are judged by the
 *  limits of the strictest. */
export const chat = {
  dialect: 'openai-chat',
  media: 'anthropic',
  owns: (url) => /chat\/completions/.test(url),
  historyOf: (body) => body.messages,

  carried: (body) =>
    body.messages.flatMap(({ role, content, tool_calls = [], tool_call_id }) => {
      if (role === 'tool') return { kind: 'result', id: tool_call_id, ...told(content) }
      const calls = tool_calls.map(({ id, function: { name, arguments: text } }) => ({
        kind: 'call',
        id,
        name,
        text,
      }))
      return content?.length ? [{ kind: role, ...told(content) }, ...calls] : calls
    }),

  answer: ({ response, body, step, id }) => {
    const tool_calls = step.calls?.map(({ name, input }, index) => ({
      index,
      id: `call_${id}_${index}`,
      type: 'function',
      function: { name, arguments: JSON.stringify(input) },
    }))
    const finish_reason = tool_calls ? 'tool_calls' : 'stop'
    const base = { id: `c${id}`, created: 1, model: body.model }
    const message = { role: 'assistant', content: step.text ?? null, ...(tool_calls && { tool_calls }) }
    const prompt_tokens = step.tokens ?? 1
    const usage = { prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 }
    if (!body.stream) {
      const choices = [{ index: 0, message, finish_reason }]
      return response.json({ ...base, object: 'chat.completion', choices, usage })
    }
    const chunk = (choices, more) => ({ ...base, object: 'chat.completion.chunk', choices, ...more })
    response.events([
      chunk([{ index: 0, delta: message, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason }]),
      chunk([], { usage }),
      '[DONE]',
    ])
  },
}

function told(content) {
  if (typeof content === 'string') return { text: content, media: [] }
  const parts = content ?? []
  return {
    text: parts.map(({ text = '' }) => text).join('\n'),
    media: parts.flatMap(({ image_url }) => (image_url ? ofDataUrl(image_url.url) : [])),
  }
}

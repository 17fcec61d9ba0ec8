/** Anthropic's Messages API. */
export const messages = {
  dialect: 'anthropic',
  owns: (url) => /\/messages(\?|$)/.test(url),
  /** Claude Code puts words of the system between messages, by a beta of the API. */
  historyOf: (body) => body.messages.filter(({ role }) => role !== 'system'),

  /** Lists the entries of a request, in order. */
  carried: (body) =>
    body.messages.flatMap(({ role, content }) =>
      blocksOf(content).map((block) => {
        const { type, id, name, input, tool_use_id } = block
        if (type === 'tool_use') return { kind: 'call', id, name, text: JSON.stringify(input) }
        if (type === 'tool_result') return { kind: 'result', id: tool_use_id, ...told(block.content) }
        return { kind: role, ...told([block]) }
      }),
    ),

  /** Answers with an event for each part of a step. */
  answer: ({ response, body, step, id }) => {
    const blocks = step.calls?.map(({ name, input }, at) => ({
      type: 'tool_use',
      id: `toolu_${id}_${at}`,
      name,
      input,
    })) ?? [{ type: 'text', text: step.text }]
    const stop_reason = step.calls ? 'tool_use' : 'end_turn'
    const usage = { input_tokens: step.tokens ?? 1, output_tokens: 1 }
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model: body.model, usage }
    const start = { ...message, content: [], stop_reason: null, stop_sequence: null }
    if (!body.stream) return response.json({ ...message, content: blocks, stop_reason, stop_sequence: null })
    response.events([
      { type: 'message_start', message: start },
      ...blocks.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: opened(block) },
        { type: 'content_block_delta', index, delta: deltaOf(block) },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ])
  },
}

const blocksOf = (content) => (typeof content === 'string' ? [{ type: 'text', text: content }] : content)

/** Returns the words and the media of blocks. */
function told(content = []) {
  const blocks = blocksOf(content)
  return {
    text: blocks.map(({ text = '' }) => text).join('\n'),
    media: blocks.flatMap(({ source }) =>
      source?.type === 'base64' ? { type: source.media_type, data: source.data } : [],
    ),
  }
}

const opened = (block) => (block.type === 'text' ? { type: 'text', text: '' } : { ...block, input: {} })
const deltaOf = ({ type, text, input }) =>
  type === 'text'
    ? { type: 'text_delta', text }
    : { type: 'input_json_delta', partial_json: JSON.stringify(input) }

/** Google's generateContent. */
export const gemini = {
  dialect: 'gemini',
  owns: (url) => /generateContent/i.test(url),
  historyOf: (body) => body.contents,

  carried: (body) =>
    body.contents.flatMap(({ role, parts }) =>
      parts.map(({ functionCall, functionResponse, ...part }) => {
        if (functionCall) {
          const { id, name, args } = functionCall
          return { kind: 'call', id: id ?? name, name, text: JSON.stringify(args) }
        }
        if (!functionResponse) return { kind: role, text: part.text ?? '', media: mediaOf([part]) }
        const { id, name, response, parts = [] } = functionResponse
        const text = response?.output ?? JSON.stringify(response)
        return { kind: 'result', id: id ?? name, name, text: String(text), media: mediaOf(parts) }
      }),
    ),

  answer: ({ request, response, step, id }) => {
    const parts = step.calls?.map(({ name, input }, at) => ({
      functionCall: { id: `call_${id}_${at}`, name, args: input },
    })) ?? [{ text: step.text }]
    const promptTokenCount = step.tokens ?? 1
    const answer = {
      candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
      usageMetadata: { promptTokenCount, candidatesTokenCount: 1, totalTokenCount: promptTokenCount + 1 },
    }
    if (request.url.includes('stream')) response.events([answer])
    else response.json(answer)
  },
}

const mediaOf = (parts) =>
  parts.flatMap(({ inlineData }) => (inlineData ? { type: inlineData.mimeType, data: inlineData.data } : []))

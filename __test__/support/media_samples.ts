// biome-ignore-all lint/suspicious/noExplicitAny: the shapes of frameworks are read by path
import type { DialectName } from 'spillway'

/** A tool result with a text and payloads, as a framework has it. */
export interface MediaSample {
  dialect: DialectName
  name: string
  /** Makes a message with a call id, a text and payloads of PNG as base64. */
  make: (id: string, text: string, payloads: readonly string[]) => object
  /** The blocks after the text. */
  blocks: (value: any) => any[]
  /** Makes the block that stands for one with these words. */
  words: (words: string) => object
}

const text = (text: string) => ({ type: 'text', text })
const mime = { mimeType: 'image/png' }
const url = (data: string) => `data:image/png;base64,${data}`

const aiSdk = (block: (data: string) => object, name: string): MediaSample => ({
  dialect: 'ai-sdk',
  name,
  make: (id, said, payloads) => ({
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: id,
        toolName: 't',
        output: { type: 'content', value: [text(said), ...payloads.map(block)] },
      },
    ],
  }),
  blocks: ({ content }) => content[0].output.value.slice(1),
  words: text,
})

export const mediaSamples: MediaSample[] = [
  {
    dialect: 'pi',
    name: 'image',
    make: (id, said, payloads) => ({
      role: 'toolResult',
      toolCallId: id,
      content: [text(said), ...payloads.map((data) => ({ type: 'image', data, ...mime }))],
    }),
    blocks: ({ content }) => content.slice(1),
    words: text,
  },
  {
    dialect: 'mcp',
    name: 'image and blob',
    make: (_, said, payloads) => ({
      content: [
        text(said),
        ...payloads.map((data, at) =>
          at % 2
            ? { type: 'resource', resource: { uri: 'file:///a.png', blob: data, ...mime } }
            : { type: 'image', data, ...mime },
        ),
      ],
    }),
    blocks: ({ content }) => content.slice(1),
    words: text,
  },
  aiSdk((data) => ({ type: 'image-data', data, mediaType: 'image/png' }), 'image-data'),
  aiSdk((data) => ({ type: 'media', data, mediaType: 'image/png' }), 'media'),
  aiSdk((data) => ({ type: 'image-url', url: url(data) }), 'image-url'),
  aiSdk((data) => ({ type: 'file', mediaType: 'image/png', data: { type: 'data', data } }), 'file'),
  {
    dialect: 'ai-sdk-ui',
    name: 'a result of MCP',
    make: (id, said, payloads) => ({
      role: 'assistant',
      parts: [
        {
          type: 'tool-t',
          toolCallId: id,
          state: 'output-available',
          output: { content: [text(said), ...payloads.map((data) => ({ type: 'image', data, ...mime }))] },
        },
      ],
    }),
    blocks: ({ parts }) => parts[0].output.content.slice(1),
    words: text,
  },
  {
    dialect: 'langchain',
    name: 'image_url',
    make: (id, said, payloads) => ({
      type: 'tool',
      tool_call_id: id,
      content: [
        text(said),
        ...payloads.map((data) => ({ type: 'image_url', image_url: { url: url(data) } })),
      ],
    }),
    blocks: ({ content }) => content.slice(1),
    words: text,
  },
  {
    dialect: 'gemini',
    name: 'inlineData',
    make: (id, said, payloads) => ({
      role: 'user',
      parts: [
        {
          functionResponse: {
            id,
            name: 't',
            response: { output: said },
            parts: payloads.map((data) => ({ inlineData: { data, ...mime } })),
          },
        },
      ],
    }),
    blocks: ({ parts }) => parts[0].functionResponse.parts,
    words: (words) => ({
      inlineData: { data: Buffer.from(words).toString('base64'), mimeType: 'text/plain' },
    }),
  },
  {
    dialect: 'gemini-cli',
    name: 'inlineData beside a result',
    make: (id, said, payloads) => ({
      type: 'gemini',
      toolCalls: [
        {
          id,
          name: 't',
          result: [
            { functionResponse: { id, name: 't', response: { output: said } } },
            ...payloads.map((data) => ({ inlineData: { data, ...mime } })),
          ],
        },
      ],
    }),
    blocks: ({ toolCalls }) => toolCalls[0].result.slice(1),
    words: (words) => ({ text: words }),
  },
  {
    dialect: 'anthropic',
    name: 'image',
    make: (id, said, payloads) => ({
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: id,
          content: [
            text(said),
            ...payloads.map((data) => ({
              type: 'image',
              source: { type: 'base64', media_type: 'image/png', data },
            })),
          ],
        },
      ],
    }),
    blocks: ({ content }) => content[0].content.slice(1),
    words: text,
  },
  {
    dialect: 'bedrock',
    name: 'image',
    make: (id, said, payloads) => ({
      role: 'user',
      content: [
        {
          toolResult: {
            toolUseId: id,
            content: [
              { text: said },
              ...payloads.map((data) => ({ image: { format: 'png', source: { bytes: data } } })),
            ],
          },
        },
      ],
    }),
    blocks: ({ content }) => content[0].toolResult.content.slice(1),
    words: (text) => ({ text }),
  },
  {
    dialect: 'openai-chat',
    name: 'image_url',
    make: (id, said, payloads) => ({
      role: 'tool',
      tool_call_id: id,
      content: [
        text(said),
        ...payloads.map((data) => ({ type: 'image_url', image_url: { url: url(data) } })),
      ],
    }),
    blocks: ({ content }) => content.slice(1),
    words: text,
  },
  {
    dialect: 'openai-responses',
    name: 'input_image',
    make: (id, said, payloads) => ({
      type: 'function_call_output',
      call_id: id,
      output: [
        { type: 'input_text', text: said },
        ...payloads.map((data) => ({ type: 'input_image', image_url: url(data) })),
      ],
    }),
    blocks: ({ output }) => output.slice(1),
    words: (text) => ({ type: 'input_text', text }),
  },
  {
    dialect: 'openai-agents',
    name: 'image',
    make: (id, said, payloads) => ({
      type: 'function_call_result',
      callId: id,
      name: 't',
      output: [
        { type: 'input_text', text: said },
        ...payloads.map((data) => ({ type: 'input_image', image: url(data) })),
      ],
    }),
    blocks: ({ output }) => output.slice(1),
    words: (text) => ({ type: 'input_text', text }),
  },
  {
    dialect: 'mastra',
    name: 'model output',
    make: (id, said, payloads) => ({
      role: 'assistant',
      content: {
        format: 2,
        parts: [
          {
            type: 'tool-invocation',
            toolInvocation: { state: 'result', toolCallId: id, toolName: 't', args: {}, result: said },
            providerMetadata: {
              mastra: {
                modelOutput: {
                  type: 'content',
                  value: payloads.map((data) => ({ type: 'media', data, mediaType: 'image/png' })),
                },
              },
            },
          },
        ],
      },
    }),
    blocks: ({ content }) => content.parts[0].providerMetadata.mastra.modelOutput.value,
    words: text,
  },
]

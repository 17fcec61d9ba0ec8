import { compile, withSuffix } from '../../policy.js'
import { get, quietly } from '../../reading.js'
import { clamp } from '../../text.js'

const TOOL_RESULT_MAX_CHARS = 8_000

const policy = compile(
  withSuffix(
    {
      maxBytes: Number.POSITIVE_INFINITY,
      maxLines: Number.POSITIVE_INFINITY,
      maxChars: TOOL_RESULT_MAX_CHARS,
      keep: 'head',
      snap: 'char',
    },
    '\n\u2026(truncated)\u2026',
  ),
)

export function sanitizeToolResult(result: unknown): unknown {
  if (typeof result === 'string') return clamp(result, policy)
  if (typeof result !== 'object' || result === null) return result
  return quietly(() => sanitized(result)) ?? result
}

function sanitized(result: object): object {
  const content = get(result, 'content')
  if (typeof content === 'string') {
    const text = clamp(content, policy)
    return text === content ? result : { ...result, content: text }
  }
  if (!Array.isArray(content)) return result
  const blocks = content.map((block: unknown) => quietly(() => sanitizedBlock(block)) ?? block)
  return blocks.every((block, at) => block === content[at]) ? result : { ...result, content: blocks }
}

function sanitizedBlock(block: unknown): unknown {
  if (typeof block !== 'object' || block === null) return block
  const type = get(block, 'type')
  if (type === 'text') {
    const text = get(block, 'text')
    const short = typeof text === 'string' ? clamp(text, policy) : text
    return short === text ? block : { ...block, text: short }
  }
  const data = type === 'image' ? get(block, 'data') : undefined
  if (data === undefined) return block
  const { data: _, ...rest } = block as { data: unknown }
  const bytes = decodedBytes(data)
  return { ...rest, ...(bytes !== undefined && { bytes }), omitted: true }
}

/** Bytes of an image, which comes as base64, as a data URL or as it is. */
function decodedBytes(data: unknown): number | undefined {
  if (typeof data === 'string') return Buffer.byteLength(data.slice(data.indexOf(',') + 1), 'base64')
  return ArrayBuffer.isView(data) ? data.byteLength : undefined
}

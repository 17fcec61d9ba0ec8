import { compile, UNLIMITED, withSuffix } from '../../policy.js'
import { quietly } from '../../reading.js'
import { redrawn } from '../../result/display.js'
import { clamp } from '../../text/text.js'

const TOOL_RESULT_MAX_CHARS = 8_000

const policy = compile(
  withSuffix(
    {
      ...UNLIMITED,
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
  return quietly(() => redrawn(result, 'pi', (text) => clamp(text, policy))) ?? result
}

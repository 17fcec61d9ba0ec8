import type { Policy } from 'spillway'
import type { HardTruncateLimits } from 'spillway/openclaw'
import { bound, checkOptions, checkString, text as textOption } from '../../option.js'
import { compile, withSuffix } from '../../policy.js'
import { clampError } from '../../result/error.js'
import { clampValue } from '../../result/result.js'
import { wrapTool } from '../../result/tool.js'
import { clampText } from '../../text/text.js'

export const HARD_TRUNCATE_SUFFIX: string =
  '\n\n[tool output truncated: exceeded 50KB or 2000 lines; request smaller chunks (offset/limit) or specific sections]'

export function truncateTextByLinesAndBytesUtf8(text: string, limits?: HardTruncateLimits): string {
  return clampText(checkString(text), policyOf(limits))
}

export function hardTruncateToolPayload<T>(payload: T, limits?: HardTruncateLimits): T {
  return clampValue(payload, compile(policyOf(limits)))
}

export function hardTruncateToolError<E>(error: E, limits?: HardTruncateLimits): E {
  return clampError(error, policyOf(limits))
}

export function wrapToolWithHardOutputTruncate<T extends object>(tool: T, limits?: HardTruncateLimits): T {
  return wrapTool(tool, policyOf(limits))
}

function policyOf(limits: HardTruncateLimits | undefined): Policy {
  return limits === undefined ? preset : checked(limits)
}

function checked(limits: HardTruncateLimits): Policy {
  checkOptions('limits', limits)
  const maxBytes = bound('maxBytesUtf8', limits.maxBytesUtf8, 51_200)
  const maxLines = bound('maxLines', limits.maxLines, 2_000)
  const suffix = textOption('suffix', limits.suffix, HARD_TRUNCATE_SUFFIX)
  return withSuffix({ maxBytes, maxLines, keep: 'head', snap: 'char', dialect: 'pi' }, suffix, true)
}

const preset = checked({})

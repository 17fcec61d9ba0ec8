export { cleanText } from './lib/clean.js'
export { clampError } from './lib/error.js'
export { definePolicy } from './lib/policy.js'
export { clampResult } from './lib/result.js'
export {
  clampText,
  clampTextWithReport,
  estimateTokens,
  measureText,
  sliceUtf16Safe,
  truncateUtf16Safe,
} from './lib/text.js'
export { wrapTool, wrapTools } from './lib/tool.js'

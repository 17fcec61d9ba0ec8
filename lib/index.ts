import { classOf, functionsOf } from './wing.js'

export { ContextOverflowError } from './context/overflow_error.js'
export { definePolicy } from './policy.js'
export { clampJson, clampJsonWithReport } from './text/clamp_json.js'
export { cleanText } from './text/clean.js'
export { redactText } from './text/redact.js'
export { clampText, clampTextWithReport, estimateTokens, measureText } from './text/text.js'

// The wings: each is a file that is loaded when one of its exports is first called.
const capture = () => require('./wings/capture.js') as typeof import('./wings/capture.js')
const context = () => require('./wings/context.js') as typeof import('./wings/context.js')
const events = () => require('./wings/events.js') as typeof import('./wings/events.js')
const pairs = () => require('./wings/pairs.js') as typeof import('./wings/pairs.js')
const result = () => require('./wings/result.js') as typeof import('./wings/result.js')
const session = () => require('./wings/session.js') as typeof import('./wings/session.js')
const spill = () => require('./wings/spill.js') as typeof import('./wings/spill.js')

export const OutputCapture = classOf('OutputCapture', capture)
export const { formatProcessOutput } = functionsOf(capture)
export const {
  applyPlan,
  classifyProviderError,
  clearToolResults,
  createContext,
  precheck,
  runWithRecovery,
} = functionsOf(context)
export const { logEvents } = functionsOf(events)
export const { repairToolPairs } = functionsOf(pairs)
export const {
  clampError,
  clampMessages,
  clampResult,
  clampResultAsync,
  clampTextAsync,
  sanitizeForDisplay,
  wrapTool,
  wrapTools,
} = functionsOf(result)
export const { guardSession, inspectSession, repairSession } = functionsOf(session)
export const { createSpillStore, spillReader, spillTool } = functionsOf(spill)

if (process.env['SPILLWAY_STATS'] === '1')
  (require('./wings/stats.js') as typeof import('./wings/stats.js')).follow()

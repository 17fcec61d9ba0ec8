// Names that OpenClaw's own unit tests import, and its code does not. `spillway/openclaw` does not
// export them, so the tests that are re-told here take them from the file behind it.
import { createRequire } from 'node:module'
import type * as Wing from '../../lib/wings/openclaw.js'

export { PREEMPTIVE_CONTEXT_OVERFLOW_MESSAGE } from '../../lib/compat/openclaw/constants.js'

export const {
  calculateMaxToolResultCharsWithCap,
  estimateContextChars,
  estimateMessageCharsCached,
  estimateToolResultReductionPotential,
  formatContextLimitTruncationNotice,
  getToolResultTextLength,
  isToolResultMessage,
  resolveAutoLiveToolResultMaxChars,
  resolveToolResultContextMaxChars,
} = createRequire(__filename)('../../dist/wings/openclaw.js') as typeof Wing

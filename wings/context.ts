export { applyPlan } from '../lib/context/apply_plan.js'
export { precheck } from '../lib/context/precheck.js'
export { runWithRecovery } from '../lib/context/recovery.js'
export { classifyProviderError } from '../lib/provider_errors/classify.js'

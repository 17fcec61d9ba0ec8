export { applyPlan } from '../context/apply_plan.js'
export { precheck } from '../context/precheck.js'
export { runWithRecovery } from '../context/recovery.js'
export { classifyProviderError } from '../provider_errors/classify.js'

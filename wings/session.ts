export { guardSession } from '../lib/session/guard.js'
export { inspectCounted, inspectSession, repairCounted, repairSession } from '../lib/session/session.js'

export { guardSession } from '../lib/session/guard.js'
export { inspectSession, repairSession } from '../lib/session/session.js'

export { guardSession } from '../session/guard.js'
export { inspectSession, repairSession } from '../session/session.js'

export { logEvents } from '../events/log.js'

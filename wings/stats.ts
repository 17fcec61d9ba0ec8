export { follow } from '../lib/stats/follow.js'

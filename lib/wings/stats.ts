export { follow } from '../stats/follow.js'

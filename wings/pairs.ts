export { repairToolPairs } from '../lib/pairs/repair.js'

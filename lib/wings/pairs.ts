export { repairToolPairs } from '../pairs/repair.js'

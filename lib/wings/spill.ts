export { createSpillStore } from '../spill/spill.js'
export { spillTool } from '../spill/spill_tool.js'

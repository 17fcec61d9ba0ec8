export { createSpillStore } from '../lib/spill/spill.js'
export { spillTool } from '../lib/spill/spill_tool.js'

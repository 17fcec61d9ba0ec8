export { createSpillStore } from '../spill/spill.js'
export { spillReader } from '../spill/spill_reader.js'
export { spillTool } from '../spill/spill_tool.js'

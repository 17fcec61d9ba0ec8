export { OutputCapture } from '../lib/capture/capture.js'
export { formatProcessOutput } from '../lib/capture/process.js'

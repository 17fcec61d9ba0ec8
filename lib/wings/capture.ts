export { OutputCapture } from '../capture/capture.js'
export { formatProcessOutput } from '../capture/process.js'

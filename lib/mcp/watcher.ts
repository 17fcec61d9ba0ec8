import type { McpCall } from './results.js'

/** Receives what an exchange reports. */
export interface Watcher {
  /** Takes a sentence about a call whose answer lost more than its texts say. */
  tell(text: string, call?: McpCall): void
  /** Takes the chars of a result before and after. */
  count(call: McpCall, shown: number, sent: number, more: object | false): void
}

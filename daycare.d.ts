/**
 * spillway under the names of Daycare's truncation utilities, with their signatures and notices. There, notices come on
 * top of the limits, two cuts one after the other lose stdout and break JSON, and pairs are split. Here:
 *  - the limit holds, notice included, and text comes out well-formed;
 *  - formatExecOutput answers within the 8,000 chars that toolResultTruncate leaves, so that its JSON parses and shows
 *    both streams after both;
 *  - the body of rlmNoToolsResultMessageBuild is bounded for errors too.
 * A last argument `{ noticeInside: false }` brings back the original arithmetic, split pairs included.
 *
 * All limits are in chars. Limits that are no whole number from 0 up, or Infinity, throw with code ERR_SPILLWAY_OPTION.
 */

export interface ArithmeticOptions {
  /** Default true: the notice counts inside the limit. */
  noticeInside?: boolean
}

/** The first `maxLength` chars and "...". */
export function stringTruncate(value: string, maxLength: number, options?: ArithmeticOptions): string
/** "... (X chars truncated from SOURCE)", a newline, and the end. */
export function stringTruncateTail(
  value: string,
  maxLength: number,
  source?: string,
  options?: ArithmeticOptions,
): string
/** The start, "... (X chars truncated from SOURCE) ..." between blank lines, and the end. */
export function stringTruncateHeadTail(
  value: string,
  maxLength: number,
  source?: string,
  options?: ArithmeticOptions,
): string

export interface ToolExecutionResult {
  toolMessage: { content: string | readonly object[] }
}
/** Every text block to its last 8,000 chars, with the total in the notice. The same object when nothing is cut. */
export function toolResultTruncate<T extends ToolExecutionResult>(result: T, options?: ArithmeticOptions): T
/** JSON of both streams, each from its end, or a sentence where there is no output. At most 8,000 chars. */
export function formatExecOutput(
  stdout: string,
  stderr: string,
  failed: boolean,
  options?: ArithmeticOptions,
): string

export interface RlmExecuteResult {
  output: string
  printOutput: readonly string[]
  toolCallCount: number
}
/** What a Python run printed and returned, 8,000 chars each, 16,000 together. */
export function rlmResultTextBuild(result: RlmExecuteResult, options?: ArithmeticOptions): string
/** A tool result of at most 16,000 chars; the summary is the same text. */
export function rlmToolResultBuild(
  toolCall: { id: string; name: string },
  text: string,
  isError: boolean,
  options?: ArithmeticOptions,
): {
  toolMessage: {
    role: 'toolResult'
    toolCallId: string
    toolName: string
    content: { type: 'text'; text: string }[]
    isError: boolean
    timestamp: number
  }
  typedResult: { summary: string; isError: boolean }
}
export interface UserMessage {
  role: 'user'
  content: { type: 'text'; text: string }[]
  timestamp: number
}
/** A user message with what a Python run came to in `<python_result>`: a body of at most 16,000 chars. */
export function rlmNoToolsResultMessageBuild(
  outcome: { result: RlmExecuteResult } | { error: unknown },
  options?: ArithmeticOptions,
): UserMessage

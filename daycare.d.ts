/**
 * Daycare's truncation utilities on top of spillway, with their names, signatures and notices. In the originals,
 * notices exceed the limits, two consecutive cuts lose stdout and break JSON, and surrogate pairs are split. Here:
 *  - the limit holds, notice included, and text is well-formed;
 *  - formatExecOutput returns at most the 8,000 chars that toolResultTruncate keeps, so its JSON still parses and shows
 *    both streams after both cuts;
 *  - the body of rlmNoToolsResultMessageBuild is bounded for errors too.
 * A last argument `{ noticeInside: false }` restores the original arithmetic, split pairs included.
 *
 * All limits are in chars. A limit must be a whole number from 0 up, or Infinity; any other value throws with code
 * ERR_SPILLWAY_OPTION.
 */

export interface ArithmeticOptions {
  /** Counts the notice towards the limit. Default true. */
  noticeInside?: boolean
}

/** Keeps the start of a text and appends "...", which counts towards `maxLength`. */
export function stringTruncate(value: string, maxLength: number, options?: ArithmeticOptions): string
/** Keeps the end of a text after "... (X chars truncated from SOURCE)" and a newline. */
export function stringTruncateTail(
  value: string,
  maxLength: number,
  source?: string,
  options?: ArithmeticOptions,
): string
/** Keeps both ends of a text, with "... (X chars truncated from SOURCE) ..." between blank lines. */
export function stringTruncateHeadTail(
  value: string,
  maxLength: number,
  source?: string,
  options?: ArithmeticOptions,
): string

export interface ToolExecutionResult {
  toolMessage: { content: string | readonly object[] }
}
/** Truncates every text block to its last 8,000 chars, with the total in the notice. Returns the same object if nothing
 *  is cut. */
export function toolResultTruncate<T extends ToolExecutionResult>(result: T, options?: ArithmeticOptions): T
/** Formats the ends of both streams as JSON, or as a sentence if there is no output. At most 8,000 chars. */
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
/** Formats the printed output and the result of a Python run, at most 8,000 chars each and 16,000 together. */
export function rlmResultTextBuild(result: RlmExecuteResult, options?: ArithmeticOptions): string
/** Makes a tool result of at most 16,000 chars. Its `summary` is the same text. */
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
/** Makes a user message with the outcome of a Python run in `<python_result>`, a body of at most 16,000 chars. */
export function rlmNoToolsResultMessageBuild(
  outcome: { result: RlmExecuteResult } | { error: unknown },
  options?: ArithmeticOptions,
): UserMessage

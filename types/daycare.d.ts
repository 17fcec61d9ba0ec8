/**
 * Daycare's truncation utilities on top of spillway, with their names, signatures, lengths and
 * notices. As in Daycare, a limit counts what is kept of a text, and the notice stands outside it:
 * a text cut to 8,000 chars has 8,036, and a cut to 3 chars still tells what is missing. Intended
 * differences:
 *  - text is well-formed: a surrogate pair at a cut goes whole, and lone surrogates become U+FFFD;
 *  - a limit other than a whole number from 0 up, or Infinity, throws with code
 *    ERR_SPILLWAY_OPTION.
 *
 * A last argument `{ noticeInside: true }` asks for hard limits, which Daycare does not have:
 *  - the notice counts toward the limit, and is left out where it does not fit;
 *  - formatExecOutput returns at most the 8,000 chars that toolResultTruncate keeps. By default two
 *    long streams exceed that, and the second cut loses stdout and leaves no JSON that parses;
 *  - rlmNoToolsResultMessageBuild bounds errors, too.
 *
 * All limits are in chars.
 */

export interface ArithmeticOptions {
  /** Counts the notice towards the limit. Default false. */
  noticeInside?: boolean | undefined
}

/** Keeps the first `maxLength` chars of a longer text and appends "...". */
export function stringTruncate(value: string, maxLength: number, options?: ArithmeticOptions): string
/** Keeps the last `maxLength` chars of a longer text after "... (X chars truncated from SOURCE)"
 *  and a newline. */
export function stringTruncateTail(
  value: string,
  maxLength: number,
  source?: string,
  options?: ArithmeticOptions,
): string
/** Keeps half of `maxLength` chars at each end of a longer text, with "... (X chars truncated from
 *  SOURCE) ..." between blank lines. */
export function stringTruncateHeadTail(
  value: string,
  maxLength: number,
  source?: string,
  options?: ArithmeticOptions,
): string

export interface ToolExecutionResult {
  toolMessage: { content: string | readonly object[] }
}
/** Truncates every text block to its last 8,000 chars, with the total in the notice. Returns the
 *  same object if nothing changes. */
export function toolResultTruncate<T extends ToolExecutionResult>(result: T, options?: ArithmeticOptions): T
/** Formats the last 8,000 chars of both streams as JSON, or a sentence if there is no output. */
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
/** Formats the printed output and the result of a Python run, 8,000 chars of each and 16,000 of
 *  both. */
export function rlmResultTextBuild(result: RlmExecuteResult, options?: ArithmeticOptions): string
/** Makes a tool result of 16,000 chars of a text. Its `summary` is the same text. */
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
/** Makes a user message with the outcome of a Python run in `<python_result>`. */
export function rlmNoToolsResultMessageBuild(
  outcome: { result: RlmExecuteResult } | { error: unknown },
  options?: ArithmeticOptions,
): UserMessage

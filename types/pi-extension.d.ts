/**
 * An extension for Pi's coding agent (`@earendil-works/pi-coding-agent` 0.74 and 1.x): bounds the
 * results of all tools, Pi's own and those of other extensions, offers the tool that reads saved
 * outputs, and keeps the prompts of a long run within the window of their model.
 */

import type { Context, WrapPolicy } from 'spillway'

/** The members of an event `tool_result` that are read or replaced. */
export interface PiResultEvent {
  type: 'tool_result'
  toolName: string
  toolCallId: string
  /** Set in Pi 1.x for a call that a script of another tool makes. */
  parentToolCallId?: string
  input: unknown
  content: unknown[]
  details?: unknown
  structuredContent?: unknown
  isError: boolean
}

/** The members of a message that are read. */
export interface PiMessage {
  role: string
  toolName?: string
  stopReason?: string
  errorMessage?: string
}

/** The members of Pi's extension API that are called. */
export interface PiExtensionApi {
  // biome-ignore lint/suspicious/noExplicitAny: the package is not imported for its types
  on(event: any, handler: any): unknown
  // biome-ignore lint/suspicious/noExplicitAny: as above
  registerTool(tool: any): void
}

/** Limits of results, as of `wrapTool`, and the context of a conversation. */
export interface ExtensionOptions extends WrapPolicy {
  /** Keeps the prompts of one session small. If Pi switches sessions in one process, a function
   *  that finds the context by the extension context of the event, for example by
   *  `sessionManager.getSessionId()`. Default: results are bounded, and nothing is cleared. */
  // biome-ignore lint/suspicious/noExplicitAny: the package is not imported for its types
  context?: Context | ((session: any) => Context | undefined) | undefined
}

/**
 * Makes an extension. Results and errors are cut where a tool returns, so the session holds them
 * cut; `sideData` also bounds `details` and `structuredContent`. With `spill` they are saved, and
 * the agent gets `read_output`. Results that came another way, as in an older session, are cut in
 * each request. A call that a script of Pi 1.x makes is redacted and stays whole, since the result
 * of the script is cut.
 *
 * With `context` each request is prepared; a refusal because of its size ends the turn in Pi, and
 * the next request is prepared for the window that the refusal names. Throws ERR_SPILLWAY_OPTION
 * for a wrong option.
 *
 * @example
 * // .pi/extensions/spillway.ts
 * const spill = createSpillStore({ dir: '.outputs', reference: 'id' })
 * export default spillwayExtension({ spill })
 */
export function spillwayExtension(options?: ExtensionOptions): (pi: PiExtensionApi) => void

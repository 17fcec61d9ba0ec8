/**
 * The Claude Agent SDK (`@anthropic-ai/claude-agent-sdk`): one hook that redacts and clamps the
 * results of Claude Code's own tools and of MCP servers. Tools of your own in a server of
 * `createSdkMcpServer` are bounded by `wrapServer(server.instance, policy)` of `spillway/mcp`,
 * which also offers `read_output`.
 */

import type { WrapPolicy } from 'spillway'

/** The members of a hook's event that are read. */
export interface HookInput {
  hook_event_name: string
  tool_name?: string
  tool_input?: unknown
  tool_response?: unknown
}

/** The answer to an event: `{}`, or a result in place of that of the tool. */
export interface HookAnswer {
  hookSpecificOutput?: { hookEventName: 'PostToolUse'; updatedToolOutput: unknown }
}

/**
 * Makes hooks for the option `hooks` of `query`. After a tool has run, its result is redacted (with
 * `redact`) and cut, in the shape that Claude Code takes from this tool, and saved whole with
 * `spill`. Limits, notices and searches are those of `wrapTool`, but `maxBytes` is 16,384 by
 * default, which is below Claude Code's own limits.
 *
 * Results of Bash, Read, Grep and MCP tools are cut; those of other tools are redacted alone.
 * If Claude Code has saved a longer output of Bash, the hook reads that file, up to 64 MiB. Pages
 * of `read_output` may have 51,200 bytes.
 *
 * Use one such hook: hooks of an event run in parallel on the original result, and the last answer
 * wins. The SDK runs no hook that can replace the result of a call that failed. Throws
 * ERR_SPILLWAY_OPTION for a wrong option.
 *
 * @example
 * const hooks = spillwayHooks({ redact: true, spill: createSpillStore({ dir: '/var/outputs' }) })
 * query({ prompt, options: { hooks } })
 */
export function spillwayHooks(policy?: WrapPolicy): {
  PostToolUse: { hooks: ((input: HookInput) => Promise<HookAnswer>)[] }[]
}

/**
 * Bounds an MCP server of your own, whatever SDK it is written with: the official one in versions 1
 * and 2, and the in-process server of the Claude Agent SDK. For a server that you do not write,
 * `spillway mcp` does the same from outside.
 */

import type { WrapPolicy } from 'spillway'

/**
 * Bounds all that a server sends to a client and that a host shows or a model reads: results and
 * errors of tools, resources, prompts, and the words of progress notifications. Limits, notices and
 * searches are those of `wrapTool`; structured content keeps the shape that `outputSchema`
 * of the tool asks for, and counts within the limits.
 *
 * Changes `server.connect`, and returns the same server. Call it once, before `connect`; tools may
 * be registered before and after. With `policy.spill` full outputs are saved, and a tool
 * `read_output` (`read_output_2` if the server has one of that name) is listed beside those of the
 * server.
 *
 * Messages keep their order. An answer that cannot be bounded becomes an error of JSON-RPC, code
 * -32603. Throws ERR_SPILLWAY_OPTION for a wrong option, and for a value without `connect`.
 *
 * @example
 * const server = wrapServer(new McpServer({ name: 'files', version: '1.0.0' }), {
 *   spill: createSpillStore({ dir: '.outputs', reference: 'id' }),
 * })
 * await server.connect(new StdioServerTransport())
 */
export function wrapServer<S extends { connect(transport: never): Promise<void> }>(
  server: S,
  policy?: WrapPolicy,
): S

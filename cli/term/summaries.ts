/** One line for each command, in the order of the help. It needs no engine: the list is shown where
 *  none can be loaded. */
export const SUMMARIES = {
  inspect: 'show which tools and results take up a session',
  repair: 'truncate oversized tool results in a stored session',
  doctor: 'find the sessions that need a repair',
  clamp: 'truncate stdin to the limits of a policy',
  run: 'run a command and truncate its output',
  mcp: 'truncate the results of an MCP server',
  hook: "truncate the results of a coding agent's tools",
  install: 'add the hook to the settings of a coding agent',
  uninstall: 'remove the hook from the settings of a coding agent',
  stats: 'show what hooks and proxies have saved',
  read: 'show a page of a saved output',
  search: 'search a saved output',
  completion: 'print a completion script for a shell',
}

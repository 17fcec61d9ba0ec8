/** Place of the text in the result of a tool, as the host passes it to a hook and accepts it
 *  back. */
export interface HostShape {
  /** Names that lead from the result to its text, or to a list of blocks with texts. */
  readonly path: readonly string[]
  /** Names that lead to a second text, which the host shows after the first. */
  readonly beside?: readonly string[]
  /** Field that is set if the member is not a text, or not the text that the model gets. */
  readonly unless?: string
  /** Names that lead to the path of a file, if the host has saved a longer text than that of the
   *  event. */
  readonly whole?: readonly string[]
  /** Names that lead to the exit code of a command. */
  readonly exit?: readonly string[]
  /** Words of the host around the text, which stay. A group `exit` after the text marks a
   *  failure. */
  readonly around?: { readonly before: RegExp; readonly after: RegExp }
  /** Fields that make the host show a preview of the text. */
  readonly without?: readonly string[]
  /** Parameters that page the text, which is that of a file. Its head is kept, because the host
   *  numbers the lines from the first on, and it is not saved again. */
  readonly pages?: readonly string[]
  /** Chars above which the host shows a preview. */
  readonly most: number
}

export interface Host {
  /** Event of the host that the hook answers. */
  readonly event: string
  /** Variable with a directory, its default in a home, and the names of settings in it. The first
   *  file that exists counts. */
  readonly settings: readonly [variable: string, dir: string, ...files: string[]]
  /** Names that lead to the list with our entry in its settings. */
  readonly list: readonly string[]
  /** Program and version whose shapes were recorded. */
  readonly recorded: string
  /** Chars that the host shows of a text that is over `most`, with the path of the file that it
   *  wrote. */
  readonly preview: number
  /** Field of an answer that replaces a result. */
  readonly takes: 'updatedToolOutput' | 'tailToolCallRequest' | 'tool_response'
  /** Maximum chars that the host shows of a replaced text. */
  readonly limits?: { readonly maxLines: number; readonly maxLineBytes: number }
  /** Rows by the name of the tool. A name that ends in `*` matches all names with that prefix. */
  readonly tools: Readonly<Record<string, HostShape>>
}

/** Default of `maxBytes` for a result in a host. */
export const HOST_BYTES = 16_384

/** Marks of Gemini CLI around text that is not the user's, and its words about a command after the
 *  output. */
const UNTRUSTED = {
  before: /^<untrusted_context>\n(?:Output: )?/,
  after:
    /(?:\nError: .{0,500})?(?<exit>\nExit Code: \d+)?(?:\n(?:Signal|Background PIDs|Process Group PGID): .{0,500}){0,3}\n<\/untrusted_context>$/,
}

/** Hosts whose next request was seen to contain a replaced text. */
export const HOSTS: Readonly<Record<string, Host>> = {
  'claude-code': {
    event: 'PostToolUse',
    settings: ['CLAUDE_CONFIG_DIR', '.claude', 'settings.json'],
    list: ['hooks', 'PostToolUse'],
    recorded: '@anthropic-ai/claude-code 2.1.330',
    preview: 2_233,
    takes: 'updatedToolOutput',
    tools: {
      Bash: {
        path: ['stdout'],
        beside: ['stderr'],
        unless: 'isImage',
        whole: ['persistedOutputPath'],
        without: ['persistedOutputPath', 'persistedOutputSize'],
        most: 30_000,
      },
      Read: { path: ['file', 'content'], pages: ['offset', 'limit'], most: Number.POSITIVE_INFINITY },
      Grep: { path: ['content'], most: 20_000 },
      'mcp__*': { path: [], most: 50_000 },
    },
  },
  'gemini-cli': {
    event: 'AfterTool',
    settings: ['GEMINI_CLI_HOME', '', '.gemini/settings.json'],
    list: ['hooks', 'AfterTool'],
    recorded: '@google/gemini-cli 0.61.0',
    preview: 40_310,
    takes: 'tailToolCallRequest',
    limits: { maxLines: 1_990, maxLineBytes: 2_000 },
    tools: {
      run_shell_command: { path: ['llmContent'], unless: 'error', around: UNTRUSTED, most: 40_000 },
      read_file: {
        path: ['llmContent'],
        unless: 'error',
        pages: ['start_line', 'end_line'],
        most: Number.POSITIVE_INFINITY,
      },
      grep_search: { path: ['llmContent'], unless: 'error', most: Number.POSITIVE_INFINITY },
      'mcp_*': { path: ['llmContent'], unless: 'error', around: UNTRUSTED, most: 40_000 },
    },
  },
  opencode: {
    event: 'tool.execute.after',
    settings: ['XDG_CONFIG_HOME', '.config', 'opencode/opencode.jsonc', 'opencode/opencode.json'],
    list: ['plugin'],
    recorded: 'opencode-ai 1.18.33',
    preview: 51_460,
    takes: 'tool_response',
    tools: {
      bash: {
        path: ['output'],
        whole: ['metadata', 'outputPath'],
        exit: ['metadata', 'exit'],
        most: 51_200,
      },
      read: { path: ['output'], pages: ['offset', 'limit'], most: Number.POSITIVE_INFINITY },
      // Tools of MCP servers have no common prefix.
      '*': { path: ['content'], most: 51_200 },
    },
  },
}

/** Returns the row of a tool, if its shape is known. */
export function rowOf({ tools }: Host, tool: string): HostShape | undefined {
  if (Object.hasOwn(tools, tool)) return tools[tool]
  return Object.entries(tools).find(([name]) => name.endsWith('*') && tool.startsWith(name.slice(0, -1)))?.[1]
}

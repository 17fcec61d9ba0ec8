/** Place of the text in the result of a tool, as the host hands it to a hook and takes it back. */
export interface Row {
  /** Names that lead from the result to its text, or to a list of blocks with texts. */
  readonly path: readonly string[]
  /** Field that is true if the text is no text. */
  readonly unless?: string
  /** Field with the path of a file, if the host has saved a text that is longer than the one of the event. */
  readonly whole?: string
  /** Fields that make the host show a preview of the text. */
  readonly without?: readonly string[]
  /** Parameters that page the text, which is a file's: its head is kept, since the host numbers the lines from the first
   *  one on, and it is not saved again. */
  readonly parameters?: { readonly properties: Readonly<Record<string, object>> }
  /** Chars over which the host shows a preview. */
  readonly most: number
}

export interface Host {
  /** Event of the host that is answered. */
  readonly event: string
  /** Variable with the directory of its settings, the directory in a home if it is not set, and the file. */
  readonly settings: readonly [variable: string, dir: string, file: string]
  /** Program and version in which each shape was recorded. */
  readonly recorded: string
  /** Chars that the host shows of a text that is over `most`: the first 2,000, and the path of the file that it wrote. */
  readonly preview: number
  /** Rows by the name of the tool. A name that ends in `*` stands for all that begin so. */
  readonly tools: Readonly<Record<string, Row>>
}

/** Hosts in whose next request a replaced text was seen. */
export const HOSTS: Readonly<Record<string, Host>> = {
  'claude-code': {
    event: 'PostToolUse',
    settings: ['CLAUDE_CONFIG_DIR', '.claude', 'settings.json'],
    recorded: '@anthropic-ai/claude-code 2.1.330',
    preview: 2_233,
    tools: {
      Bash: {
        path: ['stdout'],
        unless: 'isImage',
        whole: 'persistedOutputPath',
        without: ['persistedOutputPath', 'persistedOutputSize'],
        most: 30_000,
      },
      Read: {
        path: ['file', 'content'],
        parameters: { properties: { offset: {}, limit: {} } },
        most: Number.POSITIVE_INFINITY,
      },
      Grep: { path: ['content'], most: 20_000 },
      'mcp__*': { path: [], most: 50_000 },
    },
  },
}

/** Returns the row of a tool, if its shape is known. */
export function rowOf({ tools }: Host, tool: string): Row | undefined {
  if (Object.hasOwn(tools, tool)) return tools[tool]
  return Object.entries(tools).find(([name]) => name.endsWith('*') && tool.startsWith(name.slice(0, -1)))?.[1]
}

/** Options of a text that is cut. */
const TEXT = [
  'maxBytes',
  'maxLines',
  'maxChars',
  'maxTokens',
  'maxLineBytes',
  'keep',
  'headShare',
  'needles',
  'query',
  'isError',
  'snap',
  'notice',
  'source',
  'clean',
  'redact',
] as const

/** Options of the parts of a result. */
const PARTS = ['share', 'dialect', 'sideData', 'structured', 'json', 'schema', 'media', 'observe'] as const

/** Options of the calls of a tool. */
const CALLS = ['method', 'onClamp', 'spill'] as const

type Text = (typeof TEXT)[number]
type Part = (typeof PARTS)[number]

/** A thrown value is a failure, whatever the policy says. */
const THROWN = TEXT.filter((name): name is Exclude<Text, 'isError'> => name !== 'isError')

/** A plan says which payloads go, and leaves second copies. */
const PLANNED = PARTS.filter(
  (name): name is Exclude<Part, 'structured' | 'media'> => name !== 'structured' && name !== 'media',
)

/**
 * The options that reach each function that cuts. One policy may serve all functions, so each
 * accepts all of their names and ignores those that are not in its row.
 */
export const REACHED = {
  clampText: TEXT,
  clampTextWithReport: [...TEXT, 'explain'],
  clampJson: [...TEXT, 'schema'],
  clampJsonWithReport: [...TEXT, 'schema'],
  clampError: [...THROWN, ...PARTS],
  clampResult: [...TEXT, ...PARTS],
  clampMessages: ['aggregate', ...TEXT, ...PARTS],
  applyPlan: [...TEXT, ...PLANNED],
  wrapTool: [...TEXT, ...PARTS, ...CALLS],
} as const

/** All options of a policy. */
export const POLICY = [...REACHED.wrapTool, 'explain'] as const

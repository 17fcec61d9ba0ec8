import type { CleanOptions, MediaOptions, TextPolicy } from 'spillway'
import { cleanText, definePolicy } from '../lib/index.js'
import { MEDIA_PROVIDERS } from '../lib/media_options.js'
import { POLICY } from '../lib/options.js'
import { flagsOf, optionsIn } from './option_flags.js'
import { type Args, defined, type Flags } from './term/args.js'
import { UsageError } from './term/usage_error.js'

/** Suffixes of the help of `--clean` and `--no-clean`, by the default of a command. */
const CLEANS = {
  always: [' (default)', ''],
  never: ['', ' (default)'],
  terminal: [' (default on a terminal)', ' (default elsewhere)'],
} as const

/** The options of a policy that have flags of their names, and the help of these. */
const HELP = {
  maxBytes: 'UTF-8 bytes of the text: 51200, 50K, 2M, Infinity;\nK = 1024',
  maxLines: 'lines of the text',
  maxChars: 'UTF-16 code units of the text',
  maxTokens: 'tokens of the text, as estimated',
  keep: `${POLICY.rows.keep.kind.choices?.join(', ')}`,
  query: 'what was asked, for relevant and auto; if repeated,\nthe first weighs most',
  needles: 'text that makes a line a finding; may be repeated',
  notice: {
    value: 'TEXT',
    choices: ['hint', 'pi', 'count', 'none'],
    help: "hint, pi, count, none, or a template such as\n'[{omittedLines:,} lines omitted]'",
  },
}

/** Makes the flags of a policy, with the defaults of a command. */
export function policyFlags(presets: {
  maxBytes?: string
  maxLines?: string
  keep: string
  notice: string
  clean: keyof typeof CLEANS
  /** The command may be given pages of HTML. */
  html?: boolean
}): Flags {
  const [cleaned, asItCame] = CLEANS[presets.clean]
  return {
    ...flagsOf(POLICY, HELP, presets),
    clean: { help: `show text as a terminal would: no escape sequences,\nrepeated lines folded${cleaned}` },
    'no-clean': { help: `show text as it is${asItCame}` },
    ...(presets.html && { 'clean-html': { help: 'turn pages of HTML into text; implies --clean' } }),
    redact: { help: 'replace secrets by marks, in the saved output too' },
  }
}

/** Makes the flag of a provider. */
export function forFlag(verb: 'omit' | 'name'): Flags[string] {
  const rest = verb === 'omit' ? 'omit images and\nfiles that it rejects' : 'name only what it\nrejects'
  return { value: 'PROVIDER', choices: MEDIA_PROVIDERS, help: `${MEDIA_PROVIDERS.join(', ')}: ${rest}` }
}

/** Reads the provider whose limits apply to images and files. */
export function mediaFor(args: Args): { media?: MediaOptions } {
  const provider = args.text('for') as MediaOptions['provider']
  if (provider === undefined) return {}
  if (!MEDIA_PROVIDERS.includes(provider))
    throw new UsageError(`--for takes ${MEDIA_PROVIDERS.join(', ')}, not ${JSON.stringify(provider)}`)
  return { media: { provider } }
}

/** Makes the flags of a budget of images and files. */
export const MEDIA_FLAGS = (of: string): Flags => ({
  'max-media-bytes': { value: 'SIZE', help: `bytes of images and files of ${of} (Infinity)` },
  'max-media-items': { value: 'N', help: `images and files of ${of} (Infinity)` },
})

/** Reads the budget of images and files, with the provider whose limits apply too. */
export function mediaOf(args: Args): { media?: MediaOptions } {
  const budget = defined({ maxBytes: args.size('max-media-bytes'), maxItems: args.number('max-media-items') })
  const media = { ...mediaFor(args).media, ...budget }
  return Object.keys(media).length > 0 ? { media } : {}
}

/** The flags that set a limit, in the order of their help. */
export const LIMITS = ['max-bytes', 'max-lines', 'max-chars', 'max-tokens'] as const

export interface GivenPolicy extends TextPolicy {
  clean?: boolean | CleanOptions
  redact?: boolean
}

/** All steps of a terminal's cleaning, off. */
const AS_IT_IS = { ansi: false, carriageReturns: false, control: false, repeats: false } as const

function cleanOf(args: Args): boolean | CleanOptions | undefined {
  const isOff = args.has('no-clean')
  if (args.has('clean-html')) return { html: true, ...(isOff && AS_IT_IS) }
  return isOff ? false : args.has('clean') ? true : undefined
}

/** Cleans a text as a policy does. */
export function cleaned(text: string, { clean }: GivenPolicy): string {
  return clean ? cleanText(text, clean === true ? {} : clean) : text
}

/** Reads a policy from flags and checks it. */
export function policyOf(args: Args): GivenPolicy {
  const policy: GivenPolicy = {
    ...optionsIn(args, POLICY, Object.keys(HELP)),
    ...(args.text('notice') === 'none' && { notice: false }),
    ...defined({ clean: cleanOf(args), redact: args.has('redact') || undefined }),
  }
  definePolicy(policy)
  return policy
}

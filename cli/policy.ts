import type { CleanOptions, MediaOptions, MediaProvider, PolicyOptions } from 'spillway'
import { cleanText, definePolicy } from '../lib/index.js'
import { type Args, defined, type Flags } from './term/args.js'
import { UsageError } from './term/usage_error.js'

/** Suffixes of the help of `--clean` and `--no-clean`, by the default of a command. */
const CLEANS = {
  always: [' (default)', ''],
  never: ['', ' (default)'],
  terminal: [' (default on a terminal)', ' (default elsewhere)'],
} as const

const KEEPS = ['head', 'tail', 'ends', 'findings', 'relevant', 'auto']

/** Makes the flags of a policy, with the defaults of a command. */
export function policyFlags(presets: {
  bytes?: string
  lines?: string
  keep: string
  notice: string
  clean: keyof typeof CLEANS
  /** The command may be given pages of HTML. */
  html?: boolean
}): Flags {
  const { bytes = '51200', lines = '2000', keep, notice } = presets
  const [cleaned, asItCame] = CLEANS[presets.clean]
  return {
    'max-bytes': {
      value: 'SIZE',
      help: `UTF-8 bytes of the text: 51200, 50K, 2M, Infinity;\nK = 1024 (${bytes})`,
    },
    'max-lines': { value: 'N', help: `lines of the text (${lines})` },
    'max-chars': { value: 'SIZE', help: 'UTF-16 code units of the text (Infinity)' },
    'max-tokens': { value: 'N', help: 'tokens of the text, as estimated (Infinity)' },
    keep: { value: 'WHAT', choices: KEEPS, help: `${KEEPS.join(', ')} (${keep})` },
    query: {
      value: 'TEXT',
      repeats: true,
      help: 'what was asked, for relevant and auto; if repeated,\nthe first weighs most',
    },
    needle: { value: 'TEXT', repeats: true, help: 'text that makes a line a finding; may be repeated' },
    notice: {
      value: 'TEXT',
      choices: ['hint', 'pi', 'count', 'none'],
      help: `hint, pi, count, none, or a template such as\n'[{omittedLines:,} lines omitted]' (${notice})`,
    },
    clean: {
      help: `show text as a terminal would: no escape sequences,\nrepeated lines folded${cleaned}`,
    },
    'no-clean': { help: `show text as it is${asItCame}` },
    ...(presets.html && { 'clean-html': { help: 'turn pages of HTML into text; implies --clean' } }),
    redact: { help: 'replace secrets by marks, in the saved output too' },
  }
}

const PROVIDERS: readonly MediaProvider[] = ['anthropic', 'openai', 'gemini', 'bedrock']

/** Makes the flag of a provider. */
export function forFlag(verb: 'omit' | 'name'): Flags[string] {
  const rest = verb === 'omit' ? 'omit images and\nfiles that it rejects' : 'name only what it\nrejects'
  return { value: 'PROVIDER', choices: [...PROVIDERS], help: `${PROVIDERS.join(', ')}: ${rest}` }
}

/** Reads the provider whose limits apply to images and files. */
export function mediaFor(args: Args): { media?: MediaOptions } {
  const provider = args.text('for') as MediaProvider | undefined
  if (provider === undefined) return {}
  if (!PROVIDERS.includes(provider))
    throw new UsageError(`--for takes ${PROVIDERS.join(', ')}, not ${JSON.stringify(provider)}`)
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

export interface GivenPolicy extends PolicyOptions {
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
  const notice = args.text('notice')
  const policy = defined({
    maxBytes: args.size('max-bytes'),
    maxLines: args.number('max-lines'),
    maxChars: args.size('max-chars'),
    maxTokens: args.number('max-tokens'),
    keep: args.text('keep'),
    query: args.texts('query'),
    needles: args.texts('needle'),
    notice: notice === 'none' ? false : notice,
    clean: cleanOf(args),
    redact: args.has('redact') ? true : undefined,
  }) as GivenPolicy
  definePolicy(policy)
  return policy
}

import type { PolicyOptions } from 'spillway'
import { definePolicy } from '../index.js'
import { type Args, defined, type Flags } from './args.js'

/** Suffixes of the help of `--clean` and `--no-clean`, by the default of a command. */
const CLEANS = {
  always: [' (default)', ''],
  never: ['', ' (default)'],
  terminal: [' (default on a terminal)', ' (default elsewhere)'],
} as const

/** Makes the flags of a policy, with the defaults of a command. */
export function policyFlags(presets: {
  bytes?: string
  lines?: string
  keep: string
  notice: string
  clean: keyof typeof CLEANS
}): Flags {
  const { bytes = '51200', lines = '2000', keep, notice } = presets
  const [cleaned, asItCame] = CLEANS[presets.clean]
  return {
    'max-bytes': { value: 'N', help: `UTF-8 bytes of the text, or Infinity (${bytes})` },
    'max-lines': { value: 'N', help: `lines of the text (${lines})` },
    'max-chars': { value: 'N', help: 'UTF-16 code units of the text (Infinity)' },
    keep: { value: 'WHAT', help: `head, tail, ends, findings, relevant, auto (${keep})` },
    query: { value: 'TEXT', help: 'what was asked of the text, for relevant and auto' },
    notice: {
      value: 'TEXT',
      help: `hint, pi, count, none, or a template such as\n'[{omittedLines:,} lines omitted]' (${notice})`,
    },
    clean: {
      help: `show text as a terminal would: no escape sequences,\nrepeated lines folded${cleaned}`,
    },
    'no-clean': { help: `show text as it is${asItCame}` },
  }
}

export interface GivenPolicy extends PolicyOptions {
  clean?: boolean
}

/** Reads a policy from flags and checks it. */
export function policyOf(args: Args): GivenPolicy {
  const notice = args.text('notice')
  const policy = defined({
    maxBytes: args.number('max-bytes'),
    maxLines: args.number('max-lines'),
    maxChars: args.number('max-chars'),
    keep: args.text('keep'),
    query: args.text('query'),
    notice: notice === 'none' ? false : notice,
    clean: args.has('no-clean') ? false : args.has('clean') ? true : undefined,
  }) as GivenPolicy
  definePolicy(policy)
  return policy
}

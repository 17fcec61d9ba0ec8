import type { PolicyOptions } from 'spillway'
import { definePolicy } from '../index.js'
import type { Args, Flags } from './args.js'

/** What help says of `--clean` and `--no-clean`, by what a command does without either. */
const CLEANS = {
  always: [' (default)', ''],
  never: ['', ' (default)'],
  terminal: [' (default on a terminal)', ' (default elsewhere)'],
} as const

/** Flags of a policy, with what a command does where they are not given. */
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
    keep: { value: 'WHAT', help: `head, tail, ends, findings or auto (${keep})` },
    notice: {
      value: 'TEXT',
      help: `hint, pi, count, none, or a template such as\n'[{omittedLines:,} lines gone]' (${notice})`,
    },
    clean: {
      help: `as a terminal would show it: no escape sequences,\nrepeated lines folded${cleaned}`,
    },
    'no-clean': { help: `as it came${asItCame}` },
  }
}

export interface GivenPolicy extends PolicyOptions {
  clean?: boolean
}

/** The policy that flags give, checked before anything is done. */
export function policyOf(args: Args): GivenPolicy {
  const notice = args.text('notice')
  const given = {
    maxBytes: args.number('max-bytes'),
    maxLines: args.number('max-lines'),
    maxChars: args.number('max-chars'),
    keep: args.text('keep'),
    notice: notice === 'none' ? false : notice,
    clean: args.has('no-clean') ? false : args.has('clean') ? true : undefined,
  }
  const policy = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  definePolicy(policy)
  return policy
}

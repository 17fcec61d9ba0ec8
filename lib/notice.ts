import type { Cut } from 'spillway'
import { optionError } from './option.js'

/** Kinds of notices, as src/bindings/policy.rs numbers them. */
export const KINDS = {
  none: 0,
  hint: 1,
  pi: 2,
  count: 3,
  template: 4,
  literal: 5,
  gluedTemplate: 6,
  gluedLiteral: 7,
} as const

interface CheckedNotice {
  readonly kind: number
  readonly template: string
  /** The caller's notice function. */
  readonly words: ((cut: Cut) => string) | undefined
}

const NOTICES = ['hint', 'pi', 'count'] as const

const AMOUNTS = ['omittedChars', 'totalChars', 'omittedBytes', 'totalBytes', 'omittedLines', 'totalLines']
const WORDS = ['keptLines', 'source', 'saved', 'limits']

/** Checks the notice of a policy. */
export function checkNotice(notice: unknown): CheckedNotice {
  const plain = { template: '', words: undefined }
  if (notice === undefined) return { ...plain, kind: KINDS.hint }
  if (notice === false) return { ...plain, kind: KINDS.none }
  if (typeof notice === 'function')
    return { ...plain, kind: KINDS.literal, words: notice as (cut: Cut) => string }
  if (typeof notice !== 'string') {
    throw optionError(TypeError, 'notice', "'hint', 'pi', 'count', false, a template or a function", notice)
  }
  const named = NOTICES.find((name) => name === notice)
  if (named) return { ...plain, kind: KINDS[named] }
  const fields = [...notice.matchAll(/\{([A-Za-z]\w*)(:[^{}]*)?\}/g)]
  const known = ([, name, format]: string[]) =>
    format === undefined
      ? [...AMOUNTS, ...WORDS].includes(name ?? '')
      : format === ':,' && AMOUNTS.includes(name ?? '')
  const unknown = fields.find((field) => !known(field as string[]))
  const rule = `'hint', 'pi', 'count', or a template with at least one of {${[...AMOUNTS, ...WORDS].join('} {')}}`
  if (unknown) throw optionError(RangeError, 'notice', rule, unknown[0])
  if (fields.length === 0) throw optionError(RangeError, 'notice', rule, notice)
  return { kind: KINDS.template, template: notice.toWellFormed(), words: undefined }
}

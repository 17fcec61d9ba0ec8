import type { Kind } from './kinds.js'
import { optionError } from './validate.js'

/** A checked notice. */
export interface CheckedNotice {
  readonly kind: 'none' | 'hint' | 'pi' | 'count' | 'template' | 'literal'
  /** The text of a template or a literal notice. */
  readonly text: string
  /** True if the notice follows the text without a separator. */
  readonly glued: boolean
}

export const NO_NOTICE: CheckedNotice = { kind: 'none', text: '', glued: false }

const NOTICES = ['hint', 'pi', 'count'] as const

const AMOUNTS = ['omittedChars', 'totalChars', 'omittedBytes', 'totalBytes', 'omittedLines', 'totalLines']
const WORDS = ['keptLines', 'source', 'saved', 'limits']

/** A notice of a policy. */
export const NOTICE: Kind<CheckedNotice> = {
  rule: "'hint', 'pi', 'count', false, a template or a function",
  choices: NOTICES,
  take: checkNotice,
}

export const HINT: CheckedNotice = { ...NO_NOTICE, kind: 'hint' }

/** A notice function gets the text of each notice later. */
function checkNotice(field: string, notice: unknown): CheckedNotice {
  if (notice === false) return NO_NOTICE
  if (typeof notice === 'function') return { ...NO_NOTICE, kind: 'literal' }
  if (typeof notice !== 'string') throw optionError(TypeError, field, NOTICE.rule, notice)
  const named = NOTICES.find((name) => name === notice)
  if (named) return { ...NO_NOTICE, kind: named }
  const fields = [...notice.matchAll(/\{([A-Za-z]\w*)(:[^{}]*)?\}/g)]
  const known = ([, name, format]: string[]) =>
    format === undefined
      ? [...AMOUNTS, ...WORDS].includes(name ?? '')
      : format === ':,' && AMOUNTS.includes(name ?? '')
  const unknown = fields.find((field) => !known(field as string[]))
  const rule = `'hint', 'pi', 'count', or a template with at least one of {${[...AMOUNTS, ...WORDS].join('} {')}}`
  if (unknown) throw optionError(RangeError, field, rule, unknown[0])
  if (fields.length === 0) throw optionError(RangeError, field, rule, notice)
  return { ...NO_NOTICE, kind: 'template', text: notice.toWellFormed() }
}

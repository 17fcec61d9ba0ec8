// Three questions to ask of what a tool returns, as functions that throw and as matchers. Both say
// in words what they saw, and how long it was, since a long text helps nobody in a failure.
import { AssertionError } from 'node:assert'
import { types } from 'node:util'
import type { Limits } from 'spillway'
import type * as Declared from 'spillway/testing'
import { native } from '../engine.js'
import { jsonOf } from '../json.js'
import { bound } from '../kinds.js'
import { isError } from '../result/error_members.js'
import { resultsIn } from '../result/message_results.js'
import { clampText, estimateTokens, measureText } from '../text/text.js'
import { get } from '../untrusted.js'
import { checkMembers, optionError } from '../validate.js'

/** An answer, and the words for its opposite. */
interface Answer {
  readonly pass: boolean
  readonly expected: string
}

/** Chars of a text that a failure shows. */
const SHOWN = 2_000

/** Returns the texts of a value that a model reads: those of a result of any dialect, the message
 *  of an error, or the JSON of any other value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (isError(value)) return [String(get(value, 'message'))]
  const texts = resultsIn(value).flatMap(({ slots }) => slots.map(({ text }) => text))
  return texts.length > 0 ? texts : [jsonOf(value) ?? String(value)]
}

function keeps(value: unknown, line: string | RegExp): Answer {
  if (typeof line !== 'string' && !types.isRegExp(line))
    throw optionError(TypeError, 'line', 'a string or a regular expression', line)
  const has = (text: string) =>
    typeof line === 'string'
      ? text.includes(line)
      : new RegExp(line, line.flags.replace(/[gy]/g, '')).test(text)
  const isHeld = (text: string) => text.split(/\r?\n/).some(has)
  const isLines = typeof line === 'string' && line.includes('\n')
  const shown = typeof line === 'string' ? JSON.stringify(line) : String(line)
  return { pass: textsOf(value).some(isLines ? has : isHeld), expected: `a line with ${shown}` }
}

const NAMES = ['maxBytes', 'maxLines', 'maxChars', 'maxTokens', 'maxLineBytes'] as const

/** Measures all texts together, as the limits of a result count. */
function isWithin(value: unknown, limits: Limits): Answer {
  checkMembers('limits', limits, NAMES)
  const texts = textsOf(value)
  const sum = (of: (text: string) => number) => texts.reduce((all, text) => all + of(text), 0)
  const sizes: Record<(typeof NAMES)[number], () => number> = {
    maxBytes: () => sum((text) => measureText(text).bytes),
    maxLines: () => sum((text) => measureText(text).lines),
    maxChars: () => sum((text) => text.length),
    maxTokens: () => sum(estimateTokens),
    maxLineBytes: () =>
      texts
        .flatMap((text) => text.split(/\r?\n/))
        .reduce((most, line) => Math.max(most, Buffer.byteLength(line)), 0),
  }
  const given = NAMES.filter((name) => limits[name] !== undefined)
  if (given.length === 0)
    throw optionError(RangeError, 'limits', `at least one of ${NAMES.join(', ')}`, limits)
  const over = given.flatMap((name) => {
    const most = bound(`limits.${name}`, limits[name], 0)
    const size = sizes[name]()
    return size > most ? `${name} ${most}, not ${size}` : []
  })
  const shown = over.length > 0 ? over : given.map((name) => `${name} ${limits[name]}`)
  return { pass: over.length === 0, expected: `a text within ${shown.join(' and ')}` }
}

function saysWhatIsMissing(value: unknown): Answer {
  return {
    pass: textsOf(value).some((text) => native.hasNotice(text)),
    expected: 'a notice or a mark of a cut',
  }
}

/** Returns a function that throws unless a question is answered with yes. */
function asserting<A extends unknown[]>(ask: (value: unknown, ...args: A) => Answer) {
  return function assertion(value: unknown, ...args: A): void {
    const { pass, expected } = ask(value, ...args)
    if (pass) return
    const actual = shownOptionsOf(value)
    throw new AssertionError({
      message: `expected ${expected}, got:\n${actual}`,
      actual,
      expected,
      operator: 'spillway',
      stackStartFn: assertion,
    })
  }
}

/** Returns a matcher of a question. */
function matching<A extends unknown[]>(ask: (value: unknown, ...args: A) => Answer) {
  return (value: unknown, ...args: A) => {
    const { pass, expected } = ask(value, ...args)
    return {
      pass,
      message: () => `expected ${pass ? 'not ' : ''}${expected}, got:\n${shownOptionsOf(value)}`,
    }
  }
}

function shownOptionsOf(value: unknown): string {
  return clampText(textsOf(value).join('\n'), { maxChars: SHOWN, keep: 'ends', notice: 'count' })
}

export const assertKeeps: typeof Declared.assertKeeps = asserting(keeps)
export const assertWithin: typeof Declared.assertWithin = asserting(isWithin)
export const assertSaysWhatIsMissing: typeof Declared.assertSaysWhatIsMissing = asserting(saysWhatIsMissing)
export const matchers: typeof Declared.matchers = {
  toKeepLine: matching(keeps),
  toBeWithin: matching(isWithin),
  toSayWhatIsMissing: matching(saysWhatIsMissing),
}

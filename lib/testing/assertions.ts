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
  /** The lines that a failure shows. The ends of all texts unless given. */
  readonly shown?: string
}

/** The part of a text that a failure shows. */
const SHOWN = { maxChars: 2_000, maxLines: 12, keep: 'ends', notice: 'count' } as const
/** Lines that it shows before and behind the line that exceeds a limit, and bytes of each. */
const AROUND = 2
const LINE_BYTES = 200

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

type Texts = readonly string[]

const sum = (texts: Texts, of: (text: string) => number) => texts.reduce((all, text) => all + of(text), 0)

/** The sizes of all texts together, as the limits of a result count. */
const SIZES = {
  maxBytes: (texts: Texts) => sum(texts, (text) => measureText(text).bytes),
  maxLines: (texts: Texts) => sum(texts, (text) => measureText(text).lines),
  maxChars: (texts: Texts) => sum(texts, (text) => text.length),
  maxTokens: (texts: Texts) => sum(texts, estimateTokens),
  maxLineBytes: (texts: Texts) =>
    texts
      .flatMap((text) => text.split(/\r?\n/))
      .reduce((most, line) => Math.max(most, Buffer.byteLength(line)), 0),
}
const NAMES = Object.keys(SIZES) as (keyof typeof SIZES)[]

function isWithin(value: unknown, limits: Limits): Answer {
  checkMembers('limits', limits, NAMES)
  const texts = textsOf(value)
  const given = NAMES.filter((name) => limits[name] !== undefined)
  if (given.length === 0)
    throw optionError(RangeError, 'limits', `at least one of ${NAMES.join(', ')}`, limits)
  const over = given
    .map((name) => ({ name, most: bound(`limits.${name}`, limits[name], 0), size: SIZES[name](texts) }))
    .filter(({ most, size }) => size > most)
  if (over.length === 0)
    return {
      pass: true,
      expected: `a text within ${given.map((name) => `${name} ${limits[name]}`).join(' and ')}`,
    }
  const lines = linesOf(texts)
  const places = over.map(({ name, most }) => firstOver(lines, (texts) => SIZES[name](texts) > most))
  const said = over.map(
    ({ name, most, size }, nth) =>
      `${name} ${most}, not ${size} (over from ${placeOf(lines[places[nth] as number], texts)} on)`,
  )
  return {
    pass: false,
    expected: `a text within ${said.join(' and ')}`,
    shown: around(lines, Math.min(...places)),
  }
}

/** A line of one of several texts, with its end. */
interface Line {
  readonly text: number
  readonly number: number
  readonly content: string
}

function linesOf(texts: Texts): readonly Line[] {
  return texts.flatMap((given, text) =>
    given.split(/(?<=\n)/).map((content, at) => ({ text, number: at + 1, content })),
  )
}

/** Finds the first line with which the texts up to it are over a limit. All together are. */
function firstOver(lines: readonly Line[], isOver: (texts: Texts) => boolean): number {
  let [least, most] = [0, lines.length - 1]
  while (least < most) {
    const middle = (least + most) >> 1
    const texts: string[] = []
    for (const { text, content } of lines.slice(0, middle + 1)) texts[text] = (texts[text] ?? '') + content
    if (isOver(texts)) most = middle
    else least = middle + 1
  }
  return least
}

function placeOf(line: Line | undefined, texts: Texts): string {
  return `line ${line?.number}${texts.length > 1 ? ` of text ${(line?.text ?? 0) + 1}` : ''}`
}

/** Returns some lines with their numbers. */
function around(lines: readonly Line[], at: number): string {
  const few = lines.slice(Math.max(0, at - AROUND), at + AROUND + 1)
  const numbered = few.map(({ number, content }) => `${number}: ${content.trimEnd()}`)
  return clampText(numbered.join('\n'), { ...SHOWN, maxLineBytes: LINE_BYTES })
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
    const { pass, expected, shown } = ask(value, ...args)
    if (pass) return
    const actual = shown ?? endsOf(value)
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
    const { pass, expected, shown } = ask(value, ...args)
    return {
      pass,
      message: () => `expected ${pass ? 'not ' : ''}${expected}, got:\n${shown ?? endsOf(value)}`,
    }
  }
}

function endsOf(value: unknown): string {
  return clampText(textsOf(value).join('\n'), SHOWN)
}

export const assertKeeps: typeof Declared.assertKeeps = asserting(keeps)
export const assertWithin: typeof Declared.assertWithin = asserting(isWithin)
export const assertSaysWhatIsMissing: typeof Declared.assertSaysWhatIsMissing = asserting(saysWhatIsMissing)
export const matchers: typeof Declared.matchers = {
  toKeepLine: matching(keeps),
  toBeWithin: matching(isWithin),
  toSayWhatIsMissing: matching(saysWhatIsMissing),
}

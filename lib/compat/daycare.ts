import type { TextPolicy } from 'spillway'
import type { ArithmeticOptions, RlmExecuteResult, ToolExecutionResult, UserMessage } from 'spillway/daycare'
import { bound, flag } from '../kinds.js'
import { compile, UNLIMITED } from '../policy.js'
import { sliceUtf16Safe } from '../text/slice.js'
import { clampPrepared } from '../text/text.js'
import { get, isObject } from '../untrusted.js'
import { checkString } from '../validate.js'

const TOOL_RESULT_CHARS = 8_000
const STREAM_CHARS = 8_000
const PYTHON_CHARS = 16_000
const DOTS = '...'

export function stringTruncate(value: string, maxLength: number, options?: ArithmeticOptions): string {
  return truncate(value, maxLength, options, {
    inside: (max) => {
      const dots = max > DOTS.length ? DOTS : ''
      return cut(value, max - dots.length, { keep: 'head', notice: false }) + dots
    },
    beside: (max) => sliceUtf16Safe(value, 0, max) + DOTS,
  })
}

export function stringTruncateTail(
  value: string,
  maxLength: number,
  source = 'output',
  options?: ArithmeticOptions,
): string {
  return truncate(value, maxLength, options, {
    inside: (max) => cut(value, max, { keep: 'tail', notice: 'count', source }),
    beside: (max) => {
      const tail = sliceUtf16Safe(value, value.length - max)
      return `... (${count(value.length - tail.length)} chars truncated from ${source})\n${tail}`
    },
  })
}

export function stringTruncateHeadTail(
  value: string,
  maxLength: number,
  source = 'output',
  options?: ArithmeticOptions,
): string {
  return truncate(value, maxLength, options, {
    inside: (max) => cut(value, max, { keep: 'ends', notice: 'count', source }),
    beside: (max) => {
      const head = sliceUtf16Safe(value, 0, Math.ceil(max / 2))
      const tail = sliceUtf16Safe(value, value.length - Math.floor(max / 2))
      const omitted = count(value.length - head.length - tail.length)
      return `${head}\n\n... (${omitted} chars truncated from ${source}) ...\n\n${tail}`
    },
  })
}

/** Truncates a text, with the notice beside the limit, as Daycare does, or inside it. */
function truncate(
  value: string,
  maxLength: number,
  options: ArithmeticOptions | undefined,
  { inside, beside }: Record<'inside' | 'beside', (max: number) => string>,
): string {
  const max = bound('maxLength', maxLength, 0)
  const shorten = isInside(options) ? inside : beside
  return (checkString(value).length <= max ? value : shorten(max)).toWellFormed()
}

export function toolResultTruncate<T extends ToolExecutionResult>(result: T, options?: ArithmeticOptions): T {
  const { content } = result.toolMessage
  const blocks: unknown = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  if (!Array.isArray(blocks)) return result
  const total = blocks.reduce((sum: number, block: unknown) => sum + (textOf(block)?.length ?? 0), 0)
  const next = blocks.map((block: object) => {
    const text = textOf(block)
    const short = text === undefined ? text : truncateBlock(text, total, options)
    return short === text ? block : { ...block, text: short }
  })
  if (next.every((block, at) => block === blocks[at])) return result
  return { ...result, toolMessage: { ...result.toolMessage, content: next } }
}

function textOf(block: unknown): string | undefined {
  if (!isObject(block) || get(block, 'type') !== 'text') return undefined
  const text = get(block, 'text')
  return typeof text === 'string' ? text : undefined
}

function truncateBlock(text: string, total: number, options: ArithmeticOptions | undefined): string {
  const size = count(text.length)
  const source =
    total === text.length ? `output (${size} chars total)` : `output block (${size}/${count(total)})`
  return stringTruncateTail(text, TOOL_RESULT_CHARS, source, options)
}

export function formatExecOutput(
  stdout: string,
  stderr: string,
  failed: boolean,
  options?: ArithmeticOptions,
): string {
  const [out, err] = [checkString(stdout).trimEnd(), checkString(stderr).trimEnd()]
  if (out === '' && err === '') return `Command ${failed ? 'failed' : 'completed'} with no output.`
  const json = (max: number) => {
    const stream = (text: string, name: string) => stringTruncateTail(text, max, name, options)
    return JSON.stringify({ stdout: stream(out, 'stdout'), stderr: stream(err, 'stderr') }, null, 2)
  }
  const all = json(STREAM_CHARS)
  if (!isInside(options) || all.length <= TOOL_RESULT_CHARS) return all
  // Escapes make the JSON longer than the streams, so the largest limit that fits is found by
  // bisection.
  let [fits, over] = [0, STREAM_CHARS]
  while (over - fits > 1) {
    const middle = (fits + over) >> 1
    if (json(middle).length <= TOOL_RESULT_CHARS) fits = middle
    else over = middle
  }
  return json(fits)
}

export function rlmResultTextBuild(result: RlmExecuteResult, options?: ArithmeticOptions): string {
  const printed = result.printOutput.join('\n')
  const print = stringTruncateHeadTail(printed, STREAM_CHARS, 'print output', options)
  const output = stringTruncateHeadTail(result.output, STREAM_CHARS, 'output', options)
  const sections = [
    'Python execution completed.',
    `Tool calls: ${result.toolCallCount}`,
    `Print output:\n${result.printOutput.length > 0 ? print : '(none)'}`,
    `Output:\n${result.output.length > 0 ? output : '(empty)'}`,
  ]
  return stringTruncateHeadTail(sections.join('\n\n'), PYTHON_CHARS, 'python result', options)
}

export function rlmToolResultBuild(
  toolCall: { id: string; name: string },
  text: string,
  isError: boolean,
  options?: ArithmeticOptions,
) {
  const summary = stringTruncateHeadTail(text, PYTHON_CHARS, 'python result', options)
  return {
    toolMessage: {
      role: 'toolResult' as const,
      toolCallId: toolCall.id,
      toolName: toolCall.name,
      content: [{ type: 'text' as const, text: summary }],
      isError,
      timestamp: Date.now(),
    },
    typedResult: { summary, isError },
  }
}

export function rlmNoToolsResultMessageBuild(
  outcome: { result: RlmExecuteResult } | { error: unknown },
  options?: ArithmeticOptions,
): UserMessage {
  const body = 'result' in outcome ? rlmResultTextBuild(outcome.result, options) : errorText(outcome.error)
  const maxChars = isInside(options) ? PYTHON_CHARS : Number.POSITIVE_INFINITY
  const bounded = stringTruncateHeadTail(body, maxChars, 'python result', options)
  const text = `<python_result>\n${bounded}\n</python_result>`
  return { role: 'user', content: [{ type: 'text', text }], timestamp: Date.now() }
}

/** Formats an error of the Python runtime. Its classes are recognised by name, so the runtime is
 *  not a dependency. */
function errorText(error: unknown): string {
  const monty: Record<string, [title: string, method: string, ...args: unknown[]]> = {
    MontySyntaxError: ['Python syntax error. Fix the code and retry.', 'display', 'type-msg'],
    MontyRuntimeError: ['Python runtime error.', 'display', 'traceback'],
    MontyTypingError: ['Python type check failed.', 'displayDiagnostics', 'concise', false],
  }
  const object = isObject(error) ? error : {}
  const [title, method, ...args] = monty[object.constructor?.name ?? ''] ?? []
  const show = method === undefined ? undefined : get(object, method)
  if (title !== undefined && typeof show === 'function') {
    const details = String(show.apply(object, args))
    return details.trim() === '' ? title : `${title}\n\n${method === 'display' ? details : details.trim()}`
  }
  const message = get(object, 'message')
  return `Python execution failed: ${error instanceof Error && typeof message === 'string' ? message : String(error)}`
}

function isInside(options: ArithmeticOptions | undefined): boolean {
  return flag('noticeInside', options?.noticeInside, false)
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

/** Truncates to `maxChars`, notice included. */
function cut(value: string, maxChars: number, policy: TextPolicy): string {
  return clampPrepared(value, compile({ ...UNLIMITED, snap: 'char', maxChars, ...policy }))
}

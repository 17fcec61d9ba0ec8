import { subscribe } from 'node:diagnostics_channel'
import { rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import {
  applyPlan,
  type ClampEvent,
  clampMessages,
  clampResult,
  clampText,
  clearToolResults,
  createSpillStore,
  guardSession,
  type Keep,
  measureText,
  OutputCapture,
  type ProcessExit,
  precheck,
  repairSession,
  runWithRecovery,
  type SpillStore,
  type TextPolicy,
  wrapTool,
} from 'spillway'
import { stringTruncateHeadTail, stringTruncateTail } from 'spillway/daycare'
import { capToolResultSize, hardTruncateToolPayload, truncateToolResultText } from 'spillway/openclaw'
import { truncateHead, truncateTail } from 'spillway/pi'
import type * as Relaying from '../../cli/mcp/relay.js'
import type * as Clamping from '../../lib/hook/clamp_blocks.js'

// Of the package, whose engine they share.
const load = createRequire(__filename)
const { clampBlocks } = load('../../dist/clamp_blocks.js') as typeof Clamping
const { Relay } = load('../../dist/relay.js') as typeof Relaying

/*
 * Random pipelines: one output passes through functions of the package, one after another, each
 * with options of its own. What a function promises by itself, it also keeps beside any other:
 *
 *   limits   those of every step hold from its cut on, or from the first later cut: a text that fits
 *            has no trace of its limits, and the first notice may make it longer
 *   totals   count from the output as its command printed it, or that with its exit line
 *   notice   there is one, or one for each stream that was captured apart
 *   id       of the output that was saved first, wherever there is room; never another one
 *   saves    one
 *   events   one for each cut that is sent, none for a step that cuts nothing
 *   exit     the exit line stays at the end, wherever there is room
 *   secrets  what one step redacts, no later one brings back
 *   again    the last step once more changes nothing
 *   objects  a text in an object keeps all this beside its notice, and the notice of the object counts
 *            from the same output and names no other one
 *
 * docs/options.md says where two of these cannot both hold, and which one does.
 */

/** A step of a pipeline: a function of the package, with its options. */
export interface Step {
  readonly name: keyof typeof STEPS
  readonly keep: Keep
  readonly notice: 'pi' | 'count' | 'hint'
  readonly maxChars: number
  readonly maxLines: number
  readonly redact: boolean
  readonly clean: boolean
  readonly shape: number
}

/** One output, how its command ended, and the functions that it passes through, one after another.
 *  The first step makes the output: a capture or a tool. */
export interface Pipeline {
  readonly lines: number
  readonly source: 'capture' | 'tool' | 'text'
  readonly exit: ProcessExit | undefined
  /** Each line that this number divides goes to stderr, which is captured apart; 0 for none. */
  readonly apart: number
  readonly steps: readonly Step[]
}

/** The least chars and lines in which the name of the saved output is promised. */
const ROOM = 200
const ROOM_LINES = 8

/** A secret as a command prints one. */
const SECRET = 'q7Wm2Zx9Kd4Vt8Rb1Ls6'
const NAMED = `API_TOKEN=${SECRET}`

const seen: ClampEvent[] = []
subscribe('spillway:clamp', (event) => {
  // What is redacted is an event beside the cut.
  if ((event as ClampEvent).action !== 'redacted') seen.push(event as ClampEvent)
})
let repairs = 0
subscribe('spillway:repair', () => {
  repairs += 1
})

let calls = 0

/** A text on its way, and the call whose result it is. */
interface Way {
  readonly store: SpillStore
  readonly dir: string
  readonly id: string
}

const limitsOf = ({ maxChars, maxLines }: Step) => ({
  maxChars,
  maxLines,
  maxBytes: Number.POSITIVE_INFINITY,
})
const policyOf = (step: Step): TextPolicy & { redact?: boolean } => ({
  ...limitsOf(step),
  keep: step.keep,
  notice: step.notice,
  ...(step.redact && { redact: true }),
  ...(step.clean && { clean: true }),
})

const callOf = (id: string) => ({
  role: 'assistant',
  tool_calls: [{ type: 'function', id, function: { name: 'bash', arguments: '{}' } }],
})
const resultOf = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })
const contentOf = (message: unknown) => (message as { content: string }).content

/** A history in which the text is the oldest of some results. */
const historyOf = (text: string, { id }: Way) => [
  { role: 'user', content: 'run it' },
  callOf(id),
  resultOf(id, text),
  { role: 'assistant', content: 'done' },
]

const wrapped = (text: string, step: Step, { store, id }: Way, more: object = {}) =>
  wrapTool(
    { name: 'bash', execute: async (_input: object, _call: object) => text },
    { ...policyOf(step), spill: store, ...more },
  ).execute({}, { toolCallId: id }) as Promise<string>

/** The notice of the object that held the text in the last step. */
let beside: string | undefined

/** The JSON of an object with the text, as tools return it. */
const jsonWith = (stdout: string) => JSON.stringify({ exitCode: 1, stdout })

/** Returns the text in an object that a step left, and notes the notice beside it. */
const textIn = (left: { stdout: string; '[...]'?: string }) => {
  beside = left['[...]']
  return left.stdout
}

/** Functions that read JSON in a text, and leave JSON. */
const JSON_DOORS = [
  'wrapTool',
  'clampResult',
  'clampMessages',
  'aggregate',
  'applyPlan',
  'guard',
  'repair',
  'proxy',
  'hook',
] as const
const jsonDoorOf = ({ maxChars }: Step) =>
  JSON_DOORS[maxChars % JSON_DOORS.length] as (typeof JSON_DOORS)[number]

/** All steps. Each returns the text that the model reads. */
const STEPS = {
  inObject: async (text: string, step: Step, { store, id }: Way) => {
    const execute = async (_input: object, _call: object) => ({ exitCode: 1, stdout: text })
    const tool = wrapTool({ name: 'bash', execute }, { ...policyOf(step), spill: store })
    return textIn(await tool.execute({}, { toolCallId: id }))
  },
  inJson: async (text: string, step: Step, way: Way): Promise<string> => {
    return textIn(JSON.parse(await STEPS[jsonDoorOf(step)](jsonWith(text), step, way)))
  },
  wrapTool: (text: string, step: Step, way: Way) => wrapped(text, step, way),
  wrapTwice: (text: string, step: Step, { store, id }: Way) => {
    const tool = { name: 'bash', execute: async (_input: object, _call: object) => text }
    const policy = { ...policyOf(step), spill: store }
    return wrapTool(wrapTool(tool, policy), { ...policy, keep: 'auto' }).execute(
      {},
      { toolCallId: id },
    ) as Promise<string>
  },
  wrapInside: async (text: string, step: Step, way: Way) =>
    wrapped(await wrapped(text, step, way), step, way),
  clampText: async (text: string, step: Step) => clampText(text, policyOf(step)),
  clampResult: async (text: string, step: Step) => {
    if (step.shape === 0) return clampResult(text, policyOf(step))
    if (step.shape === 1)
      return clampResult({ content: [{ type: 'text', text }] }, policyOf(step)).content[0]?.text as string
    return clampResult({ type: 'tool_result', tool_use_id: 'x', content: text }, policyOf(step)).content
  },
  clampMessages: async (text: string, step: Step, way: Way) =>
    contentOf(clampMessages(historyOf(text, way), policyOf(step)).messages[2]),
  aggregate: async (text: string, { maxChars }: Step, way: Way) =>
    contentOf(
      clampMessages(historyOf(text, way), {
        maxBytes: Number.POSITIVE_INFINITY,
        maxLines: Number.POSITIVE_INFINITY,
        aggregate: { maxChars, minKeepChars: Math.min(maxChars, 2_000) },
      }).messages[2],
    ),
  applyPlan: async (text: string, { maxChars }: Step, way: Way) =>
    contentOf(
      applyPlan(historyOf(text, way), [
        { index: 2, callId: way.id, chars: text.length, maxChars: Math.min(maxChars, text.length) },
      ])[2],
    ),
  precheck: async (text: string, { maxChars }: Step, way: Way) => {
    const messages = historyOf(text, way)
    const { plan } = precheck({
      messages,
      contextTokens: 1_000 + Math.ceil(maxChars / 3),
      reserveTokens: 500,
    })
    return contentOf(applyPlan(messages, plan)[2])
  },
  recovery: async (text: string, { maxChars }: Step, way: Way) => {
    let sent = ''
    await runWithRecovery({
      contextTokens: 1_000 + Math.ceil(maxChars / 3),
      reserveTokens: 500,
      messages: () => historyOf(text, way),
      send: async (messages) => {
        sent = contentOf(messages[2])
      },
    })
    return sent
  },
  guard: async (text: string, step: Step, way: Way) => {
    const stored: unknown[] = []
    const manager = { appendMessage: (message: unknown) => stored.push(message) }
    guardSession(manager, policyOf(step))
    manager.appendMessage(resultOf(way.id, text))
    return contentOf(stored[0])
  },
  repair: async (text: string, step: Step, way: Way) => {
    const path = join(way.dir, '..', `${way.id}.jsonl`)
    writeFileSync(
      path,
      historyOf(text, way)
        .map((message) => `${JSON.stringify(message)}\n`)
        .join(''),
    )
    const { notice: _, ...policy } = policyOf(step)
    await repairSession(path, { ...policy, backup: false } as never)
    const { readFileSync } = await import('node:fs')
    const row = readFileSync(path, 'utf8').split('\n')[2] as string
    rmSync(path)
    return contentOf(JSON.parse(row))
  },
  proxy: async (text: string, step: Step, way: Way) => {
    const lineOf = (message: object) =>
      Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id: 1, ...message })}\n`)
    const relay = new Relay(policyOf(step), way.store, () => {}, false)
    relay.fromClient(lineOf({ method: 'tools/call', params: { name: 'bash', arguments: {} } }))
    const [line] = await relay.fromServer(lineOf({ result: { content: [{ type: 'text', text }] } }))
    return JSON.parse(String(line)).result.content[0].text as string
  },
  hook: async (text: string, step: Step, { store }: Way) => {
    const blocks = await clampBlocks(
      [{ type: 'text', text }],
      { name: 'bash', input: {}, pages: undefined },
      { ...policyOf(step), storing: () => store },
    )
    return (blocks[0] as { text: string }).text
  },
  daycareTail: async (text: string, { maxChars }: Step) =>
    stringTruncateTail(text, maxChars, 'output', { noticeInside: true }),
  daycareEnds: async (text: string, { maxChars }: Step) =>
    stringTruncateHeadTail(text, maxChars, 'output', { noticeInside: true }),
  daycareBeside: async (text: string, { maxChars }: Step) => stringTruncateTail(text, maxChars, 'output'),
  piHead: async (text: string, { maxChars, maxLines }: Step) =>
    truncateHead(text, { maxBytes: maxChars, maxLines }).content,
  piTail: async (text: string, { maxChars, maxLines }: Step) =>
    truncateTail(text, { maxBytes: maxChars, maxLines }).content,
  openclawText: async (text: string, { maxChars }: Step) => truncateToolResultText(text, maxChars),
  openclawHard: async (text: string, { maxChars, maxLines }: Step) =>
    hardTruncateToolPayload(text, { maxBytesUtf8: maxChars, maxLines }),
  openclawCap: async (text: string, { maxChars }: Step) =>
    capToolResultSize(
      { role: 'toolResult', toolCallId: 'x', toolName: 'bash', content: [{ type: 'text', text }] },
      maxChars,
    ).content[0]?.text as string,
  clear: async (text: string, _: Step, way: Way) => {
    const more = Array.from({ length: 3 }, (_, at) => [
      callOf(`more${at}`),
      resultOf(`more${at}`, 'short'),
    ]).flat()
    const { messages } = clearToolResults([...historyOf(text, way), ...more], {
      trigger: { type: 'input_tokens', value: 0 },
      requestsToCome: 1_000,
    })
    return contentOf(messages[2])
  },
} as const

/** Steps whose cuts the package announces. */
const SILENT: readonly string[] = [
  'inJson',
  'clampText',
  'daycareTail',
  'daycareEnds',
  'daycareBeside',
  'piHead',
  'piTail',
  'openclawText',
  'openclawCap',
  'openclawHard',
  'repair',
]
/** Steps whose notice a host places last, so that no exit line stays behind it. */
const LAST: readonly string[] = ['openclawText', 'openclawCap', 'openclawHard']
/** Steps of hosts that write a notice of their own, or none, and promise limits alone. */
const BARE: readonly string[] = ['openclawHard', 'daycareBeside', 'piHead', 'piTail']
/** Chars of the notice that stands beside the limits. It takes a line. */
const BESIDE = 60
/** Steps that redact and clean by their options. */
const PREPARING = new Set([
  'inObject',
  'wrapTool',
  'wrapTwice',
  'wrapInside',
  'clampText',
  'clampResult',
  'clampMessages',
  'guard',
  'repair',
  'proxy',
  'hook',
])
/** Steps with the limit on lines. JSON is one line. */
const LINES = new Set([
  ...[...PREPARING].filter((name) => name !== 'inObject'),
  'openclawHard',
  'piHead',
  'piTail',
])
/** Steps with a limit in tokens. */
const IN_TOKENS = new Set(['precheck', 'recovery'])
/** Steps that put the text into an object. */
export const OBJECTS = ['inObject', 'inJson'] as const
export const NAMES = Object.keys(STEPS) as (keyof typeof STEPS)[]

/** Makes the output of a pipeline. */
function outputOf({ lines }: Pipeline): string {
  calls += 1
  return Array.from({ length: lines }, (_, at) => {
    if (at === Math.floor(lines / 3)) return `src/x${calls}.ts:3 - error: boom`
    if (at === Math.floor(lines / 2)) return `export ${NAMED}`
    return `line ${at} of call ${calls}`
  }).join('\n')
}

/** Returns what each stream of a pipeline gets. */
function partsOf(pipeline: Pipeline): string[] {
  const { apart, source } = pipeline
  const output = outputOf(pipeline)
  if (source !== 'capture' || apart === 0) return [output]
  const lines = output.split('\n')
  const isError = (at: number) => at % apart === 0
  return [false, true].map((error) => lines.filter((_, at) => isError(at) === error).join('\n'))
}

const EXIT = /^\[(?:timed out|killed by|exit code)[^\n]*\]$/m
const HINT = /\[tool output truncated: ([\d,]+) of ([\d,]+) (?:chars|bytes) omitted/g
const SHORT =
  /\[\.\.\. ([\d,]+) (?:more characters truncated|chars omitted)[^\]\n]*\]|\.\.\. \(([\d,]+) chars truncated from/g

const ID = /\b[0-9a-f]{16}\b/g
/** Chars of the JSON around a text, its labels, its exit line and its notice. */
const EXTRA = 200

const within = (amount: number, least: number, most: number) => amount >= least && amount <= most
const sum = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0)
const numberOf = (text = '') => Number(text.replaceAll(',', ''))

/** Runs a pipeline, and returns the first promise that a step breaks, with the step. */
export async function broken(pipeline: Pipeline, dir: string): Promise<string | undefined> {
  const parts = partsOf(pipeline)
  const output = parts.join('')
  const lengths = parts.map((part) => part.length)
  const store = createSpillStore({ dir, reference: 'id' })
  const way: Way = { store, dir, id: `call${calls}` }
  const before = (await store.list()).length
  const { exit, source } = pipeline
  let [first, ...rest] = pipeline.steps as [Step, ...Step[]]
  let text = output
  let frame = 0
  let isRedacted = false
  let isPrepared = false
  let hasExit = false
  let isCleared = false
  let wasCut = false
  let isApart = false
  let room = 0
  let id: string | undefined
  let [chars, lines, least] = [Infinity, Infinity, Infinity]
  const faults: string[] = []
  beside = undefined
  const look = async (name: string, was: string, step: Step, events: number) => {
    const say = (what: string) => faults.push(`${name}: ${what}`)
    const isCut = text !== was
    const isFree = IN_TOKENS.has(name) || name === 'clear'
    const hints = [...text.matchAll(HINT)]
    const shorts = [...text.matchAll(SHORT)]
    const notices = hints.length + shorts.length
    if (!wasCut) [chars, lines] = [Infinity, Infinity]
    wasCut ||= notices > 0
    chars = Math.min(chars, isFree ? Infinity : step.maxChars)
    if (LINES.has(name) || name === 'capture') lines = Math.min(lines, step.maxLines)
    if (PREPARING.has(name === 'inJson' ? jsonDoorOf(step) : name) || name === 'capture') {
      // A cut may have parted the value from its name.
      isRedacted ||= step.redact && was.includes(SECRET) === was.includes(NAMED)
      isPrepared ||= step.redact || step.clean
    }
    least = Math.min(least, text.length)
    const size = measureText(text)
    const isBeside = name === 'daycareBeside'
    if (size.chars > chars + (isBeside ? BESIDE : 0)) say(`${size.chars} chars of ${chars}`)
    if (size.lines > lines + (isBeside ? 1 : 0)) say(`${size.lines} lines of ${lines}`)
    if (isRedacted && text.includes(SECRET)) say('a secret')
    if (BARE.includes(name)) return
    hasExit &&= !(isCut && LAST.includes(name)) && !(isCut && name === 'clear')
    if (isCleared && isCut) say('a change of what was cleared')
    isCleared ||= isCut && name === 'clear'
    if (notices > lengths.length) say(`${notices} notices`)
    const slack = isPrepared ? 64 : 0
    const isWhole = (all: number, of: readonly number[]) =>
      of.some((length) => all >= length - slack && all <= length + frame + slack)
    // One notice is that of either stream, or of both.
    const all = sum(hints.map(([, , total]) => numberOf(total)))
    const each = notices === lengths.length ? [output.length] : [...lengths, output.length]
    if (shorts.length === 0 && notices > 0 && !isWhole(all, each)) say(`a total of ${all}, not ${each}`)
    const omitted = sum([...hints, ...shorts].map(([, one, other]) => numberOf(one ?? other)))
    // Each stream in an object has a notice of its own, beside that of the object, which counts
    // what a short notice in it does not.
    if (beside !== undefined) room = ROOM * lengths.length
    const fewest = least < room ? 0 : output.length - text.length - slack
    if (notices > 0 && (omitted > output.length + frame + slack || omitted < fewest))
      say(`${omitted} omitted of ${output.length}, ${text.length} left`)
    const saved = (await store.list()).slice(before)
    if (saved.length > 1) say(`${saved.length} saves`)
    id ??= saved[0]?.id
    const hasRoom = chars >= ROOM && lines >= ROOM_LINES && least >= Math.max(room, ROOM)
    const ids = [...text.matchAll(ID)].map(([id]) => id)
    if (ids.some((other) => other !== id)) say(`the id ${ids.find((other) => other !== id)}, not ${id}`)
    const object = beside ?? ''
    const [, , named] = new RegExp(HINT).exec(object) ?? []
    const escapes = output.split('\n').length + EXTRA * lengths.length
    if (named !== undefined && !within(numberOf(named), output.length - 64, output.length + escapes))
      say(`a total of ${named} in an object, not ${output.length}`)
    const [foreign] = [...object.matchAll(ID)].map(([id]) => id).filter((other) => other !== id)
    if (foreign !== undefined) say(`the id ${foreign} in an object, not ${id}`)
    // A text that an object names no output for is named by the object alone.
    isApart = isCut && object.length > 0 && ids.length === 0 && object.includes(String(id))
    if (id !== undefined && hasRoom && !ids.includes(id) && !isApart) say('no id')
    if (hasExit && hasRoom && !EXIT.test(text.split('\n').at(-1) as string)) say('no exit line')
    const isTold = (name === 'recovery' || name === 'clear') && isCut
    if (!SILENT.includes(name) && (isTold ? events !== 1 : isCut ? events < 1 && !isPrepared : events !== 0))
      say(`${events} events`)
    if (name === 'repair' && repairs !== 1) say(`${repairs} events of repairs`)
    if (events > 1 && name !== 'wrapInside') say(`${events} events`)
  }
  if (source === 'capture') {
    seen.length = 0
    const streams = pipeline.apart > 0 ? 'separate' : 'merged'
    const made = { ...policyOf(first), spill: store, tool: 'bash', callId: way.id, streams } as const
    const capture = new OutputCapture(made)
    for (const [stream, part] of parts.entries())
      for (let at = 0; at < part.length; at += 7_000) {
        const into = stream === 0 ? capture.stdout : capture.stderr
        if (!into.write(part.slice(at, at + 7_000))) await new Promise((go) => into.once('drain', go))
      }
    const result = await capture.finish(exit)
    text = result.text
    const line = EXIT.exec(text.split('\n').at(-1) as string)?.[0]
    hasExit = line !== undefined
    // With labels, and the newlines behind texts.
    frame = (line === undefined ? 0 : line.length + 1) + (parts.length > 1 ? 2 * 'stdout:\n'.length + 1 : 0)
    await look('capture', result.truncated ? output : text, first, seen.length)
  } else {
    if (source === 'text' && exit) {
      text = `${output}\n[exit code ${exit.exitCode ?? 0}]`
      frame = text.length - output.length
      hasExit = true
    }
    rest = [first, ...rest]
  }
  for (const [at, step] of rest.entries()) {
    if (faults.length > 0) break
    seen.length = 0
    repairs = 0
    beside = undefined
    const was = text
    text = await STEPS[step.name](text, step, way)
    await look(step.name, was, step, seen.length)
    if (at === rest.length - 1 && faults.length === 0 && step.name !== 'daycareBeside') {
      const again = await STEPS[step.name](text, step, way)
      if (again !== text)
        faults.push(
          `${step.name}: again changes ${JSON.stringify(text.slice(-300))} to ${JSON.stringify(again.slice(-300))}`,
        )
    }
    if (BARE.includes(step.name) || isApart) break
  }
  return faults.length > 0
    ? `${faults.join('; ')}\n  ${JSON.stringify(text.slice(0, 150))} ... ${JSON.stringify(text.slice(-400))}`
    : undefined
}

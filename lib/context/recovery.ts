import { channel } from 'node:diagnostics_channel'
import type { DialectName, PlanStep, Precheck, RecoveryEvent, RecoveryHooks } from 'spillway'
import { isFailedTurn } from '../dialect/results.js'
import { FUNCTION } from '../kinds.js'
import { doorMode, type Mode } from '../mode.js'
import { repairToolPairs } from '../pairs/repair.js'
import { rulesOfCalls } from '../pairs/rules.js'
import { classifyProviderError } from '../provider_errors/classify.js'
import { optionsOf } from '../read_options.js'
import { checkMessages } from '../result/clamp_messages.js'
import { originIn } from '../result/gate.js'
import { isObject, notify, tryRead } from '../untrusted.js'
import { AppliedCuts } from './applied_cuts.js'
import { type BudgetOptions, budgetOf } from './budget_options.js'
import { OmittedMedia } from './omitted_media.js'
import { ContextOverflowError } from './overflow_error.js'
import { Prompt } from './precheck.js'
import { isRefusal, Refusal, type Size, told } from './refusal.js'
import { remembering } from './token_counter.js'

export async function runWithRecovery<R, M = unknown>(hooks: RecoveryHooks<R, M>): Promise<R> {
  return new Recovery(hooks).run()
}

const recoveries = channel('spillway:recovery')

/** A step that leaves more than this share of the lowest size so far is not repeated. */
const PROGRESS = 0.95

/** A way to make a prompt smaller. */
type Remedy = 'compact' | 'truncate'
const NOUNS: Readonly<Record<Remedy, string>> = { compact: 'compaction', truncate: 'truncation' }

/** Steps for each route, in order of preference. */
const STEPS: Readonly<Record<Precheck['route'], readonly Remedy[]>> = {
  fits: [],
  compact_only: ['compact'],
  truncate_tool_results_only: ['truncate', 'compact'],
  compact_then_truncate: ['compact', 'truncate'],
}
/** Steps after a refusal in tokens, or if a truncation could not be stored. */
const LAST_STEPS: readonly Remedy[] = ['compact', 'truncate']

/** The current history, as it would be sent. */
interface View<M> {
  readonly messages: readonly M[]
  /** The messages with the cuts of this run. */
  readonly cut: readonly M[]
  readonly prompt: Prompt
  readonly checked: Precheck
  /** True if it is not smaller than the prompt refused last, so it cannot be sent. */
  readonly mustShrink: boolean
}

const UNBOUNDED: Readonly<Size> = { tokens: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY }

class Recovery<R, M> {
  readonly #hooks: RecoveryHooks<R, M>
  readonly #mode: Mode
  #options: BudgetOptions
  readonly #maxCompactions: number
  readonly #signal: AbortSignal | undefined
  /** The signal passed to `send` if the run has none. SDKs reject undefined. */
  readonly #never = new AbortController().signal
  readonly #events: RecoveryEvent[] = []
  readonly #cuts = new AppliedCuts()
  readonly #media: OmittedMedia
  /** Number of the next send, from 1. */
  #attempt = 1
  #compactions = 0
  /** Dialect of the first call that was read. Without calls, results are not orphans. */
  #dialect: DialectName | undefined
  /** True after a compaction or a truncation. */
  #isShorter = false
  /** Reasons why steps are not repeated. */
  readonly #exhausted = new Map<Remedy, string>()
  /** Reason why the hook `truncate` is not called again. */
  #unstorable: string | undefined
  /** The lowest estimate so far, and the fewest bytes where these are bounded. */
  readonly #lowest: Size = { ...UNBOUNDED }
  #refusal: Refusal | undefined
  /** The largest size that a prompt may have, after all refusals so far. */
  #ceiling = UNBOUNDED

  constructor(hooks: RecoveryHooks<R, M>) {
    const given = optionsOf('recovery', 'hooks', hooks)
    FUNCTION.take('messages', hooks.messages)
    const options = budgetOf(given)
    this.#options = { ...options, counter: remembering(options.counter) }
    this.#media = new OmittedMedia(options.media)
    this.#maxCompactions = given.maxCompactions
    this.#signal = given.signal
    this.#mode = doorMode(given.observe)
    this.#hooks = hooks
  }

  async run(): Promise<R> {
    if (this.#mode !== 'on') return this.#sendWhole()
    let view = await this.#check('before the first request')
    for (;;) {
      this.#signal?.throwIfAborted()
      const { step, reason } = this.#nextStep(view)
      if (step === 'give_up') throw this.#overflowError(view, reason)
      if (step === 'send') {
        const sent = await this.#send(view, reason)
        if (sent) return sent.answer
        view = await this.#check('after a refusal')
      } else view = await (step === 'compact' ? this.#compact(view, reason) : this.#truncate(view, reason))
    }
  }

  /** Sends the history as it is, once. If it observes, reports the first step that it would
   *  take. */
  async #sendWhole(): Promise<R> {
    const context = { attempt: this.#attempt, signal: this.#signal ?? this.#never }
    if (this.#mode === 'off') {
      const messages = await this.#wait(() => this.#hooks.messages())
      return this.#wait(() => this.#hooks.send(messages as M[], context))
    }
    const view = await this.#check('before the first request')
    const { step, reason } = this.#nextStep(view)
    this.#report(step, view.checked, reason)
    if (step === 'truncate') this.#cuts.add(view.messages, view.cut, this.#planOf(view))
    this.#cuts.tell(view.messages, originIn(this.#mode))
    return this.#wait(() => this.#hooks.send(view.messages as M[], context))
  }

  /** Chooses the next step: the first that is possible. If none is, a prompt that the provider has
   *  not refused is sent, since estimates run high, and a refused one is given up. Gives up once
   *  all requests are used. */
  #nextStep(view: View<M>): { step: Remedy | 'send' | 'give_up'; reason: string } {
    const { checked, mustShrink } = view
    const { route, overflowTokens, requestBytes } = checked
    if (this.#attempt > this.#maxCompactions + 2)
      return { step: 'give_up', reason: `refused: ${this.#refusal}; no request is left` }
    if (route === 'fits' && !mustShrink) return { step: 'send', reason: 'it fits' }
    const over =
      overflowTokens > 0 || requestBytes === undefined
        ? `${overflowTokens} tokens over`
        : `${requestBytes} bytes`
    const because = mustShrink ? `refused: ${this.#refusal}` : `${route}: ${over}`
    const obstacles = this.#unstorable === undefined ? [] : [this.#unstorable]
    const steps = obstacles.length > 0 ? LAST_STEPS : mustShrink ? this.#stepsOnceRefused : STEPS[route]
    for (const step of steps) {
      const obstacle = step === 'compact' ? this.#whyNotCompact() : this.#whyNotTruncate(view)
      if (obstacle === undefined) return { step, reason: [because, ...obstacles].join('; ') }
      obstacles.push(obstacle)
    }
    const reason = [because, ...obstacles, 'no step is left'].join('; ')
    return { step: mustShrink ? 'give_up' : 'send', reason }
  }

  /** Truncation comes first after a refusal in bytes: a compaction sends the same payloads. */
  get #stepsOnceRefused(): readonly Remedy[] {
    return this.#refusal?.inBytes ? STEPS.truncate_tool_results_only : LAST_STEPS
  }

  #whyNotCompact(): string | undefined {
    if (!this.#hooks.compact) return 'there is no compaction'
    if (this.#compactions >= this.#maxCompactions) return `${counted(this.#compactions, 'compaction')} made`
    return this.#exhausted.get('compact')
  }

  #whyNotTruncate(view: View<M>): string | undefined {
    const isNone = this.#planOf(view).length === 0
    return this.#exhausted.get('truncate') ?? (isNone ? 'no tool result can be cut' : undefined)
  }

  /** Returns the plan for a truncation, which after a refusal may go down to "[...]". */
  #planOf({ cut, prompt, checked }: View<M>): readonly PlanStep[] {
    if (!this.#refusal) return checked.plan
    const within = this.#optionsFor(this.#lowered(this.#refusal.cutTo(prompt)))
    return new Prompt(cut, { ...within, isLastResort: true }).check().plan
  }

  async #compact(view: View<M>, reason: string): Promise<View<M>> {
    this.#compactions += 1
    this.#report('compact', view.checked, reason)
    const actualTokens = this.#refusal?.actualTokens
    const state = {
      attempt: this.#attempt,
      overflowTokens: Math.max(view.checked.overflowTokens, this.#refusal?.overflow ?? 0),
      ...(actualTokens !== undefined && { actualTokens }),
    }
    if (await this.#wait(() => this.#hooks.compact?.(state))) return this.#checkAfter('compact')
    this.#exhausted.set('compact', 'the last compaction came to nothing')
    return view
  }

  async #truncate(view: View<M>, reason: string): Promise<View<M>> {
    const plan = this.#planOf(view)
    this.#report('truncate', view.checked, `${reason}; ${counted(plan.length, 'tool result')}`)
    if (!this.#isStored) this.#cuts.add(view.messages, view.cut, plan)
    else if (!(await this.#wait(() => this.#hooks.truncate?.(plan)))) {
      this.#unstorable = 'a truncation could not be stored before'
      return view
    }
    return this.#checkAfter('truncate')
  }

  /** True if truncations are stored, rather than applied to the messages that are sent. */
  get #isStored(): boolean {
    return this.#hooks.truncate !== undefined && this.#unstorable === undefined
  }

  /** Reads the history after a step, and decides if the step may be repeated. */
  async #checkAfter(step: Remedy): Promise<View<M>> {
    this.#isShorter = true
    const { tokens, bytes } = this.#lowest
    this.#options = { ...this.#options, lastUsage: undefined }
    const view = await this.#check(`after a ${NOUNS[step]}`)
    const isEnough = step === 'truncate' && view.checked.route === 'fits'
    const isSmaller =
      isProgress(view.prompt.tokens, tokens) ||
      (bytes !== Number.POSITIVE_INFINITY && isProgress(view.prompt.bytes, bytes))
    if (!isSmaller && !isEnough) {
      const left = `the last ${NOUNS[step]} left ${view.prompt.tokens} tokens of ${tokens}`
      // The hook may have stored less than the plan. The messages that are sent can still be cut.
      if (step === 'truncate' && this.#isStored) this.#unstorable = left
      else this.#exhausted.set(step, left)
    }
    return view
  }

  /** Sends the prompt. Returns undefined if the provider refuses it because of its size. */
  async #send(view: View<M>, reason: string): Promise<{ answer: R } | undefined> {
    const [attempt, signal] = [this.#attempt, this.#signal]
    this.#report('send', view.checked, reason)
    this.#cuts.tell(view.messages)
    try {
      const context = { attempt, signal: signal ?? this.#never }
      // A compaction may have taken a call without its result, or the reverse.
      const dialect = this.#isShorter ? this.#dialect : undefined
      const messages = dialect ? repairToolPairs(view.cut, { dialect }).messages : view.cut
      const answer = await this.#wait(() => this.#hooks.send(messages as M[], context))
      const isFailed = isObject(answer) && tryRead(() => isFailedTurn(answer))
      return isFailed && this.#isRefused(view, answer) ? undefined : { answer }
    } catch (error) {
      signal?.throwIfAborted()
      if (!this.#isRefused(view, error)) throw error
      return undefined
    }
  }

  /** Returns true if a smaller prompt may succeed after this failure. Then records the refusal. */
  #isRefused({ prompt, checked, cut }: View<M>, cause: unknown): boolean {
    const error = classifyProviderError(cause)
    if (error.kind === 'media_too_large') {
      if (this.#attempt > this.#maxCompactions + 1 || !this.#media.reject(error, cut)) return false
      this.#report('overflow', checked, `${told(error)}; without that payload`)
      this.#attempt += 1
      return true
    }
    if (!isRefusal(error)) return false
    this.#refusal = new Refusal(error, cause, prompt, this.#options.contextTokens)
    this.#ceiling = this.#lowered(this.#refusal.ceiling)
    if (this.#refusal.inBytes) this.#lowest.bytes = Math.min(this.#lowest.bytes, prompt.bytes)
    // A truncation after a refusal cuts more than before.
    this.#exhausted.delete('truncate')
    this.#report('overflow', checked, `${this.#refusal}`)
    this.#attempt += 1
    return true
  }

  /** Reads the history, and checks the prompt that would be sent. */
  async #check(reason: string): Promise<View<M>> {
    const messages = checkMessages(await this.#wait(() => this.#hooks.messages()))
    this.#dialect ??= rulesOfCalls(messages)?.name
    const cut = this.#media.apply(this.#cuts.apply(messages))
    const prompt = new Prompt(cut, this.#optionsFor(this.#ceiling))
    const checked = this.#withOwnMargin(prompt, prompt.check())
    this.#report('precheck', checked, reason)
    this.#lowest.tokens = Math.min(this.#lowest.tokens, prompt.tokens)
    this.#lowest.bytes = Math.min(this.#lowest.bytes, checked.requestBytes ?? Number.POSITIVE_INFINITY)
    const mustShrink = this.#refusal !== undefined && this.#refusal.sizeOf(prompt) >= this.#refusal.size
    return { messages, cut, prompt, checked, mustShrink }
  }

  /** Returns the ceiling lowered to a size in the unit of the last refusal. */
  #lowered(size: number): Readonly<Size> {
    const { tokens, bytes } = this.#ceiling
    return this.#refusal?.inBytes
      ? { tokens, bytes: Math.min(bytes, size) }
      : { tokens: Math.min(tokens, size), bytes }
  }

  /** Returns settings under which a prompt fits only if it is within a ceiling. */
  #optionsFor({ tokens, bytes }: Readonly<Size>): BudgetOptions {
    const maxRequestBytes = Math.min(this.#options.maxRequestBytes, bytes)
    const { budgetTokens, safetyMargin } = this.#options
    const options = { ...this.#options, maxRequestBytes }
    if (tokens === Number.POSITIVE_INFINITY) return options
    if (budgetTokens === Number.POSITIVE_INFINITY)
      return { ...options, budgetTokens: Math.floor(tokens * safetyMargin) }
    return { ...options, safetyMargin: Math.max(safetyMargin, budgetTokens / tokens) }
  }

  /** Restates a check with the caller's margin, since that of `#optionsFor` is artificial. The
   *  overflow is that of the budget or of the ceiling. */
  #withOwnMargin(prompt: Prompt, checked: Precheck): Precheck {
    const estimatedTokens = prompt.estimate(this.#options.safetyMargin)
    const excess = Math.ceil(prompt.tokens - this.#ceiling.tokens)
    return {
      ...checked,
      estimatedTokens,
      overflowTokens: Math.max(0, estimatedTokens - checked.budgetTokens, excess),
    }
  }

  #wait<T>(work: () => T | PromiseLike<T>): Promise<T> {
    return unlessAborted(this.#signal, work)
  }

  #report(type: RecoveryEvent['type'], { route, estimatedTokens }: Precheck, reason: string): void {
    const observed = this.#mode === 'observe' ? { applied: false as const } : {}
    const event = Object.freeze({ type, attempt: this.#attempt, route, estimatedTokens, reason, ...observed })
    this.#events.push(event)
    notify(() => this.#hooks.onEvent?.(event))
    if (recoveries.hasSubscribers) recoveries.publish(event)
  }

  #overflowError({ checked }: View<M>, reason: string): ContextOverflowError {
    const sends = this.#attempt - 1
    this.#attempt = sends
    this.#report('give_up', checked, reason)
    const made = `${counted(sends, 'request')} and ${counted(this.#compactions, 'compaction')}`
    const message = `the prompt is too large for the model, after ${made}; ${reason}`
    return new ContextOverflowError(message, {
      attempts: this.#events,
      precheck: checked,
      cause: this.#refusal?.cause,
    })
  }
}

/** Returns true if a step left less than most of the lowest size so far. */
function isProgress(size: number, lowest: number): boolean {
  return size < lowest && size <= lowest * PROGRESS
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Waits for work. If the signal aborts first, rejects with its reason at once and ignores the
 *  outcome of the work. */
async function unlessAborted<T>(signal: AbortSignal | undefined, work: () => T | PromiseLike<T>): Promise<T> {
  if (!signal) return work()
  signal.throwIfAborted()
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
  })
  try {
    // The signal comes first in the race, so its reason wins over a rejection that the abort
    // causes.
    return await Promise.race([aborted, (async () => work())()])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

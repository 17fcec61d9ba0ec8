import type { PlanStep, Precheck, RecoveryEvent, RecoveryHooks } from 'spillway'
import { isFailedTurn } from '../dialect/dialect.js'
import { abortSignal, bound, callback, checkNames, optionError } from '../option.js'
import { isObject, quietly } from '../reading.js'
import { checkMessages } from '../result/messages.js'
import { unlessAborted } from './abort.js'
import { LivePlan } from './live_plan.js'
import { ContextOverflowError } from './overflow_error.js'
import { Prompt } from './precheck.js'
import { classifyProviderError } from './provider_error.js'
import { isRefusal, Refusal } from './refusal.js'
import { Trail } from './trail.js'
import { type Asked, checkAsked, remembering } from './window.js'

export async function runWithRecovery<R, M = unknown>(hooks: RecoveryHooks<R, M>): Promise<R> {
  return new Recovery(hooks).run()
}

/** A step has to leave at most this part of the least estimate so far; one that does not is not taken again. */
const PROGRESS = 0.95

/** What makes a prompt smaller. */
type Step = 'compact' | 'truncate'
const NOUNS: Readonly<Record<Step, string>> = { compact: 'compaction', truncate: 'truncation' }

/** The steps to a prompt that fits, the first that can be taken first. */
const STEPS: Readonly<Record<Precheck['route'], readonly Step[]>> = {
  fits: [],
  compact_only: ['compact'],
  truncate_tool_results_only: ['truncate', 'compact'],
  compact_then_truncate: ['compact', 'truncate'],
}
/** The same after a refusal, and where a truncation could not be stored. */
const LAST_STEPS: readonly Step[] = ['compact', 'truncate']

/** The history as it would be sent now. */
interface View<M> {
  readonly messages: readonly M[]
  /** The same with the cuts of this run. */
  readonly cut: readonly M[]
  readonly prompt: Prompt
  readonly checked: Precheck
  /** It is no smaller than what was refused last, so it is not sent. */
  readonly mustShrink: boolean
}

class Recovery<R, M> {
  readonly #hooks: RecoveryHooks<R, M>
  #asked: Asked
  readonly #maxCompactions: number
  readonly #signal: AbortSignal | undefined
  /** For `send`, where there is no signal: SDKs take one or none, but no undefined. */
  readonly #never = new AbortController().signal
  readonly #trail: Trail
  readonly #live = new LivePlan()
  /** Of the next send, from 1 on. */
  #attempt = 1
  #compactions = 0
  /** Why a step is not taken again. */
  readonly #spent = new Map<Step, string>()
  /** Why the hook that stores truncations is not asked again. */
  #unstorable: string | undefined
  /** The least estimate so far. */
  #lowest = Number.POSITIVE_INFINITY
  #refusal: Refusal | undefined
  /** The most that may be estimated of a prompt, by all refusals so far. */
  #ceiling = Number.POSITIVE_INFINITY

  constructor(hooks: RecoveryHooks<R, M>) {
    this.#asked = remembering(checkAsked(checkNames('recovery', 'hooks', hooks)))
    for (const name of ['messages', 'send'] as const)
      if (typeof hooks[name] !== 'function') throw optionError(TypeError, name, 'a function', hooks[name])
    for (const name of ['compact', 'truncate', 'onEvent'] as const) callback(name, hooks[name])
    this.#maxCompactions = bound('maxCompactions', hooks.maxCompactions, 3)
    this.#signal = abortSignal('signal', hooks.signal)
    this.#trail = new Trail(hooks.onEvent)
    this.#hooks = hooks
  }

  async run(): Promise<R> {
    let view = await this.#look('before the first request')
    for (;;) {
      this.#signal?.throwIfAborted()
      const { step, reason } = this.#next(view)
      if (step === 'give_up') throw this.#givenUp(view, reason)
      if (step === 'send') {
        const sent = await this.#send(view, reason)
        if (sent) return sent.answer
        view = await this.#look('after a refusal')
      } else view = await (step === 'compact' ? this.#compact(view, reason) : this.#truncate(view, reason))
    }
  }

  /** Decides what comes next: the first step that can be taken. Where none is left, a prompt that the provider has not
   *  refused is sent all the same, since estimates lean upwards; one that it has refused is given up, and so is any once
   *  all requests are made. */
  #next(view: View<M>): { step: Step | 'send' | 'give_up'; reason: string } {
    const { checked, mustShrink } = view
    const { route, overflowTokens } = checked
    if (this.#attempt > this.#maxCompactions + 2)
      return { step: 'give_up', reason: `refused: ${this.#refusal}; no request is left` }
    if (route === 'fits' && !mustShrink) return { step: 'send', reason: 'it fits' }
    const because = mustShrink ? `refused: ${this.#refusal}` : `${route}: ${overflowTokens} tokens over`
    const obstacles = this.#unstorable === undefined ? [] : [this.#unstorable]
    const steps = mustShrink || obstacles.length > 0 ? LAST_STEPS : STEPS[route]
    for (const step of steps) {
      const obstacle = step === 'compact' ? this.#notCompacting() : this.#notTruncating(view)
      if (obstacle === undefined) return { step, reason: [because, ...obstacles].join('; ') }
      obstacles.push(obstacle)
    }
    const reason = [because, ...obstacles, 'no step is left'].join('; ')
    return { step: mustShrink ? 'give_up' : 'send', reason }
  }

  #notCompacting(): string | undefined {
    if (!this.#hooks.compact) return 'there is no compaction'
    if (this.#compactions >= this.#maxCompactions) return `${counted(this.#compactions, 'compaction')} made`
    return this.#spent.get('compact')
  }

  #notTruncating(view: View<M>): string | undefined {
    const isNone = this.#planFor(view).length === 0
    return this.#spent.get('truncate') ?? (isNone ? 'no tool result can be cut' : undefined)
  }

  /** What to cut: more after a refusal, down to "[...]" where it takes that. */
  #planFor({ cut, prompt, checked }: View<M>): readonly PlanStep[] {
    if (!this.#refusal) return checked.plan
    const within = this.#within(this.#refusal.cutTo(prompt.tokens))
    return new Prompt(cut, { ...within, isLastResort: true }).check().plan
  }

  async #compact(view: View<M>, reason: string): Promise<View<M>> {
    this.#compactions += 1
    this.#tell('compact', view.checked, reason)
    const actualTokens = this.#refusal?.actualTokens
    const state = {
      attempt: this.#attempt,
      overflowTokens: Math.max(view.checked.overflowTokens, this.#refusal?.overflow ?? 0),
      ...(actualTokens !== undefined && { actualTokens }),
    }
    if (await this.#wait(() => this.#hooks.compact?.(state))) return this.#after('compact')
    this.#spent.set('compact', 'the last compaction came to nothing')
    return view
  }

  async #truncate(view: View<M>, reason: string): Promise<View<M>> {
    const plan = this.#planFor(view)
    this.#tell('truncate', view.checked, `${reason}; ${counted(plan.length, 'tool result')}`)
    if (!this.#isStored) this.#live.take(view.messages, view.cut, plan)
    else if (!(await this.#wait(() => this.#hooks.truncate?.(plan)))) {
      this.#unstorable = 'a truncation could not be stored before'
      return view
    }
    return this.#after('truncate')
  }

  /** Truncations are stored, rather than applied to what is sent. */
  get #isStored(): boolean {
    return this.#hooks.truncate !== undefined && this.#unstorable === undefined
  }

  /** Looks at what a step has made of the history, and whether it may be taken again. */
  async #after(step: Step): Promise<View<M>> {
    const lowest = this.#lowest
    this.#asked = { ...this.#asked, lastUsage: undefined }
    const view = await this.#look(`after a ${NOUNS[step]}`)
    const { tokens } = view.prompt
    const isEnough = step === 'truncate' && view.checked.route === 'fits'
    if ((tokens > lowest * PROGRESS || tokens === lowest) && !isEnough) {
      const left = `the last ${NOUNS[step]} left ${tokens} tokens of ${lowest}`
      // A hook may have stored less than it was asked for: what is sent can be cut all the same.
      if (step === 'truncate' && this.#isStored) this.#unstorable = left
      else this.#spent.set(step, left)
    }
    return view
  }

  /** The answer, unless the prompt is refused for its size. */
  async #send(view: View<M>, reason: string): Promise<{ answer: R } | undefined> {
    const [attempt, signal] = [this.#attempt, this.#signal]
    this.#tell('send', view.checked, reason)
    try {
      const context = { attempt, signal: signal ?? this.#never }
      const answer = await this.#wait(() => this.#hooks.send(view.cut as M[], context))
      const isFailed = isObject(answer) && quietly(() => isFailedTurn(answer))
      return isFailed && this.#isRefused(view, answer) ? undefined : { answer }
    } catch (error) {
      signal?.throwIfAborted()
      if (!this.#isRefused(view, error)) throw error
      return undefined
    }
  }

  /** Whether a failure is one that a smaller prompt answers; that has to come next then. */
  #isRefused({ prompt, checked }: View<M>, cause: unknown): boolean {
    const error = classifyProviderError(cause)
    if (!isRefusal(error)) return false
    this.#refusal = new Refusal(error, cause, prompt.tokens, this.#asked.contextTokens)
    this.#ceiling = Math.min(this.#ceiling, this.#refusal.ceiling)
    // More is cut now than before.
    this.#spent.delete('truncate')
    this.#tell('overflow', checked, `${this.#refusal}`)
    this.#attempt += 1
    return true
  }

  /** Reads the history anew, and checks what would be sent of it. */
  async #look(reason: string): Promise<View<M>> {
    const messages = await this.#wait(() => this.#hooks.messages())
    checkMessages(messages)
    const cut = this.#live.apply(messages)
    const prompt = new Prompt(cut, this.#within(this.#ceiling))
    const checked = this.#inTokens(prompt, prompt.check())
    this.#tell('precheck', checked, reason)
    this.#lowest = Math.min(this.#lowest, prompt.tokens)
    const mustShrink = this.#refusal !== undefined && prompt.tokens >= this.#refusal.tokens
    return { messages, cut, prompt, checked, mustShrink }
  }

  /** What to check for, so that a prompt fits only if it is estimated at no more than `ceiling` without a margin. */
  #within(ceiling: number): Asked {
    const { budgetTokens, safetyMargin } = this.#asked
    if (ceiling === Number.POSITIVE_INFINITY) return this.#asked
    if (budgetTokens === Number.POSITIVE_INFINITY)
      return { ...this.#asked, budgetTokens: Math.floor(ceiling * safetyMargin) }
    return { ...this.#asked, safetyMargin: Math.max(safetyMargin, budgetTokens / ceiling) }
  }

  /** A check with the margin of the caller: that of `#within` is no measure of tokens. What is over is over the budget, or
   *  over what refusals leave. */
  #inTokens(prompt: Prompt, checked: Precheck): Precheck {
    const estimatedTokens = prompt.estimate(this.#asked.safetyMargin)
    const excess = Math.ceil(prompt.tokens - this.#ceiling)
    return {
      ...checked,
      estimatedTokens,
      overflowTokens: Math.max(0, estimatedTokens - checked.budgetTokens, excess),
    }
  }

  #wait<T>(work: () => T | PromiseLike<T>): Promise<T> {
    return unlessAborted(this.#signal, work)
  }

  #tell(type: RecoveryEvent['type'], { route, estimatedTokens }: Precheck, reason: string): void {
    this.#trail.tell({ type, attempt: this.#attempt, route, estimatedTokens, reason })
  }

  #givenUp({ checked }: View<M>, reason: string): ContextOverflowError {
    const sends = this.#attempt - 1
    this.#attempt = sends
    this.#tell('give_up', checked, reason)
    const made = `${counted(sends, 'request')} and ${counted(this.#compactions, 'compaction')}`
    const message = `the prompt is too large for the model, after ${made}; ${reason}`
    const attempts = [...this.#trail.events]
    return new ContextOverflowError(message, { attempts, precheck: checked, cause: this.#refusal?.cause })
  }
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

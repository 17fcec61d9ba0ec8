// One object that holds the window of a model, and what was decided and learned for a history.
//
//   repeat  What was cleared, cut or omitted before is written again byte for byte.
//   clear   What pays, in batches (`clearing_plan.ts`), and a repeat before it is first sent.
//   shrink  If the window is full: everything before the last results, then the oldest rounds, then all but the latest
//           results; these are cut last. What has to go because of the window costs nothing extra.
//   learn   A refusal lowers the limit for good, on the scale of our estimates, so that no prompt of that size is sent
//           again. Saved outputs that are read again teach how often old results are needed (`outlook.ts`).
//
// All decisions are plain JSON in `state`, named by call and content. So another process goes on
// with the same bytes, and a history that was rewritten in between is sent whole where it changed.
import type { ClampEvent, Context, ContextOptions } from 'spillway'
import { jsonOf } from '../json.js'
import { repairToolPairs } from '../pairs/repair.js'
import { rulesOfCalls } from '../pairs/rules.js'
import { classifyProviderError } from '../provider_errors/classify.js'
import { checkMessages } from '../result/clamp_messages.js'
import { originIn } from '../result/gate.js'
import { elementsOf } from '../untrusted.js'
import { checkMembers, optionError } from '../validate.js'
import { keptOf } from './clear_results.js'
import { type ClearedResult, LEAST } from './cleared.js'
import { ClearedHistory, type Shortening } from './cleared_history.js'
import { dueOf } from './clearing_plan.js'
import { type ContextSettings, checkContext } from './context_options.js'
import { CutResults } from './cut_results.js'
import type { Learned } from './learned.js'
import { OmittedMedia } from './omitted_media.js'
import { OmittedRounds, roundsToOmit } from './omitted_rounds.js'
import { learned, Outlook } from './outlook.js'
import { Prompt } from './precheck.js'
import { withoutSecrets } from './redaction.js'
import { isRefusal, Refusal } from './refusal.js'
import { sumOf } from './token_counter.js'
import { estimate, sharesOf, type ToolUse, tokensIn } from './tool_uses.js'

export function createContext(options: ContextOptions): Context {
  return new HeldContext(checkContext(options))
}

/** Answers whose results stay unless `keep` is given. */
const ANSWERS = 3
/** Share of a refused prompt that the next one may have at most. */
const PROGRESS = 0.95

interface Request {
  readonly system?: unknown
  readonly tools?: unknown
}

class HeldContext implements Context {
  readonly #settings: ContextSettings
  readonly #media: OmittedMedia
  #state: Learned
  #last: readonly unknown[] = []
  /** The history of the last prompt. */
  #history: ClearedHistory | undefined

  constructor(settings: ContextSettings) {
    this.#settings = settings
    this.#state = settings.state
    this.#media = new OmittedMedia(undefined, settings.state.media)
  }

  get state(): object {
    return this.#state
  }

  async prepare<M>(list: readonly M[], request: Request = {}) {
    const given = checkMessages(list)
    const { mode } = this.#settings
    if (mode === 'off') return { messages: given as M[], estimatedTokens: 0, cleared: 0, fits: true }
    const { system, tools } = checkMembers<Request>('request', request, ['system', 'tools'])
    const words = { systemPrompt: textOf(system), ...(tools !== undefined && { tools }) }
    const messages = withoutSecrets(elementsOf(given), this.#settings.policy)
    const history = this.#grown(this.#media.apply(messages))
    const draft = new Draft(history, this.#settings, this.#state, words)
    await draft.shorten()
    const { total, bytes, fits } = draft
    const paired = inPairs(draft.messages)
    const isSame = paired.length === given.length && paired.every((one, at) => one === given[at])
    const observed = mode === 'observe' ? { observed: true as const } : {}
    this.#state = { ...draft.state, ...observed, last: { tokens: total, bytes, isLeast: !fits } }
    this.#last = paired
    this.#history = history
    return {
      messages: (isSame || mode === 'observe' ? given : paired) as M[],
      estimatedTokens: Math.ceil(total * this.#settings.budget.safetyMargin),
      cleared: draft.cleared,
      fits,
    }
  }

  /** Returns the history of the last prompt with the messages that it has more. It is taken out of
   *  the context, so that calls that overlap share none. */
  #grown(messages: readonly unknown[]): ClearedHistory {
    const { results } = this.#state
    const { wording, spill, mode } = this.#settings
    const shares = sharesOf(messages)
    const history = this.#history
    this.#history = undefined
    if (history?.grow(messages, results, shares)) return history
    return new ClearedHistory(messages, results, wording, spill, originIn(mode), shares)
  }

  async refused(error: unknown): Promise<boolean> {
    // The next prompt would be the same.
    if (this.#settings.mode !== 'on') return false
    const told = classifyProviderError(error)
    const { last } = this.#state
    if (told.kind === 'media_too_large') {
      const isOmitted = this.#media.reject(told, this.#last)
      this.#state = { ...this.#state, media: [...this.#media.refusals] }
      return isOmitted
    }
    if (!isRefusal(told) || !last) return false
    const refusal = new Refusal(told, error, last, this.#settings.budget.contextTokens)
    const most = Math.floor(Math.min(refusal.cutTo(last), refusal.size * PROGRESS))
    const { maxTokens = Number.MAX_SAFE_INTEGER, maxBytes = Number.MAX_SAFE_INTEGER } = this.#state
    this.#state = refusal.inBytes
      ? { ...this.#state, maxBytes: Math.min(maxBytes, most) }
      : { ...this.#state, maxTokens: Math.min(maxTokens, most) }
    return !last.isLeast
  }

  async run<M, R>(
    messages: readonly M[],
    send: (messages: M[]) => R | PromiseLike<R>,
    request: Request = {},
  ): Promise<R> {
    if (typeof send !== 'function') throw optionError(TypeError, 'send', 'a function', send)
    for (;;) {
      const prepared = await this.prepare(messages, request)
      try {
        return await send(prepared.messages)
      } catch (error) {
        if (!(await this.refused(error))) throw error
      }
    }
  }
}

/** A prompt that becomes shorter, step by step, until it fits. */
class Draft {
  readonly #settings: ContextSettings
  readonly #words: { readonly systemPrompt: string; readonly tools?: unknown }
  readonly #history: ClearedHistory
  readonly #cuts: CutResults
  readonly #kept: (use: ToolUse, at: number) => boolean
  readonly #base: number
  #rounds: OmittedRounds
  state: Learned
  messages: readonly unknown[] = []
  /** Tokens of all, with the system prompt and the tools. */
  total = 0
  bytes = 0
  cleared = 0
  #tokens: readonly number[] = []

  constructor(
    history: ClearedHistory,
    settings: ContextSettings,
    state: Learned,
    words: { readonly systemPrompt: string; readonly tools?: unknown },
  ) {
    this.#settings = settings
    this.#words = words
    this.#history = history
    const { uses } = history
    this.state = { ...state, needs: learned(state.needs, this.#history, state.results) }
    this.#cuts = new CutResults(this.#history, state.cuts, settings.policy, originIn(settings.mode))
    this.#rounds = OmittedRounds.before(this.#history, this.#holder)
    const { keep } = settings
    const from = keep && keptOf(uses, keep)
    this.#kept = from === undefined ? ({ age }) => age < ANSWERS : (_, at) => at >= from
    const texts = [words.systemPrompt, words.tools === undefined ? '' : (jsonOf(words.tools) ?? '')]
    this.#base = sumOf(
      texts.filter((text) => text !== ''),
      estimate,
    )
    this.#repeat()
    this.#measure()
  }

  get #holder(): ToolUse | undefined {
    const { omitted } = this.state
    return omitted === undefined ? undefined : this.#history.named(omitted)
  }

  /** Tokens that the prompt may have. */
  get #limit(): number {
    const { budgetTokens, safetyMargin } = this.#settings.budget
    return Math.min(budgetTokens / safetyMargin, this.state.maxTokens ?? Number.POSITIVE_INFINITY)
  }

  get fits(): boolean {
    return this.total <= this.#limit && this.bytes <= (this.state.maxBytes ?? Number.POSITIVE_INFINITY)
  }

  async shorten(): Promise<void> {
    await this.#clearDue()
    if (!this.fits) await this.#clear(this.#clearable((use, at) => !this.#kept(use, at)))
    if (!this.fits) await this.#omit(this.total - this.#limit)
    if (!this.fits) await this.#clear(this.#clearable(({ age }) => age > 0))
    if (!this.fits) await this.#omit(0)
    // Arguments of the latest calls go before their results.
    if (!this.fits) await this.#clear(this.#clearable(() => true, Number.POSITIVE_INFINITY))
    if (!this.fits) await this.#cut()
    if (!this.fits) await this.#clear(this.#clearable(() => true))
    await this.#clearDue()
  }

  /** Clears what pays, until nothing does: a shorter prompt makes more results worth clearing. */
  async #clearDue(): Promise<void> {
    const { prices, requestsToCome } = this.#settings
    const outlook = new Outlook(this.state.needs, requestsToCome)
    for (;;) {
      const older = this.#clearable((use, at) => !this.#kept(use, at))
      const prompt = { tokens: this.#tokens, total: this.total, sent: this.#history.sent, limit: this.#limit }
      const due = dueOf(older, prompt, prices, outlook)
      if (!(await this.#clear(due, 'prices'))) return
    }
  }

  /** Returns the results and arguments that can become shorter. `least`: chars of a result up to
   *  which it stays. */
  #clearable(isOpen: (use: ToolUse, at: number) => boolean, least?: number): Shortening[] {
    const { excludeTools } = this.#settings
    const { calls, uses } = this.#history
    const needed = new Set<string | undefined>()
    for (const [at, use] of uses.entries())
      if (this.#kept(use, at) && !isOpen(use, at)) needed.add(this.#history.entries.get(use)?.of?.key)
    const open = uses.filter((use, at) => {
      if (!isOpen(use, at) || this.#rounds.gone.has(use.at)) return false
      return !needed.has(use.key) && !excludeTools.has(calls.toolOf(use) ?? '')
    })
    return this.#history.shortenings(open, () => true, least)
  }

  /** Returns false if nothing became shorter. */
  async #clear(all: readonly Shortening[], reason: ClampEvent['reason'] = 'window'): Promise<boolean> {
    const { spill } = this.#settings
    const made: Shortening[] = []
    for (const one of all) {
      const named = spill ? await this.#history.save(spill, one) : one
      if (named) made.push(named)
    }
    if (made.length === 0) return false
    this.#remember(made.flatMap((one) => this.#history.clear(one, reason)))
    this.cleared += made.length
    this.#measure()
    return true
  }

  /** Adds the entries of uses to the state. */
  #remember(uses: readonly ToolUse[]): void {
    const results = { ...this.state.results }
    for (const use of uses) results[use.key] = this.#history.entries.get(use) as ClearedResult
    this.state = { ...this.state, results }
  }

  /** Replaces results that repeat another, before they are first sent. */
  #repeat(): void {
    const { sent, calls, uses, alike } = this.#history
    const isOpen = (use: ToolUse) => !this.#history.isCleared(use) && !this.#rounds.gone.has(use.at)
    const made = [...alike.from(sent, uses, calls, isOpen)]
    for (const [use, entry] of made) {
      this.#history.set(use, entry)
      this.#history.tell(use, 'repeat')
    }
    if (made.length > 0) this.#remember(made.map(([use]) => use))
  }

  /** Omits the oldest rounds, down to half of the window. `least`: tokens that must go. */
  async #omit(least: number): Promise<void> {
    const isOld = (use: ToolUse) => use.age >= ANSWERS
    const made = roundsToOmit(this.#history, this.#tokens, this.total - this.#limit / 2, isOld)
    if (!made || made.freed < least) return
    const { holder } = made
    const { spill, wording } = this.#settings
    this.#rounds = OmittedRounds.before(this.#history, holder)
    const wasCleared = this.#history.isCleared(holder)
    const changed = await this.#rounds.write(this.#history, holder, wording, spill)
    if (!wasCleared) this.#history.tell(holder, 'window')
    this.state = { ...this.state, omitted: holder.key }
    this.#remember(changed)
    this.cleared += 1
    this.#measure()
  }

  /** Cuts the results that are left, the oldest first. A result of less room than `LEAST` could not
   *  name its saved output: such a result is cleared instead, and a short one stays. */
  async #cut(): Promise<void> {
    const { budget, spill } = this.#settings
    const options = {
      ...budget,
      ...this.#words,
      budgetTokens: Math.floor(this.#limit * budget.safetyMargin),
      maxRequestBytes: this.state.maxBytes ?? Number.POSITIVE_INFINITY,
      isLastResort: true,
    }
    const { plan } = new Prompt(this.messages, options).check()
    const places = this.#places
    const steps = plan
      .map((step) => ({
        ...step,
        index: places[step.index] as number,
        maxChars: Math.max(step.maxChars, Math.min(step.chars, LEAST)),
      }))
      .filter(({ chars, maxChars, media }) => maxChars < chars || media !== undefined)
    if (steps.length === 0) return
    const cuts = await this.#cuts.add(steps, spill)
    this.state = { ...this.state, cuts }
    this.cleared += steps.length
    this.#measure()
  }

  /** Indexes of the messages that are sent, in the history. */
  get #places(): number[] {
    return [...this.#history.given.keys()].filter((at) => !this.#rounds.gone.has(at))
  }

  #measure(): void {
    const { gone } = this.#rounds
    const { messages, tokens } = this.#history.written()
    const all = this.#cuts.apply(messages)
    const isCut = (message: unknown, at: number) => message !== messages[at] && !gone.has(at)
    const ofCut = tokensIn(all.filter(isCut)).values()
    const tokensAt = (message: unknown, at: number) => (isCut(message, at) ? ofCut.next().value : tokens[at])
    this.#tokens = all.map((message, at) => (gone.has(at) ? 0 : (tokensAt(message, at) as number)))
    this.messages = gone.size === 0 ? all : all.filter((_, at) => !gone.has(at))
    this.total = this.#base + this.#tokens.reduce((sum, one) => sum + one, 0)
    this.bytes =
      this.state.maxBytes === undefined
        ? 0
        : new Prompt(this.messages, { ...this.#settings.budget, ...this.#words }).bytes
  }
}

function inPairs(messages: readonly unknown[]): readonly unknown[] {
  const dialect = rulesOfCalls(messages)?.name
  return dialect ? repairToolPairs(messages, { dialect }).messages : messages
}

/** Returns a system prompt as text: some clients take blocks. */
function textOf(system: unknown): string {
  if (system === undefined || system === null) return ''
  return typeof system === 'string' ? system : (jsonOf(system) ?? '')
}

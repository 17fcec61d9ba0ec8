import { createHash } from 'node:crypto'
import type { ToolResultPromptProjectionState } from 'spillway/openclaw'
import { Draft } from '../../dialect/edit.js'
import { readResults } from '../../dialect/results.js'
import { copy } from '../../dialect/shallow_copy.js'
import { checkMessages } from '../../result/clamp_messages.js'
import { elementsOf, get, isObject, tryRead } from '../../untrusted.js'
import { optionError } from '../../validate.js'
import { throughTexts } from './codex_blocks.js'
import { isToolResult, textsOf } from './tool_results.js'

export function createToolResultPromptProjectionState(): ToolResultPromptProjectionState {
  return { replacements: new Map(), frozen: new Set() }
}

export function isProjectionState(value: unknown): value is ToolResultPromptProjectionState {
  const { replacements, frozen } = (value ?? {}) as Partial<ToolResultPromptProjectionState>
  return replacements instanceof Map && frozen instanceof Set
}

/** A result that was trimmed or cleared as its cache had expired: one text instead of its
 *  content. */
export interface PruneRecord {
  readonly cacheTtl: 'soft' | 'hard'
  readonly text: string
}

/** Key of the original name of a pruned result. */
const NAME = Symbol('tool result')

/** Drops what is known of results that a history no longer has, or has with other texts. */
export function reconcileToolResultPromptProjectionState(
  messages: readonly unknown[],
  projectionState: ToolResultPromptProjectionState,
): void {
  checkMessages(messages)
  if (!isProjectionState(projectionState))
    throw optionError(
      TypeError,
      'projectionState',
      'a state of createToolResultPromptProjectionState',
      projectionState,
    )
  const names = new Set(elementsOf(messages).map(nameOf))
  for (const known of [projectionState.frozen, projectionState.replacements])
    for (const name of known.keys()) if (!names.has(name)) known.delete(name)
}

/** The tool results of a history as they were sent before. */
export class Projection {
  /** Names of the results: their call, time and text. Another text under the same call is another
   *  result. */
  readonly #keys: readonly (string | undefined)[]
  readonly #state: ToolResultPromptProjectionState
  /** The messages with the texts that were sent. */
  readonly messages: readonly unknown[]

  constructor(messages: readonly unknown[], state: ToolResultPromptProjectionState) {
    this.#state = state
    this.#keys = messages.map(nameOf)
    this.messages = messages.map((message, at) => {
      const key = this.#keys[at] ?? ''
      const sent: unknown = state.replacements.get(key)
      if (sent === undefined) return message
      return isPruned(sent)
        ? pruned(message as object, sent, key)
        : withTexts(message as object, sent as string[])
    })
  }

  keyOf(at: number): string | undefined {
    return this.#keys[at]
  }

  /** Tells how the result at an index was pruned, if it was. */
  prunedAs(at: number): PruneRecord['cacheTtl'] | undefined {
    const sent: unknown = this.#state.replacements.get(this.#keys[at] ?? '')
    return isPruned(sent) ? sent.cacheTtl : undefined
  }

  prune(at: number, form: PruneRecord): void {
    const key = this.#keys[at]
    if (key === undefined) return
    this.#state.frozen.add(key)
    this.#state.replacements.set(key, form)
  }

  /** Returns true if the result at an index was sent before. */
  has(at: number): boolean {
    return this.#state.frozen.has(this.#keys[at] ?? '')
  }

  /** Keeps what is sent now. */
  record(cut: ReadonlyMap<number, unknown>): void {
    for (const [at, key] of this.#keys.entries()) {
      if (key === undefined) continue
      this.#state.frozen.add(key)
      const texts = cut.has(at) ? textsOf(cut.get(at) as object) : undefined
      const cacheTtl = this.prunedAs(at)
      if (texts) this.#state.replacements.set(key, cacheTtl ? { cacheTtl, text: texts.join('\n') } : texts)
    }
  }
}

function isPruned(sent: unknown): sent is PruneRecord {
  return isObject(sent) && typeof get(sent, 'cacheTtl') === 'string'
}

/** Returns a result with one text, under the name of the original. The same if it is that
 *  already. */
export function pruned(message: object, { text }: PruneRecord, name: string | undefined): object {
  if (get(message, NAME) === name && textsOf(message).join('\n') === text) return message
  const made = copy(message, new Map([['content', [{ type: 'text', text }]]]))
  return Object.assign(made, { [NAME]: name })
}

function nameOf(message: unknown): string | undefined {
  if (!isToolResult(message)) return undefined
  const name = get(message, NAME)
  return typeof name === 'string' ? name : keyOf(message)
}

function keyOf(message: object): string {
  const texts = createHash('sha256').update(JSON.stringify(textsOf(message)))
  return `${String(get(message, 'toolCallId'))}:${String(get(message, 'timestamp'))}:${texts.digest('base64url')}`
}

/** Returns a tool result with other texts. Blocks beyond these texts are dropped. */
export function withTexts(message: object, texts: readonly string[]): object {
  const rest = [...texts]
  const replaced = (result: object) => {
    const draft = new Draft()
    for (const read of readResults(result, 'pi'))
      draft.edit(read, new Map(read.slots.map((slot) => [slot, rest.shift() ?? null])))
    return draft.done(result)
  }
  return tryRead(() => throughTexts(message, replaced)) ?? message
}

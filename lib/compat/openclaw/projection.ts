import { createHash } from 'node:crypto'
import type { ToolResultPromptProjectionState } from 'spillway/openclaw'
import { Draft } from '../../dialect/edit.js'
import { readResults } from '../../dialect/results.js'
import { get, tryRead } from '../../untrusted.js'
import { throughTexts } from './codex_blocks.js'
import { isToolResult, textsOf } from './tool_results.js'

export function createToolResultPromptProjectionState(): ToolResultPromptProjectionState {
  return { replacements: new Map(), frozen: new Set() }
}

export function isProjectionState(value: unknown): value is ToolResultPromptProjectionState {
  const { replacements, frozen } = (value ?? {}) as Partial<ToolResultPromptProjectionState>
  return replacements instanceof Map && frozen instanceof Set
}

/** The tool results of a history as they were sent before. */
export class Projection {
  /** Names of the results: their call, time and text. Another text under the same call is another result. */
  readonly #keys: readonly (string | undefined)[]
  readonly #state: ToolResultPromptProjectionState
  /** The messages with the texts that were sent. */
  readonly messages: readonly unknown[]

  constructor(messages: readonly unknown[], state: ToolResultPromptProjectionState) {
    this.#state = state
    this.#keys = messages.map((message) => (isToolResult(message) ? keyOf(message) : undefined))
    this.messages = messages.map((message, at) => {
      const sent = state.replacements.get(this.#keys[at] ?? '')
      return sent === undefined ? message : withTexts(message as object, sent)
    })
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
      if (cut.has(at)) this.#state.replacements.set(key, textsOf(cut.get(at) as object))
    }
  }
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

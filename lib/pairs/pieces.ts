import { copy } from '../dialect/shallow_copy.js'
import type { native } from '../engine.js'
import { get, isList, isObject } from '../untrusted.js'
import { Instances } from './instances.js'
import type { HistoryCall, Records } from './records.js'
import { filled } from './rules.js'

type Piece = NonNullable<ReturnType<typeof native.pairChanges>['pieces']>[number]

/** Kinds of blocks, as in bindings/src/pairs.rs: a block of a message, a message, the text of a
 *  message, and the missing result of a call. The words of a result are left. */
const [OWN, MESSAGE, TEXT, NEW] = [0, 1, 2, 3]

/** Writes the messages of a new history that the engine has laid out. */
export class Pieces {
  readonly #instances: Instances

  constructor(
    private readonly records: Records,
    /** The messages with their final ids. */
    private readonly messages: readonly unknown[],
    private readonly idOf: (call: HistoryCall) => string | undefined,
    private readonly missing: string,
  ) {
    this.#instances = new Instances(messages)
  }

  written(pieces: readonly Piece[]): unknown[] {
    const all: unknown[] = []
    for (const { kind, at, to, blocks } of pieces) {
      if (kind === 'kept') for (let next = at; next < to; next++) all.push(this.messages[next])
      else if (kind === 'listed') all.push(this.#withList(this.messages[at], this.#blocks(blocks)))
      else if (kind === 'home') all.push(filled(this.records.rules.pairs.home, () => this.#blocks(blocks)))
      else if (kind === 'new') all.push(this.#resultOf(at))
      else all.push(this.#wordsOf(at))
    }
    return all
  }

  #blocks(numbers: Int32Array): unknown[] {
    const blocks: unknown[] = []
    for (let next = 0; next < numbers.length; next += 3) {
      const [kind, at = 0, index = 0] = numbers.subarray(next, next + 3)
      if (kind === OWN) blocks.push((this.#listOf(at) as readonly unknown[])[index])
      else if (kind === MESSAGE) blocks.push(this.messages[at])
      else if (kind === TEXT) blocks.push(filled(this.records.rules.pairs.words?.[0], () => this.#listOf(at)))
      else blocks.push(kind === NEW ? this.#resultOf(at) : this.#wordsOf(at))
    }
    return blocks
  }

  /** Returns the result of a call that says that it is missing. */
  #resultOf(nth: number): unknown {
    const call = this.records.calls[nth] as HistoryCall
    return this.#filled(call.kind.result, call.at, {
      id: this.idOf(call),
      tool: call.tool,
      text: this.missing,
    })
  }

  /** Returns the user's text that replaces a result without a call. */
  #wordsOf(nth: number): unknown {
    const { at, place, row, tool } = this.records.answers[nth] as Records['answers'][number]
    const { words = [] } = this.records.rules.pairs
    const template =
      words.find((template) => typeof place.key === 'string' && place.key in template) ?? words[0]
    const name = tool?.trim() ? tool : 'a tool'
    const text = row
      .read(place)
      .slots.map((slot) => slot.text)
      .join('\n')
    return this.#filled(template, at, {
      text: `[Result of ${name}, whose call is no longer in the history]\n${text}`,
    })
  }

  /** Fills a template from the given values and members of a message. */
  #filled(template: unknown, at: number, given: Readonly<Record<string, unknown>>): unknown {
    const { roots, rules } = this.records
    const of = (name: string) => (Object.hasOwn(given, name) ? given[name] : roots[at]?.read(name))
    const made = filled(template, of)
    // The member that repeats the fields of an instance.
    return rules.copy && isObject(made) ? this.#instances.of(made, at) : made
  }

  /** Returns the list of a message, or the text in its place. */
  #listOf(at: number): unknown {
    const message = this.messages[at]
    const content = isObject(message) ? get(message, this.records.rules.list) : undefined
    return isList(content) || typeof content === 'string' ? content : []
  }

  #withList(message: unknown, list: readonly unknown[]): unknown {
    return copy(message as object, new Map([[this.records.rules.list, list]]))
  }
}

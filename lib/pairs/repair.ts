// Gives every tool call of a history its result, where its provider expects it.
//
// Providers reject a history whose calls and results do not pair: a call without a result, a result
// without a call, two results of one call, or a result in the wrong place. Such histories are
// common: a run was aborted, a compaction removed half of a pair, a session was resumed on another
// provider. Every later request then fails, so the session is lost.
//
//   read    `Pairing` finds the call of each result: by id, then by tool name, then by place. Ids come first, so that a
//           result with an id never loses its call to a result without one.
//   decide  A second result of a call is dropped, unless the first is a placeholder (`stand_in.ts`). A call without a result
//           gets one that says so. A result without a call is dropped, or becomes words of the user (`orphans`).
//   lay out `Layout` puts each result where `src/dialects.json` says that the provider expects it, and renames ids that the
//           provider rejects (`ids.ts`).
//
// Three decisions keep a history stable while it grows, since a change of its prefix costs the
// prompt cache. A sound history is returned as it is (`sound.ts` checks that in one pass without an
// allocation). A repair of a longer history repairs its beginning in the same way: names depend on
// earlier calls only, and nothing is decided by what follows, except that the last turn may still
// wait for its results. And a repair never drops a real result that has a call.
import type { DialectName, PairsOptions } from 'spillway'
import { Draft } from '../dialect/edit.js'
import { endsAt, type PathNode, type Paths } from '../dialect/paths.js'
import { copy, GONE } from '../dialect/shallow_copy.js'
import { dialectNames } from '../dialects.js'
import { checkMessages } from '../result/clamp_messages.js'
import { tryRead } from '../untrusted.js'
import { checkNames, choice, optionError } from '../validate.js'
import { renameCalls } from './ids.js'
import { Layout, type Wishes } from './layout.js'
import { Pairing } from './pairing.js'
import { type Answer, blockOf, HistoryCall } from './parts.js'
import { filled } from './rules.js'

const MISSING = '[No result: the call was interrupted, or its result was removed]'

export function repairToolPairs<T extends readonly unknown[]>(
  list: T,
  options: PairsOptions = {},
): { messages: T; repaired: number } {
  const { dialect } = checkNames('pairs', 'options', options)
  if (dialect !== undefined) choice('dialect', dialect, dialectNames(), 'text')
  const orphans = choice('orphans', options.orphans, ['drop', 'text'], 'drop')
  const missing = visible('missing', options.missing, MISSING)
  const messages = checkMessages(list)
  // Reading and copying run a caller's code (getters, traps), which may throw.
  const made = tryRead(() => repaired(messages, { orphans, missing, dialect }))
  return made && made.repaired > 0 ? (made as { messages: T; repaired: number }) : { messages, repaired: 0 }
}

function repaired(
  messages: readonly unknown[],
  wishes: Wishes & { readonly dialect: DialectName | undefined },
): { messages: readonly unknown[]; repaired: number } | undefined {
  const pairing = Pairing.of(messages, wishes.missing, wishes.dialect)
  if (!pairing) return undefined
  const drafts = new Drafts(pairing)
  if (pairing.rules.areOne) {
    const open = pairing.calls.filter(({ kind, place }) => kind.isOpen(place))
    // A host stores a call when it is made, and once more with its result.
    const last = new Map(pairing.calls.map((call) => [call.id, call]))
    const isAgain = (call: HistoryCall) => call.id !== undefined && last.get(call.id) !== call
    for (const call of open) {
      if (isAgain(call)) drafts.remove(call)
      else drafts.close(call, wishes.missing)
    }
    return { messages: drafts.applied(messages), repaired: open.length }
  }
  const ids = new Map<HistoryCall | Answer, string>()
  const renamed = renameCalls(pairing, (one, id) => {
    ids.set(one, id)
    drafts.rename(one, id)
  })
  const nameless = pairing.nameless()
  for (const { answer, tool } of nameless) drafts.nameTool(answer, tool)
  const named = drafts.applied(messages)
  const layout = new Layout(pairing, named, (call) => ids.get(call) ?? call.id, wishes)
  const made = layout.isSound ? named : layout.made()
  return { messages: made, repaired: renamed + nameless.length + layout.count }
}

/** Checks that a text is not blank, since providers reject blank results. */
function visible(field: string, value: unknown, preset: string): string {
  if (value === undefined) return preset
  if (typeof value === 'string' && value.trim() !== '') return value
  throw optionError(typeof value === 'string' ? RangeError : TypeError, field, 'a text with words', value)
}

/** Changes within messages, by their index. */
class Drafts {
  private readonly all = new Map<number, Draft>()
  /** The keys of removed blocks, by their list. */
  private readonly gone = new Map<PathNode, Set<string | number>>()
  /** Messages without a block. */
  private readonly empty = new Set<number>()

  constructor(private readonly pairing: Pairing) {}

  rename(one: HistoryCall | Answer, id: string): void {
    if (one instanceof HistoryCall) this.set(one, one.kind.id, one.kind.data.id, id)
    else {
      // Two dialects share results. A result that lacks its id gets it under the name that its call
      // has.
      const { id: names = [] } = one.row.data
      const name = names.find((name) => name === one.call?.kind.data.id) ?? names[0] ?? 'id'
      this.set(one, one.row.names.id, name, id)
    }
  }

  nameTool(answer: Answer, tool: string): void {
    this.set(answer, answer.row.names.tool, answer.row.data.tool?.[0] ?? 'name', tool)
  }

  /** Writes at the end of a path, or under a name if the path leads nowhere. */
  private set(one: HistoryCall | Answer, paths: Paths, name: string, value: string): void {
    const [end] = endsAt(paths, one.place)
    this.at(one).set(end?.holder ?? one.place, end?.key ?? name, value)
  }

  /** Writes the placeholder into a call that contains its result. */
  close(call: HistoryCall, text: string): void {
    const members = filled(call.kind.result, () => text) as object
    for (const [name, value] of Object.entries(members)) this.at(call).set(call.place, name, value)
  }

  /** Removes a call that is a block, and its message if that has no other. */
  remove(call: HistoryCall): void {
    const { parent, key } = blockOf(call.place)
    if (!parent) return
    const gone = this.gone.get(parent) ?? new Set()
    this.gone.set(parent, gone.add(key))
    this.at(call).remove(parent, key)
    if (gone.size === (parent.value as unknown[]).length) this.empty.add(call.at)
  }

  applied(messages: readonly unknown[]): readonly unknown[] {
    const changes = new Map<number, unknown>()
    for (const [at, draft] of this.all) changes.set(at, draft.done(messages[at] as object))
    for (const at of this.empty) changes.set(at, GONE)
    return changes.size === 0 ? messages : (copy(messages, changes) as unknown[])
  }

  private at({ at, place }: HistoryCall | Answer): Draft {
    const { roots, rules } = this.pairing
    for (const one of [place, roots[at]]) if (one && rules.copy) one.twin = rules.copy
    const draft = this.all.get(at) ?? new Draft()
    this.all.set(at, draft)
    return draft
  }
}

// Gives every tool call of a history its result, where its provider expects it.
//
// Providers reject a history whose calls and results do not pair: a call without a result, a result
// without a call, two results of one call, or a result in the wrong place. Such histories are
// common: a run was aborted, a compaction removed half of a pair, a session was resumed on another
// provider. Every later request then fails, so the session is lost.
//
//   read    `Records` reads the calls and the results of the messages.
//   decide  The engine pairs them (src/pairs): it finds the call of each result, drops second results, makes those that are
//           missing, and puts each where `src/dialects.json` says that the provider expects it.
//   write   `Drafts` writes new ids and names into copies of the messages, `Pieces` the messages of the new history.
//
// Three decisions keep a history stable while it grows, since a change of its prefix costs the
// prompt cache. A sound history is returned as it is (`sound.ts` checks that in one pass without an
// allocation). A repair of a longer history repairs its beginning in the same way: names depend on
// earlier calls only, and nothing is decided by what follows, except that the last turn may still
// wait for its results. And a repair never drops a real result that has a call.
import type { repairToolPairs as Declared, DialectName } from 'spillway'
import { Draft } from '../dialect/edit.js'
import { endsAt, type PathNode, type Paths } from '../dialect/paths.js'
import { copy, GONE } from '../dialect/shallow_copy.js'
import { native } from '../engine.js'
import { giveDialects } from '../engine_dialects.js'
import { optionsOf } from '../read_options.js'
import { checkMessages } from '../result/clamp_messages.js'
import { tryRead } from '../untrusted.js'
import { Pieces } from './pieces.js'
import { type Answer, blockOf, type HistoryCall, Records, rootsOf } from './records.js'
import { allRules, filled, rulesOfCalls, rulesOfResults } from './rules.js'
import { isWellPaired } from './well_paired.js'

export function repairToolPairs<T extends readonly unknown[]>(
  list: T,
  options: Parameters<typeof Declared>[1] = {},
): { messages: T; repaired: number } {
  const wishes = optionsOf('pairs', 'options', options)
  const messages = checkMessages(list)
  // Reading and copying run a caller's code (getters, traps), which may throw.
  const made = tryRead(() => repaired(messages, wishes))
  return made && made.repaired > 0 ? (made as { messages: T; repaired: number }) : { messages, repaired: 0 }
}

interface Wishes {
  readonly orphans: 'drop' | 'text'
  readonly missing: string
  readonly dialect: DialectName | undefined
}

function repaired(
  messages: readonly unknown[],
  { orphans, missing, dialect }: Wishes,
): { messages: readonly unknown[]; repaired: number } | undefined {
  const known = dialect ? allRules().find(({ name }) => name === dialect) : rulesOfCalls(messages)
  if (known ? isWellPaired(messages, known) : dialect) return undefined
  const roots = rootsOf(messages)
  const rules = known ?? rulesOfResults(roots)
  if (!rules) return undefined
  const records = new Records(roots, rules, missing)
  giveDialects()
  const changes = native.pairChanges(rules.name, records.fields(), missing, orphans === 'text')
  const drafts = new Drafts(records)
  for (const nth of changes.closed) drafts.close(records.calls[nth] as HistoryCall, missing)
  for (const nth of changes.again) drafts.remove(records.calls[nth] as HistoryCall)
  const ids = new Map<HistoryCall, string>()
  for (const { nth, text } of changes.callIds) {
    const call = records.calls[nth] as HistoryCall
    ids.set(call, text)
    drafts.rename(call, text)
  }
  for (const { nth, text, call = -1 } of changes.answerIds)
    drafts.renameAnswer(records.answers[nth] as Answer, text, records.calls[call])
  for (const { nth, text } of changes.tools) drafts.nameTool(records.answers[nth] as Answer, text)
  const named = drafts.applied(messages)
  const pieces = new Pieces(records, named, (call) => ids.get(call) ?? call.id, missing)
  return {
    messages: changes.pieces ? pieces.written(changes.pieces) : named,
    repaired: changes.count,
  }
}

/** Changes within messages, by their index. */
class Drafts {
  private readonly all = new Map<number, Draft>()
  /** The keys of removed blocks, by their list. */
  private readonly gone = new Map<PathNode, Set<string | number>>()
  /** Messages without a block. */
  private readonly empty = new Set<number>()

  constructor(private readonly records: Records) {}

  rename(call: HistoryCall, id: string): void {
    this.set(call, call.kind.id, call.kind.data.id, id)
  }

  renameAnswer(answer: Answer, id: string, call: HistoryCall | undefined): void {
    // Two dialects share results. A result that lacks its id gets it under the name that its call
    // has.
    const { id: names = [] } = answer.row.data
    const name = names.find((name) => name === call?.kind.data.id) ?? names[0] ?? 'id'
    this.set(answer, answer.row.names.id, name, id)
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
    const { roots, rules } = this.records
    for (const one of [place, roots[at]]) if (one && rules.copy) one.twin = rules.copy
    const draft = this.all.get(at) ?? new Draft()
    this.all.set(at, draft)
    return draft
  }
}

import type { RewritableSessionManager } from 'spillway/openclaw'
import { get } from '../../untrusted.js'
import { getRawSessionAppendMessage } from './session_guard.js'

export type Entry = ReturnType<RewritableSessionManager['getBranch']>[number]
type Append = (entry: Entry, manager: RewritableSessionManager, idOf: (id: unknown) => unknown) => unknown

/** How each kind of entry is appended again. */
const APPENDS: Readonly<Record<string, Append>> = {
  message: (entry, manager) =>
    getRawSessionAppendMessage(manager)(
      entry.message as never,
      { idempotencyLookup: 'caller-checked' } as never,
    ),
  compaction: (entry, manager, idOf) =>
    call(
      manager,
      'appendCompaction',
      entry['summary'],
      idOf(entry['firstKeptEntryId']),
      entry['tokensBefore'],
      entry['details'],
      entry['fromHook'],
      entry['__openclaw'],
      entry['tokensAfter'],
    ),
  reset: (entry, manager, idOf) =>
    call(manager, 'appendResetBoundary', entry['reason'], idOf(entry['firstKeptEntryId'])),
  thinking_level_change: (entry, manager) =>
    call(manager, 'appendThinkingLevelChange', entry['thinkingLevel']),
  model_change: (entry, manager) => call(manager, 'appendModelChange', entry['provider'], entry['modelId']),
  custom: (entry, manager) => call(manager, 'appendCustomEntry', entry['customType'], entry['data']),
  custom_message: (entry, manager) =>
    call(
      manager,
      'appendCustomMessageEntry',
      entry['customType'],
      entry['content'],
      entry['display'],
      entry['details'],
    ),
  session_info: (entry, manager) => call(manager, 'appendSessionInfo', entry['name'] ?? ''),
  branch_summary: (entry, manager, idOf) =>
    call(
      manager,
      'branchWithSummary',
      idOf(entry.parentId) ?? null,
      entry['summary'],
      entry['details'],
      entry['fromHook'],
    ),
  label: (entry, manager, idOf) =>
    call(manager, 'appendLabelChange', idOf(entry['targetId']), entry['label']),
}

function call(manager: object, method: string, ...args: unknown[]): unknown {
  const append = get(manager, method)
  if (typeof append !== 'function') throw new Error(`the session manager has no ${method}`)
  return Reflect.apply(append, manager, args)
}

/**
 * Rewrites messages of a session's active branch: branches off before the first, and appends it and
 * what follows again, behind the guard. `replacements`: messages by entry id.
 */
export async function rewriteBranch(
  sessionManager: RewritableSessionManager,
  replacements: ReadonlyMap<unknown, unknown>,
): Promise<void> {
  const prepared = sessionManager.prepareTranscriptRewrite?.()
  const manager = prepared?.sessionManager ?? sessionManager
  const branch = [...manager.getBranch()]
  const first = branch.findIndex(({ id }) => replacements.has(id))
  const rest = branch.slice(first)
  const unknown = rest.find(({ type }) => !Object.hasOwn(APPENDS, type))
  if (first < 0 || unknown)
    throw new Error(
      unknown ? `entries of type ${unknown.type} cannot be appended again` : 'the session changed',
    )
  const { parentId } = branch[first] as Entry
  if (parentId) manager.branch(parentId)
  else manager.resetLeaf()
  const made = new Map<string, unknown>()
  const idOf = (id: unknown) => made.get(id as string) ?? id
  for (const entry of rest) {
    const message = replacements.get(entry.id) ?? entry.message
    made.set(entry.id, await APPENDS[entry.type]?.({ ...entry, message }, manager, idOf))
  }
  prepared?.commit(made as never)
}

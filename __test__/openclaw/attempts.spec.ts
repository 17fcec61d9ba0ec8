import { installSessionToolResultGuard, type SessionToolResultGuardOptions } from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'

// A turn that is tried with several models sends its messages again with each.
const user = (content: string) => ({ role: 'user', content })
const answer = { role: 'assistant', content: [{ type: 'text', text: 'fine' }], stopReason: 'stop' }
const failure = { role: 'assistant', content: [{ type: 'text', text: 'overloaded' }], stopReason: 'error' }
const calling = {
  role: 'assistant',
  content: [{ type: 'toolCall', id: 'c1', name: 'bash', arguments: {} }],
}

function guarded(options: SessionToolResultGuardOptions, kept: unknown[] = []) {
  const manager = { appendMessage: (message: unknown) => kept.push(message) }
  return { manager, kept, guard: installSessionToolResultGuard(manager, options) }
}

describe('messages that an earlier attempt stored', () => {
  it('leaves out the next message of the user, once', () => {
    const { manager, kept } = guarded({ suppressNextUserMessagePersistence: true })
    for (const message of [answer, user('again'), user('new')]) manager.appendMessage(message)
    expect(kept).toEqual([answer, user('new')])
  })

  it('tells of the message that it leaves out, as the hooks left it', () => {
    const told: unknown[] = []
    const merged = user('merged')
    const { manager, kept } = guarded({
      suppressNextUserMessagePersistence: true,
      transformMessageForPersistence: () => merged,
      onUserMessagePersistenceSuppressed: (message) => told.push(message),
    })
    manager.appendMessage(user('again'))
    expect(kept).toEqual([])
    expect(told[0]).toBe(merged)
  })

  it('stores it after all if the suppression is cleared', () => {
    const { manager, kept, guard } = guarded({ suppressNextUserMessagePersistence: true })
    guard.clearNextUserMessagePersistenceSuppression()
    manager.appendMessage(user('instead'))
    expect(kept).toEqual([user('instead')])
  })

  it('leaves out failures, or what only a person reads', () => {
    const all = [user('go'), failure, answer, calling]
    const left = (options: SessionToolResultGuardOptions) => {
      const { manager, kept } = guarded({ allowSyntheticToolResults: false, ...options })
      for (const message of all) manager.appendMessage(message)
      return kept
    }
    expect(left({})).toEqual(all)
    expect(left({ suppressAssistantErrorPersistence: true })).toEqual([user('go'), answer, calling])
    expect(left({ suppressTranscriptOnlyAssistantPersistence: true })).toEqual([user('go'), calling])
  })

  it('stores one turn of several attempts', () => {
    const stored: { role: string }[] = []
    const { manager, kept } = guarded({})
    for (let attempt = 0; attempt < 3; attempt++) {
      installSessionToolResultGuard(manager, {
        suppressNextUserMessagePersistence: stored.some(({ role }) => role === 'user'),
        suppressAssistantErrorPersistence: stored.some(({ role }) => role === 'assistant'),
        onUserMessagePersisted: (message) => stored.push(message),
        onAssistantErrorMessagePersisted: (message) => stored.push(message),
      })
      for (const message of [user('go'), failure]) manager.appendMessage(message)
    }
    expect(kept).toEqual([user('go'), failure])
    expect(stored).toEqual(kept)
  })

  it('tells of a message of the user that a hook blocked, and of no other', () => {
    const blocked: unknown[] = []
    const persisted: unknown[] = []
    const { manager, kept } = guarded({
      beforeMessageWriteHook: ({ message }) => ({ block: message !== answer }),
      onUserMessageBlocked: (message) => blocked.push(message),
      onUserMessagePersisted: (message) => persisted.push(message),
      onAssistantErrorMessagePersisted: (message) => persisted.push(message),
    })
    for (const message of [user('hidden'), failure, answer]) manager.appendMessage(message)
    expect([kept, blocked, persisted]).toEqual([[answer], [user('hidden')], []])
  })

  it('tells of a stored message of the user what the append returned', () => {
    const told: unknown[] = []
    const manager = { appendMessage: (_: unknown) => 'e1' }
    installSessionToolResultGuard(manager, { onUserMessagePersisted: (_, stored) => told.push(stored) })
    const message = user('go')
    manager.appendMessage(message)
    expect(told).toEqual([{ appended: true, entryId: 'e1', persistedMessage: message }])
  })

  it('names the run in what a model or a tool said, and in nothing else', () => {
    const { manager, kept, guard } = guarded({ runId: 'r1' })
    const about = () => (kept.pop() as { __openclaw?: unknown }).__openclaw
    manager.appendMessage({ ...answer, __openclaw: { seq: 1 } })
    expect(about()).toEqual({ seq: 1, runId: 'r1' })
    guard.setTranscriptRunId('r2')
    manager.appendMessage({ role: 'toolResult', toolCallId: 'c9', content: [] })
    expect(about()).toEqual({ runId: 'r2' })
    manager.appendMessage(user('go'))
    expect(about()).toBeUndefined()
    guard.setTranscriptRunId(undefined)
    manager.appendMessage(answer)
    expect(about()).toBeUndefined()
  })

  it('stores of a failed turn what the record of failed turns says', () => {
    const kept: unknown[] = []
    const manager = {
      appendMessage: (message: unknown) => kept.push(message),
      getSessionTarget: () => 'target',
    }
    const asked: unknown[] = []
    const short = { ...failure, content: [] }
    const record = (message: unknown, target: unknown) => {
      asked.push(message, target)
      return asked.length === 2 ? short : undefined
    }
    installSessionToolResultGuard(manager, { assistantErrorTranscript: { record } })
    for (const message of [failure, answer, failure]) manager.appendMessage(message)
    expect(kept).toEqual([short, answer])
    expect(asked).toEqual([failure, 'target', failure, 'target'])
  })

  it('stores whatever a callback throws or rejects', () => {
    const { manager, kept } = guarded({
      onUserMessagePersisted: () => Promise.reject(new Error('later')),
      onAssistantErrorMessagePersisted: () => {
        throw new Error('at once')
      },
    })
    for (const message of [user('go'), failure]) manager.appendMessage(message)
    expect(kept).toEqual([user('go'), failure])
  })
})

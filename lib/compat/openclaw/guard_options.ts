import type { SessionToolResultGuardOptions } from 'spillway/openclaw'
import { callback, flag, text } from '../../kinds.js'
import { compile } from '../../policy.js'
import { optionError } from '../../validate.js'
import { substitute } from '../../warning.js'
import { MISSING_TOOL_RESULT_TEXT } from './constants.js'
import { profileOf } from './profile.js'
import { withStoredDetails } from './stored_details.js'
import { Suppression } from './suppression.js'
import { policyFor, resultCutter } from './tool_results.js'

export type GuardRules = ReturnType<typeof checkedOptions>

/** Checks the options of a guard. */
export function checkedOptions(opts: SessionToolResultGuardOptions) {
  const { profile } = opts
  const options = profile === undefined ? {} : { profile }
  const { cap, flushesBetweenCalls, missingMembers, namesCalls, redacts, shapesDetails } = profileOf(options)
  const maxChars = charsOf(opts.maxToolResultChars ?? cap(0), cap(0))
  const cut = resultCutter(maxChars, options)
  return {
    policy: compile(
      policyFor(Number.POSITIVE_INFINITY, maxChars, options, {
        sideData: 'cap',
        redact: flag('redact', opts.redact, redacts),
      }),
    ),
    transformMessage: callback('transformMessageForPersistence', opts.transformMessageForPersistence),
    transformResult: callback('transformToolResultForPersistence', opts.transformToolResultForPersistence),
    beforeWrite: callback('beforeMessageWriteHook', opts.beforeMessageWriteHook),
    synthesizes: flag('allowSyntheticToolResults', opts.allowSyntheticToolResults, true),
    missing: text('missingToolResultText', opts.missingToolResultText, MISSING_TOOL_RESULT_TEXT),
    allowed: checkNames(opts.allowedToolNames),
    prepare: (message: object) => cut(shapesDetails ? withStoredDetails(message) : message),
    flushesBetweenCalls,
    missingMembers,
    namesCalls,
    suppression: new Suppression(opts),
    onPersisted: callback('onMessagePersisted', opts.onMessagePersisted),
    onUser: callback('onUserMessagePersisted', opts.onUserMessagePersisted),
    onFailed: callback('onAssistantErrorMessagePersisted', opts.onAssistantErrorMessagePersisted),
    onBlocked: callback('onUserMessageBlocked', opts.onUserMessageBlocked),
    onSuppressed: callback('onUserMessagePersistenceSuppressed', opts.onUserMessagePersistenceSuppressed),
    runId: opts.runId,
    errors: opts.assistantErrorTranscript,
    sessionKey: opts.sessionKey,
  }
}

/** Returns a limit as OpenClaw takes it: a session has to start whatever its configuration says. */
function charsOf(given: unknown, preset: number): number {
  const isNumber = typeof given === 'number' && given >= 0
  return isNumber ? Math.floor(given) : substitute('maxToolResultChars', given, preset)
}

function checkNames(names: Iterable<string> | undefined): ReadonlySet<string> | undefined {
  if (names === undefined) return undefined
  const wrong = () => optionError(TypeError, 'allowedToolNames', 'an iterable of strings', names)
  if (typeof names === 'string' || typeof names?.[Symbol.iterator] !== 'function') throw wrong()
  return new Set(
    Array.from(names, (name: unknown) => {
      if (typeof name !== 'string') throw wrong()
      return name.trim().toLowerCase()
    }),
  )
}

/** Kinds of members by their names, a bit each. */
export const SILENT = 1
export const ARGUMENTS = 2
export const PAYLOAD = 4
export const MADE = 8
export const MEDIUM = 16

const NAMES = new Map<string, number>()
for (const [flag, ...names] of [
  // Not sent to a model, or only a token or two.
  [
    SILENT,
    'id type role status state phase index format is_error isError errorMessage',
    'toolCallId tool_call_id tool_use_id toolUseId call_id callId responseId item_id approvalId server_label',
    'signature textSignature thinkingSignature thoughtSignature encrypted_content redacted',
    'timestamp createdAt created_at usage usage_metadata usageMetadata cost api provider model modelId',
    'stopReason stop_reason finishReason finish_reason response_metadata additional_kwargs metadata logprobs',
    'providerMetadata providerOptions providerData callProviderMetadata cache_control cachePoint annotations',
    'details artifact structuredContent resultDisplay detailedContent _meta lc_kwargs lc_namespace lc invalid_tool_calls experimental_providerMetadata',
  ],
  // Of a tool call.
  [ARGUMENTS, 'arguments args input'],
  // The bytes of an image, a sound or a file, or a reference to them.
  [PAYLOAD, 'data blob bytes base64 image image_url audio file file_data file_id fileUri uri url'],
  // An image that a model generated.
  [MADE, 'result output'],
  // Around payloads.
  [MEDIUM, 'image images image_url inlineData fileData audio input_audio video'],
] as const)
  for (const name of names.join(' ').split(' ')) NAMES.set(name, (NAMES.get(name) ?? 0) | flag)

/** Returns the kinds of a member by its name, as bits. */
export function kindsOf(name: string): number {
  return NAMES.get(name) ?? 0
}

/** Returns true for members that are not sent to a model, unless they are words. */
export function isSilent(name: string): boolean {
  return (kindsOf(name) & SILENT) !== 0
}

const LONG_PAYLOAD = /^[\w+/-]{200}/

/** Returns true for base64 and data URLs. */
export function isEncoded(value: unknown): value is string {
  return typeof value === 'string' && (value.startsWith('data:') || LONG_PAYLOAD.test(value))
}

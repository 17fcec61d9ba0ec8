import {
  isContextOverflowError,
  isPayloadTooLargeError,
  PREEMPTIVE_OVERFLOW_ERROR_TEXT,
} from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'

/** Answers of OpenClaw 4.10 to each: isContextOverflowError ('E'), only
 *  isLikelyContextOverflowError ('L'), neither ('-'). */
type There = 'E' | 'L' | '-'

const overflows: [string, There][] = [
  ['prompt is too long: 213462 tokens > 200000 maximum', 'E'],
  ['input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000', 'E'],
  ['{"type":"error","error":{"message":"Request size exceeds model context window"}}', 'E'],
  ['Your input exceeds the context window of this model.', '-'],
  ['{"error":{"code":"context_length_exceeded"}}', '-'],
  [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    'E',
  ],
  ["Requested token count exceeds the model's maximum context length of 131072 tokens", 'E'],
  ["Input length (150000) exceeds model's maximum context length (131072).", 'E'],
  ['The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).', 'L'],
  ['INVALID_ARGUMENT: input exceeds the maximum number of tokens', 'E'],
  ["This model's maximum prompt length is 131072 but the request contains 537812 tokens.", '-'],
  ['Please reduce the length of the messages or completion', '-'],
  ['maximum context length is 131072 tokens. However, you requested about 140000', 'E'],
  ['Input length 131393 exceeds the maximum allowed input length of 131040 tokens.', 'L'],
  ["The input (40000 tokens) is longer than the model's context length (32768 tokens).", '-'],
  ['the request exceeds the available context size, try increasing it', '-'],
  ['request (9000 tokens) exceeds the available context size (8192 tokens)', 'E'],
  ['Context size has been exceeded.', '-'],
  ['tokens to keep from the initial prompt is greater than the context length', '-'],
  ['Trying to keep the first 9000 tokens when context the overflows.', 'L'],
  ['prompt token count of 140000 exceeds the limit of 128000', 'L'],
  ['invalid params, context window exceeds limit (2013)', 'L'],
  ['Your request exceeded model token limit: 262144 (requested: 291351)', 'E'],
  [
    'Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length',
    'E',
  ],
  ['model_context_window_exceeded', 'E'],
  ['context_window_exceeded', 'E'],
  ['tokens in request more than max tokens allowed', '-'],
  ['ollama error: context length exceeded, too many tokens', 'E'],
  ['prompt too long; exceeded max context length by 4096 tokens', 'E'],
  ['ValidationException: The input is too long for the model', 'E'],
  ['Input is too long for requested model.', '-'],
  ['ModelStreamErrorException: Input is too long for this model', 'E'],
  ['ValidationException: Input token count exceeds the maximum number of input tokens', 'E'],
  ['mistral: input is too long for this model', 'E'],
  ["total tokens exceeds the model's maximum limit of 128000", 'E'],
  ['Prompt has 9000 tokens, but the configured context size is 8192 tokens', '-'],
  ['`inputs` must have less than 4096 tokens. Given: 5000', '-'],
  [
    '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`',
    'L',
  ],
  ['Range of input length should be [1, 202745]', '-'],
  ["Codex ran out of room in the model's context window.", '-'],
  [
    "This model's maximum context length is 8192 tokens. However, you requested 1000 output tokens and your prompt contains at least 7193 input tokens",
    'E',
  ],
  ['LLM request rejected: max_tokens would exceed context window', 'E'],
  ['input length would exceed context budget for this model', 'E'],
  ['input length 14295 tokens exceeds the model limit', '-'],
  ['400 上下文过长', 'E'],
  ['上下文超出限制', 'E'],
  ['上下文长度超过限制', 'E'],
  ['超出最大上下文', 'E'],
  ['请压缩上下文', 'E'],
  [PREEMPTIVE_OVERFLOW_ERROR_TEXT, 'E'],
  ['Model context window is 128k tokens, you requested 256k tokens', 'L'],
  ['Context window exceeded: requested 12000 tokens', 'L'],
  ['Prompt too large for this model', 'L'],
]

const payloads: [string, There][] = [
  [
    '413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
    'E',
  ],
  ['413 Request Entity Too Large', 'E'],
  ['413 Payload Too Large', 'E'],
  [
    '<html><head><title>413 Request Entity Too Large</title></head><body><center><h1>413 Request Entity Too Large</h1></center></body></html>',
    'E',
  ],
  ['The request is too large to send through CAPI responses', '-'],
]

const neither: [string, There][] = [
  ['rate limit exceeded', '-'],
  ['429 Too Many Requests', '-'],
  ['request reached organization TPD rate limit, current: 1000100, limit: 1000000', '-'],
  ['AWS Bedrock: Too many tokens per day', '-'],
  ['ThrottlingException: Too many tokens, please wait before trying again.', '-'],
  ['402 Payment Required: request token limit exceeded, insufficient credits', '-'],
  ['Your credit balance is too low to access the API', '-'],
  ['Reasoning is mandatory for this endpoint and cannot be disabled', '-'],
  ['Model context window too small (minimum is 16000)', '-'],
  ['request size exceeds upload limit', '-'],
  ['model not found', '-'],
  ['authentication failed', '-'],
  ["Let's investigate the context overflow bug", 'L'],
  ['max_tokens: 65536 > 32000, which is the maximum allowed number of output tokens', '-'],
  ['The request body is not valid JSON: no low surrogate in string', '-'],
  // Both were taken for overflows there.
  ['I read ticket #413 and the diff is too large to review', 'E'],
  ['images exceed 413x413, file too large', 'E'],
  ['max_tokens must be at most 4096; your request exceeded. context: none', 'E'],
  ['', '-'],
]

const forms = (message: string): [string, unknown][] => [
  ['a string', message],
  ['an Error', new Error(message)],
  ['a body', { error: { message } }],
  ['an assistant message', { role: 'assistant', content: [], stopReason: 'error', errorMessage: message }],
]

describe('isContextOverflowError', () => {
  it.each(overflows)('says yes to %j, where OpenClaw says %s', (message) => {
    for (const [form, error] of forms(message)) {
      expect(isContextOverflowError(error), form).toBe(true)
      expect(isContextOverflowError(error, { profile: 'latest' }), form).toBe(true)
      expect(isPayloadTooLargeError(error), form).toBe(false)
    }
  })

  it.each(payloads)('says yes to %j, which is too many bytes', (message) => {
    for (const [form, error] of forms(message)) {
      expect(isContextOverflowError(error), form).toBe(true)
      expect(isPayloadTooLargeError(error), form).toBe(true)
    }
  })

  it.each(neither)('says no to %j, where OpenClaw says %s', (message) => {
    for (const [form, error] of forms(message)) {
      expect(isContextOverflowError(error), form).toBe(false)
      expect(isContextOverflowError(error, { profile: 'latest' }), form).toBe(false)
      expect(isPayloadTooLargeError(error), form).toBe(false)
    }
  })

  it('takes what a minute never allows for an overflow in the latest profile, as OpenClaw does', () => {
    const ask = (requested: number) =>
      `413 Request too large for model: tokens per minute (TPM): Limit 8000, Requested ${requested}`
    for (const [requested, latest] of [
      [8_098, true],
      [7_000, false],
    ] as const) {
      expect(isContextOverflowError(ask(requested))).toBe(false)
      expect(isContextOverflowError(ask(requested), { profile: 'latest' })).toBe(latest)
      expect(isPayloadTooLargeError(ask(requested))).toBe(false)
    }
  })

  it('knows a field that is too long as bytes alone', () => {
    const field =
      'string too long. Expected a string with maximum length 10485760, but got a string with length 11000000.'
    expect(isContextOverflowError(field)).toBe(false)
    expect(isPayloadTooLargeError(field)).toBe(true)
  })

  it('goes by status and code before text', () => {
    expect(isPayloadTooLargeError({ status: 413 })).toBe(true)
    expect(isContextOverflowError({ status: 413 })).toBe(true)
    expect(isContextOverflowError({ status: 400 })).toBe(false)
    expect(isContextOverflowError({ status: 429, message: 'prompt is too long' })).toBe(false)
    expect(isContextOverflowError({ status: 400, error: { code: 'context_length_exceeded' } })).toBe(true)
  })

  it('throws at no error, and refuses wrong options', () => {
    for (const odd of [undefined, null, 5, [], {}, Symbol('x'), () => {}]) {
      expect(isContextOverflowError(odd)).toBe(false)
      expect(isPayloadTooLargeError(odd)).toBe(false)
    }
    expect(() => isContextOverflowError('', { profile: 'may' as 'april' })).toThrow(/^profile must be/)
  })
})

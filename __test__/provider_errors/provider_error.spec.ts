import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { classifyProviderError, type ProviderError, type ProviderErrorKind } from 'spillway'
import { describe, expect, it } from 'vitest'

type Row = [
  provider: string,
  message: string,
  kind: ProviderErrorKind,
  actual?: number | undefined,
  limit?: number,
]

const OVER = 'context_overflow'
const BYTES = 'payload_too_large'

/** Sayings of providers. If OpenClaw or Pi see something else in one, `why` tells why we do not. */
const says: Row[] = [
  ['Anthropic', 'prompt is too long: 213462 tokens > 200000 maximum', OVER, 213462, 200000],
  [
    'Anthropic',
    '400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213,462 tokens > 200,000 maximum"},"request_id":"req_011"}',
    OVER,
    213462,
    200000,
  ],
  [
    'Anthropic',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
    OVER,
    210000,
    200000,
  ],
  [
    'Anthropic',
    'input length and `max_tokens` exceed context limit (i.e 188240 + 21333 > 200000)',
    OVER,
    209573,
    200000,
  ],
  ['Anthropic', 'Request size exceeds model context window', OVER],
  [
    'Anthropic',
    '{"type":"error","error":{"type":"invalid_request_error","message":"Request size exceeds model context window"}}',
    OVER,
  ],
  [
    'OpenAI',
    'Your input exceeds the context window of this model. Please adjust your input and try again.',
    OVER,
  ],
  ['OpenAI', 'context_length_exceeded', OVER],
  [
    'OpenAI',
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    OVER,
    9000,
    8192,
  ],
  [
    'OpenAI',
    "This model's maximum context length is 4097 tokens, however you requested 5120 tokens (4096 in your prompt; 1024 for the completion).",
    OVER,
    5120,
    4097,
  ],
  [
    'LiteLLM',
    "Requested token count exceeds the model's maximum context length of 131072 tokens",
    OVER,
    undefined,
    131072,
  ],
  [
    'LiteLLM',
    "litellm.BadRequestError: litellm.ContextWindowExceededError: OpenAIException - This model's maximum context length is 16385 tokens. However, your messages resulted in 20001 tokens.",
    OVER,
    20001,
    16385,
  ],
  [
    'SGLang',
    "Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 150000 tokens: 140000 tokens from the input messages and 10000 tokens for the completion.",
    OVER,
    150000,
    131072,
  ],
  [
    'compatible',
    "Input length (150000) exceeds model's maximum context length (131072).",
    OVER,
    150000,
    131072,
  ],
  [
    'Google',
    'The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    OVER,
    1196265,
    1048575,
  ],
  [
    'Google',
    'The input token count exceeds the maximum number of tokens allowed 1048576.',
    OVER,
    undefined,
    1048576,
  ],
  ['Vertex', 'INVALID_ARGUMENT: input exceeds the maximum number of tokens', OVER],
  [
    'Gemini',
    'got status: 400 Bad Request. {"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}',
    OVER,
    2000000,
    1048576,
  ],
  ['Gemini', 'got status: 413 Payload Too Large. ', 'payload_too_large'],
  [
    'xAI',
    "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    OVER,
    537812,
    131072,
  ],
  ['xAI', 'maximum prompt length is 131072 but the request contains 537812 tokens', OVER, 537812, 131072],
  ['Groq', 'Please reduce the length of the messages or completion', OVER],
  [
    'Cerebras',
    '400 Please reduce the length of the messages or completion. Current length is 90210 while limit is 65536',
    OVER,
    90210,
    65536,
  ],
  [
    'OpenRouter',
    "This endpoint's maximum context length is 131072 tokens. However, you requested about 213,462 tokens (200,000 of text input, 13,462 in the output).",
    OVER,
    213462,
    131072,
  ],
  [
    'OpenRouter',
    'maximum context length is 131072 tokens. However, you requested about 140000',
    OVER,
    140000,
    131072,
  ],
  [
    'Poolside',
    'Input length 131393 exceeds the maximum allowed input length of 131040 tokens.',
    OVER,
    131393,
    131040,
  ],
  [
    'Together',
    "The input (40000 tokens) is longer than the model's context length (32768 tokens).",
    OVER,
    40000,
    32768,
  ],
  ['Fireworks', 'The prompt is too long: 150000, model maximum context length: 131072', OVER, 150000, 131072],
  ['llama.cpp', 'the request exceeds the available context size, try increasing it', OVER],
  [
    'llama.cpp',
    'request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it',
    OVER,
    5000,
    4096,
  ],
  ['llama.cpp', 'Context size has been exceeded.', OVER],
  ['LM Studio', 'tokens to keep from the initial prompt is greater than the context length', OVER],
  [
    'LM Studio',
    'The number of tokens to keep from the initial prompt is greater than the context length. Try to load the model with a larger context length',
    OVER,
  ],
  [
    'LM Studio',
    'Trying to keep the first 10000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.',
    OVER,
    10000,
    4096,
  ],
  ['Copilot', 'prompt token count of 150000 exceeds the limit of 128000', OVER, 150000, 128000],
  ['MiniMax', 'invalid params, context window exceeds limit (2013)', OVER],
  [
    'Kimi',
    'Invalid request: Your request exceeded model token limit: 262144 (requested: 290000)',
    OVER,
    290000,
    262144,
  ],
  [
    'Mistral',
    'Prompt contains 65673 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
    OVER,
    65673,
    32768,
  ],
  [
    'Mistral',
    'Prompt contains 140000 tokens, too large for model with 131072 maximum context length',
    OVER,
    140000,
    131072,
  ],
  ['Mistral', 'mistral: input is too long for this model', OVER],
  ['z.ai', 'Unhandled stop reason: model_context_window_exceeded', OVER],
  ['z.ai', 'context_window_exceeded', OVER],
  ['z.ai', 'tokens in request more than max tokens allowed', OVER],
  ['Ollama', 'ollama error: context length exceeded, too many tokens', OVER],
  ['Ollama', 'prompt too long; exceeded max context length by 500 tokens', OVER],
  ['Bedrock', 'ValidationException: The input is too long for the model', OVER],
  [
    'Bedrock',
    'ValidationException: The model returned the following errors: Input is too long for requested model.',
    OVER,
  ],
  [
    'Bedrock',
    'An error occurred (ValidationException) when calling the InvokeModel operation: Input is too long for requested model.',
    OVER,
  ],
  ['Bedrock', 'Input is too long for requested model.', OVER],
  ['Bedrock', 'ModelStreamErrorException: Input is too long for this model', OVER],
  ['Bedrock', 'ValidationException: Input token count exceeds the maximum number of input tokens', OVER],
  ['Cohere', "total tokens exceeds the model's maximum limit of 4096", OVER, undefined, 4096],
  ['ds4', 'Prompt has 9000 tokens, but the configured context size is 8192 tokens', OVER, 9000, 8192],
  ['TGI', '`inputs` must have less than 1024 tokens. Given: 1089', OVER, 1089, 1024],
  [
    'TGI',
    '`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 512 `max_new_tokens`',
    OVER,
    5512,
    4096,
  ],
  [
    'Alibaba',
    '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 202745]',
    OVER,
    undefined,
    202745,
  ],
  [
    'Codex',
    "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
    OVER,
  ],
  [
    'vLLM',
    "This model's maximum context length is 4096 tokens. However, you requested 500 output tokens and your prompt contains at least 3700 input tokens, for a total of at least 4200 tokens.",
    OVER,
    4200,
    4096,
  ],
  [
    'vLLM',
    'The decoder prompt (length 5120) is longer than the maximum model length of 4096.',
    OVER,
    5120,
    4096,
  ],
  ['misc', 'LLM request rejected: max_tokens would exceed context window', OVER],
  ['misc', 'input length would exceed context budget for this model', OVER],
  ['misc', 'input length 14295 tokens exceeds the model limit', OVER, 14295],
  ['misc', 'Model context window is 128k tokens, you requested 256k tokens', OVER, 256000, 128000],
  ['misc', 'Context window exceeded: requested 12000 tokens', OVER, 12000],
  ['misc', 'Prompt too large for this model', OVER],
  ['llama.cpp', 'prompt (8500 tokens) exceeds the available context size (8192 tokens)', OVER, 8500, 8192],
  [
    'llama.cpp',
    'request (130000 tokens) exceeds available context size (131072 tokens), try increasing it',
    OVER,
    130000,
    131072,
  ],
  ['llama.cpp', 'request (130000 tokens) exceeds available context size', OVER, 130000],
  [
    'compatible',
    "Prompt tokens (5,000) exceed the model's maximum context window of 4,096",
    OVER,
    5000,
    4096,
  ],
  ['compatible', "This request exceeds the model's maximum context length", OVER],
  ['compatible', 'The request size exceeds model context window limit', OVER],
  ['compatible', 'Your conversation exceeds the context length limit.', OVER],
  ['compatible', 'maximum context length exceeded', OVER],
  ['compatible', 'The maximum context size has been exceeded', OVER],
  ['compatible', 'Maximum context length', OVER],
  ['Bedrock', 'input is too long for model gpt-5.4', OVER],
  [
    'Bedrock',
    "ValidationException: Input is too long for model 'anthropic.claude-3-haiku-20240307-v1:0'.",
    OVER,
  ],
  ['compatible', 'The prompt is too large for qwen2.5-coder', OVER],
  ['OpenClaw', 'Context overflow: Summarization failed', OVER],
  ['OpenClaw', 'Context overflow: Summarization failed: Connection error', OVER],
  ['OpenClaw', 'Context overflow: prompt too large for the model (precheck).', OVER],
  ['OpenClaw', 'Context overflow: estimated context size exceeds safe threshold during tool loop.', OVER],
  ['Chinese', '上下文过长', OVER],
  ['Chinese', '上下文超出', OVER],
  ['Chinese', '上下文长度超', OVER],
  ['Chinese', '超出最大上下文', OVER],
  ['Chinese', '请压缩上下文', OVER],
  ['Chinese', '错误：上下文长度超过模型限制，请压缩上下文后重试', OVER],
  ['Chinese', '400 您的输入超出最大上下文长度（131072）', OVER, undefined, 131072],
  [
    'OpenAI',
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300123 tokens. Please reduce the length of the messages.',
    OVER,
    300123,
    272000,
  ],
  [
    'vLLM',
    "You passed 98305 input tokens and requested 32768 output tokens. However, the model's context length is only 131072 tokens, resulting in a maximum input length of 98304 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=98305)",
    OVER,
    131073,
    131072,
  ],
  [
    'vLLM',
    'The prompt (total length 25938) is too long to fit into the model (context length 4096). Make sure that `max_model_len` is no smaller than the number of text tokens plus multimodal tokens.',
    OVER,
    25938,
    4096,
  ],
  [
    'Vertex',
    'Unable to submit request because the input token count is 1190000 but the model only supports up to 1048576. Reduce the input token count and try again.',
    OVER,
    1190000,
    1048576,
  ],
  [
    'Google',
    '[GoogleGenerativeAI Error]: Error fetching from https://generativelanguage.googleapis.com/v1beta/models/gemini-1.5-pro:generateContent: [400 Bad Request] The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).',
    OVER,
    1196265,
    1048575,
  ],
  [
    'Bedrock Titan',
    'ValidationException: 400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9279 ',
    OVER,
    9279,
    8192,
  ],
  [
    'Bedrock Nova',
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length. Please update the input to try again.',
    OVER,
  ],
  [
    'LM Studio',
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 12345>= n_ctx: 4096). Try to load the model with a larger context length',
    OVER,
    12345,
    4096,
  ],
  ['LM Studio', 'Cannot truncate prompt with n_keep (13237) >= n_ctx (4096)', OVER, 13237, 4096],
  [
    'LM Studio',
    'Reached context length of 4096 tokens with model (arch: gpt-oss) that does not currently support mid-generation context overflow. Try reloading with a larger context length or shortening the prompt/chat.',
    OVER,
    undefined,
    4096,
  ],
  [
    'Cohere',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4193. Try using a shorter prompt, or enabling prompt truncating.',
    OVER,
    4193,
    4081,
  ],
  [
    'Cohere',
    'too many tokens: size limit exceeded by 713295 tokens. Try using shorter or fewer inputs. The limit for this model is 288000 tokens.',
    OVER,
    undefined,
    288000,
  ],
  ['Ollama', 'the input length exceeds the context length', OVER],
  ['Zhipu', 'Prompt 超长', OVER],
  ['Doubao', 'Total tokens of image and text exceed max message tokens. Request id: 0217', OVER],
  ['Baidu', 'Prompt tokens too long', OVER],
  [
    'SiliconFlow',
    'length of prompt_tokens (40000) must be less than max_seq_len (32768).',
    OVER,
    40000,
    32768,
  ],
  [
    'Cloudflare',
    'AiError: AiError: The estimated number of input and maximum output tokens (8193) exceeded this model context window limit (7968).',
    OVER,
    8193,
    7968,
  ],
  ['TensorRT', 'Prompt length (5000) exceeds maximum input length (4096).', OVER, 5000, 4096],
  ['llama-cpp-python', 'Requested tokens (5000) exceed context window of 4096', OVER, 5000, 4096],
  ['TabbyAPI', 'Prompt length 5000 is greater than max_seq_len 4096', OVER, 5000, 4096],
  [
    'watsonx',
    'the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model',
    OVER,
    9000,
    8192,
  ],
  ['GitHub Models', 'Request body too large for gpt-4o model. Max size: 8000 tokens.', OVER, undefined, 8000],
  [
    'TGI',
    '{"error":"Input validation error: `inputs` must have less than 1024 tokens. Given: 1089","error_type":"validation"}',
    OVER,
    1089,
    1024,
  ],
  // Bytes rather than tokens: OpenClaw and Pi call most of these an overflow of the context too,
  // but compaction may not help.
  [
    'Anthropic',
    '413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}',
    BYTES,
  ],
  ['Copilot', 'The request is too large to send through CAPI responses', BYTES],
  ['Cerebras', '413 status code (no body)', BYTES],
  ['generic', '413 Request Entity Too Large', BYTES],
  ['generic', '413 Payload Too Large', BYTES],
  ['generic', 'HTTP 413: Content Too Large', BYTES],
  ['generic', 'HTTP/1.1 413 Request Entity Too Large', BYTES],
  ['generic', 'OpenAI API error (413): 413 status code (no body)', BYTES],
  ['Vertex', 'Request payload size exceeds the limit: 20971520 bytes.', BYTES, undefined, 20971520],
  [
    'OpenAI',
    'Maximum content size limit (26214400) exceeded (26428490 bytes read)',
    BYTES,
    26428490,
    26214400,
  ],
  [
    'nginx',
    '<html>\r\n<head><title>413 Request Entity Too Large</title></head>\r\n<body>\r\n<center><h1>413 Request Entity Too Large</h1></center>\r\n<hr><center>nginx/1.25.3</center>\r\n</body>\r\n</html>',
    BYTES,
  ],
  [
    'Cloudflare',
    '413 <!DOCTYPE html><html><head><meta charset="utf-8"><title>413 Payload Too Large</title></head></html>',
    BYTES,
  ],
  [
    'Apache',
    '<!DOCTYPE HTML PUBLIC "-//IETF//DTD HTML 2.0//EN">\n<html><head>\n<title>Request Entity Too Large</title>\n</head></html>',
    BYTES,
  ],
  ['gRPC', 'Sent message larger than max (50000056 vs. 20971520)', BYTES, 50000056, 20971520],
  // A field of its own, which peers do not see: the rest of the history need not go.
  [
    'OpenAI',
    'string too long. Expected a string with maximum length 10485760',
    'field_too_long',
    undefined,
    10485760,
  ],
  [
    'OpenAI',
    "Invalid 'messages[3].content': string too long. Expected a string with maximum length 10485760, but got a string with length 12000000 instead.",
    'field_too_long',
    12000000,
    10485760,
  ],
  [
    'Bedrock',
    'ValidationException: Malformed input request: expected maxLength: 20000, actual: 25000, please reformat your input and try again.',
    'field_too_long',
    25000,
    20000,
  ],
  // More than a minute allows at once: waiting never helps. OpenClaw 4.10 and Pi call it a rate
  // limit.
  [
    'Groq',
    '413 Request too large for model `llama-3.3-70b-versatile` in organization `org_01abc` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 8098, please reduce your message size and try again.',
    'request_exceeds_rate_limit',
    8098,
    8000,
  ],
  [
    'OpenAI',
    '429 Request too large for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Requested 41234. The input or output tokens must be reduced in order to run successfully.',
    'request_exceeds_rate_limit',
    41234,
    30000,
  ],
  [
    'Anthropic',
    '400 The request body is not valid JSON: no low surrogate in string: line 1 column 34567 (char 34566)',
    'malformed_unicode',
  ],
  [
    'vLLM',
    "'utf-8' codec can't encode character '\\ud83d' in position 12: surrogates not allowed",
    'malformed_unicode',
  ],
]

/** Texts that sound like an overflow and are none. */
const saysNot: Row[] = [
  [
    'OpenAI',
    'Rate limit reached for gpt-4o in organization org-abc on tokens per min (TPM): Limit 30000, Used 29000, Requested 5000. Please try again in 8s.',
    'rate_limit',
    5000,
    30000,
  ],
  [
    'OpenAI',
    '429 Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 5.',
    'rate_limit',
  ],
  [
    'OpenAI',
    'tokens per minute (TPM): Limit 90000, requests per minute (RPM): Limit 3, Requested 5',
    'rate_limit',
  ],
  ['any', 'rate limit exceeded', 'rate_limit'],
  ['any', 'Too many requests', 'rate_limit'],
  ['any', '429 Too Many Requests', 'rate_limit'],
  ['any', '429 status code (no body)', 'rate_limit'],
  ['DeepInfra', 'Request was throttled. Expected available in 12 seconds.', 'rate_limit'],
  ['DeepInfra', 'Request was throttled. Expected available in 1 second', 'rate_limit'],
  ['any', 'Your requests are being throttled', 'rate_limit'],
  ['any', 'You have been rate limited, try again later', 'rate_limit'],
  [
    'Anthropic',
    '429 {"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization\'s rate limit of 30,000 input tokens per minute."}}',
    'rate_limit',
  ],
  ['Moonshot', 'request reached organization TPD rate limit, current: 1500000, limit: 1500000', 'rate_limit'],
  ['Bedrock', 'AWS Bedrock: Too many tokens per day', 'rate_limit'],
  // Pi takes "too many tokens" for an overflow.
  ['Bedrock', 'ThrottlingException: Too many tokens, please wait before trying again.', 'rate_limit'],
  ['Bedrock', 'Throttling error: Too many tokens, please wait before trying again.', 'rate_limit'],
  // Nor does money fix itself by compaction; Pi sees the token limit alone.
  ['OpenRouter', '402 Payment Required: request token limit exceeded for your balance, add credits', 'other'],
  ['OpenAI', '429 You exceeded your current quota, please check your plan and billing details.', 'other'],
  ['Zhipu', '429 余额不足或无可用资源包，请充值。', 'other'],
  ['any', 'insufficient credits: context length exceeded', 'other'],
  ['Anthropic', 'Your credit balance is too low to access the Anthropic API.', 'other'],
  ['OpenRouter', 'Reasoning is mandatory for this endpoint and cannot be disabled.', 'other'],
  ['any', 'This model requires reasoning', 'other'],
  ['OpenClaw', 'Model context window too small (4000 tokens). Minimum is 16000.', 'other'],
  ['any', 'request size exceeds upload limit', 'other'],
  ['any', 'model not found', 'other'],
  ['any', 'authentication failed', 'other'],
  ['any', 'tpm', 'rate_limit'],
  ['Cerebras', '400 status code (no body)', 'other'],
  [
    'LM Studio',
    'Error rendering prompt with jinja template: prompt template has an error; context length exceeded',
    'other',
  ],
  [
    'Anthropic',
    'max_tokens: 65536 > 32000, which is the maximum allowed number of output tokens for claude-x',
    'other',
  ],
  // Prose. OpenClaw takes the first three for overflows.
  ['prose', "Let's investigate the context overflow bug", 'other'],
  ['prose', 'I read ticket #413 and the diff is too large to review', 'other'],
  ['prose', 'images exceed 413x413, file too large', 'other'],
  ['prose', 'max_tokens must be at most 4096; your request exceeded. context: none', 'other'],
  ['prose', 'A 413 (too large) is what nginx says', 'other'],
  ['prose', '413 people told me that the prompt is too long', 'other'],
  ['prose', 'Prompt is too long errors are no fun', 'other'],
  ['prose', '"context length exceeded" is what it says on the screen', 'other'],
  ['prose', 'Maximum context length of models, compared', 'other'],
  ['prose', 'Context overflow: a tutorial', 'other'],
  ['prose', 'The input is too long for model comparisons', 'other'],
  ['prose', 'Your request exceeds the available context menu', 'other'],
  ['prose', 'The request was throttled by our own queue', 'other'],
  ['prose', 'event: error handling, data: prompt is too long', 'other'],
  ['prose', 'data: the prompt is too long\n\n', 'other'],
  ['prose', '我们来看看上下文过长的问题', 'other'],
  ['prose', '上下文过长的问题怎么解决？', 'other'],
]

const told = ([, , kind, actual, limit]: Row) => ({
  kind,
  ...(actual !== undefined && { actual }),
  ...(limit !== undefined && { limit }),
})
const titled = (rows: Row[]) => rows.map((row) => [row[0], row[1].slice(0, 60), row] as const)
const withoutStatus = ({ status: _, field: __, ...rest }: ProviderError) => rest

describe.each([
  ['what providers say', says],
  ['what is none', saysNot],
] as const)('%s', (_, rows) => {
  it.each(titled(rows))('%s: %s', (_, __, row) => {
    const message = row[1]
    const expected = told(row)
    const seen = (error: unknown) => withoutStatus(classifyProviderError(error))
    expect(seen(message)).toEqual(expected)
    expect(seen(new Error(message))).toEqual(expected)
    expect(seen(new Error(`\n ${message}\n    at send (agent.ts:1:1)`))).toEqual(expected)
    expect(seen({ message })).toEqual(expected)
    if (row[0] !== 'prose') {
      expect(seen(`An error occurred while calling the model: ${message}`).kind).toBe(expected.kind)
      expect(seen(`Failed to send request: LLMProviderError: ${message}`).kind).toBe(expected.kind)
    }
    expect(seen({ error: message })).toEqual(expected)
    expect(seen(Buffer.from(message))).toEqual(expected)
    expect(seen(new Error('send failed', { cause: new Error(message) }))).toEqual(expected)
    expect(seen(new Error('send failed', { cause: message }))).toEqual(expected)
    // Upper and lower case, and line ends, are no matter.
    if (row[0] !== 'prose' && !message.includes('{'))
      expect(seen(message.toUpperCase()).kind).toBe(expected.kind)
    const failed = { role: 'assistant', content: [], stopReason: 'error', errorMessage: message }
    if (row[0] !== 'prose') expect(seen(failed)).toEqual(expected)
    expect(seen({ ...failed, stopReason: 'stop' })).toEqual({ kind: 'other' })
    // A body's own status decides where the text names one.
    if (!/^(?:HTTP )?\d{3}|^<\d|\(413\)/.test(message) && !/<title>/.test(message) && row[0] !== 'prose') {
      expect(seen({ error: { message, type: 'invalid_request_error' } })).toEqual(expected)
      expect(seen(Object.assign(new Error(message), { status: 400 }))).toEqual(expected)
      expect(seen(JSON.stringify({ error: { message } }))).toEqual(expected)
    }
  })
})

describe('structure before text', () => {
  const seen = classifyProviderError
  it.each<[string, unknown, ReturnType<typeof classifyProviderError>]>([
    [
      'an OpenAI SDK error',
      Object.assign(new Error('400 nothing to see'), {
        status: 400,
        code: 'context_length_exceeded',
        type: 'invalid_request_error',
      }),
      { kind: OVER, status: 400 },
    ],
    [
      'a status in the text',
      '400 {"error":{"code":"context_length_exceeded","message":"no"}}',
      { kind: OVER, status: 400 },
    ],
    [
      'a 429 whatever it says',
      { status: 429, message: 'prompt is too long' },
      { kind: 'rate_limit', status: 429 },
    ],
    [
      'a 401 whatever it says',
      { status: 401, message: 'prompt is too long' },
      { kind: 'other', status: 401 },
    ],
    [
      'a 402 whatever it says',
      { statusCode: 402, message: 'context length exceeded' },
      { kind: 'other', status: 402 },
    ],
    ['a 413 without a body', { status: 413 }, { kind: BYTES, status: 413 }],
    [
      'a 413 with a page',
      { status: 413, message: '<html><title>Oops</title></html>' },
      { kind: BYTES, status: 413 },
    ],
    [
      'a 413 that speaks of tokens',
      { status: 413, message: 'prompt is too long: 9 tokens > 8 maximum' },
      { kind: OVER, actual: 9, limit: 8, status: 413 },
    ],
    [
      'a 413 of a minute',
      {
        status: 413,
        error: {
          code: 'rate_limit_exceeded',
          type: 'tokens',
          message: 'Request too large for model `x` on tokens per minute (TPM): Limit 8000, Requested 8098',
        },
      },
      { kind: 'request_exceeds_rate_limit', actual: 8098, limit: 8000, status: 413 },
    ],
    ['a 400 without a body', { status: 400 }, { kind: 'other', status: 400 }],
    [
      'a 500 of llama.cpp',
      { error: { code: 500, message: 'context size has been exceeded', type: 'server_error' } },
      { kind: OVER, status: 500 },
    ],
    [
      'numbers of llama.cpp',
      {
        error: {
          code: 400,
          type: 'exceed_context_size_error',
          message: 'too long',
          n_prompt_tokens: 5123,
          n_ctx: 4096,
        },
      },
      { kind: OVER, actual: 5123, limit: 4096, status: 400 },
    ],
    [
      'numbers that count nothing',
      { status: 400, error: { type: 'exceed_context_size_error', n_prompt_tokens: 0, n_ctx: -20 } },
      { kind: OVER, actual: 0, status: 400 },
    ],
    [
      'an AI SDK call',
      Object.assign(new Error('Bad Request'), {
        name: 'AI_APICallError',
        statusCode: 400,
        responseBody:
          '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}',
        requestBodyValues: { messages: [{ role: 'user', content: 'rate limit exceeded' }] },
      }),
      { kind: OVER, actual: 210000, limit: 200000, status: 400 },
    ],
    [
      'an AI SDK retry',
      Object.assign(new Error('Failed after 3 attempts. Last error: Too many requests'), {
        name: 'AI_RetryError',
        reason: 'maxRetriesExceeded',
        lastError: Object.assign(new Error('Too many requests'), { statusCode: 429 }),
        errors: [],
      }),
      { kind: 'rate_limit', status: 429 },
    ],
    [
      'an axios error',
      Object.assign(new Error('Request failed with status code 400'), {
        code: 'ERR_BAD_REQUEST',
        response: { status: 400, data: { error: { message: 'Input is too long for requested model.' } } },
      }),
      { kind: OVER, status: 400 },
    ],
    [
      'a Bedrock SDK error',
      Object.assign(new Error('Input is too long for requested model.'), {
        name: 'ValidationException',
        $fault: 'client',
        $metadata: { httpStatusCode: 400 },
      }),
      { kind: OVER, status: 400 },
    ],
    [
      'a Bedrock throttle',
      Object.assign(new Error('Too many tokens, please wait'), {
        name: 'ThrottlingException',
        $metadata: { httpStatusCode: 429 },
      }),
      { kind: 'rate_limit', status: 429 },
    ],
    [
      'a Google SDK error',
      Object.assign(
        new Error(
          '{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"39s"}]}}',
        ),
        { name: 'ApiError', status: 400 },
      ),
      { kind: OVER, actual: 1200000, limit: 1048576, status: 400 },
    ],
    [
      'a Google list',
      '[{"error":{"code":429,"message":"Quota exceeded for quota metric \'Generate Content API requests per minute\'","status":"RESOURCE_EXHAUSTED"}}]',
      { kind: 'rate_limit', status: 429 },
    ],
    [
      'a Pi turn',
      {
        role: 'assistant',
        content: [],
        api: 'openai-completions',
        stopReason: 'error',
        errorMessage:
          "Codex error: This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      },
      { kind: OVER, actual: 9000, limit: 8192 },
    ],
    [
      'a Pi turn that was aborted',
      { role: 'assistant', content: [], stopReason: 'aborted', errorMessage: 'prompt is too long' },
      { kind: 'other' },
    ],
    [
      'a row of a session',
      {
        type: 'message',
        message: {
          role: 'assistant',
          stopReason: 'error',
          errorMessage: '413 status code (no body)',
          content: [],
        },
      },
      { kind: BYTES, status: 413 },
    ],
    [
      'a part of an AI SDK stream',
      {
        type: 'error',
        error: Object.assign(new Error('Bad Request'), {
          statusCode: 400,
          data: { error: { code: 'context_length_exceeded' } },
        }),
      },
      { kind: OVER, status: 400 },
    ],
    [
      'a failed response of OpenAI',
      {
        type: 'response.failed',
        response: {
          status: 'failed',
          error: {
            code: 'context_length_exceeded',
            message: 'Your input exceeds the context window of this model.',
          },
        },
      },
      { kind: OVER },
    ],
    [
      'an AggregateError',
      new AggregateError([new Error('socket hang up'), new Error('prompt is too long')], 'all failed'),
      { kind: OVER },
    ],
    [
      'an AggregateError in an AggregateError, of a cause of a cause',
      new AggregateError([
        new AggregateError([
          new Error('a', { cause: new Error('b', { cause: new Error('prompt is too long') }) }),
        ]),
      ]),
      { kind: OVER },
    ],
    [
      'a quota of money',
      { status: 429, error: { code: 'insufficient_quota', message: 'You exceeded your current quota' } },
      { kind: 'other', status: 429 },
    ],
    [
      'a code that every object has',
      { code: 'constructor', type: '__proto__', status: 400 },
      { kind: 'other', status: 400 },
    ],
    [
      'a minute in the body alone',
      {
        status: 429,
        message: 'Rate limit reached',
        error: { message: 'tokens per minute (TPM): Limit 8000, Requested 9000' },
      },
      { kind: 'request_exceeds_rate_limit', actual: 9000, limit: 8000, status: 429 },
    ],
    [
      'what the provider behind OpenRouter said',
      Object.assign(new Error('400 Provider returned error'), {
        status: 400,
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: {
            raw: '{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 213462 tokens > 200000 maximum"}}',
            provider_name: 'Anthropic',
          },
        },
      }),
      { kind: OVER, actual: 213462, limit: 200000, status: 400 },
    ],
    [
      'a list of errors in a body',
      Object.assign(new Error('Bad Request'), {
        statusCode: 400,
        responseBody:
          '{"errors":[{"code":"invalid_input_argument","message":"Invalid input argument for Model \'m\': the number of input tokens 9000 cannot exceed the total tokens limit 8192 for this model"}],"trace":"x"}',
      }),
      { kind: OVER, actual: 9000, limit: 8192, status: 400 },
    ],
    [
      'a body of MiniMax',
      { base_resp: { status_code: 2013, status_msg: 'invalid params, context window exceeds limit' } },
      { kind: OVER },
    ],
    // Word for word what OpenAI says of money, but of a quota that a minute gives back.
    [
      'a quota of Google',
      Object.assign(
        new Error(
          '{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.\\n* Quota exceeded for metric: generativelanguage.googleapis.com/generate_content_free_tier_input_token_count, limit: 250000\\nPlease retry in 36.9s.","status":"RESOURCE_EXHAUSTED"}}',
        ),
        { name: 'ApiError', status: 429 },
      ),
      { kind: 'rate_limit', status: 429 },
    ],
    [
      'a 413 of GitHub Models',
      { status: 413, error: { code: 'tokens_limit_reached', message: 'Too large. Max size: 8000 tokens.' } },
      { kind: OVER, status: 413 },
    ],
    [
      'a setting of the same name',
      { status: 400, message: 'unknown field "maximum context length" in model_config' },
      { kind: 'other', status: 400 },
    ],
    [
      'an output that is over the window',
      { status: 400, error: { message: "max_new_tokens exceeds the model's maximum context length" } },
      { kind: 'other', status: 400 },
    ],
    [
      'a throttle of Django',
      { detail: 'Request was throttled. Expected available in 12 seconds.' },
      { kind: 'rate_limit' },
    ],
    ['nothing', undefined, { kind: 'other' }],
    ['null', null, { kind: 'other' }],
    ['a number', 413, { kind: 'other' }],
    ['an empty string', '', { kind: 'other' }],
  ])('%s', (_, error, expected) => {
    expect(seen(error)).toEqual(expected)
  })

  const over = { type: 'error', error: { message: 'prompt is too long: 213462 tokens > 200000 maximum' } }
  const told = { kind: OVER, actual: 213462, limit: 200000 } as const
  const json = JSON.stringify(over)
  it.each<[string, string, ProviderError]>([
    ['one event', `data: ${json}\n\n`, told],
    ['without a blank', `data:${json}`, told],
    ['an event that is named', `event: error\ndata: ${json}\n\n`, told],
    ['line ends of two', `event: error\r\ndata: ${json}\r\n\r\n`, told],
    ['data over many lines', `data: ${JSON.stringify(over, null, 2).split('\n').join('\ndata: ')}\n\n`, told],
    ['the last of several', `data: {"choices":[]}\n\ndata: ${json}\n\ndata: [DONE]\n\n`, told],
    ['no blank line between', `data: {"choices":[]}\ndata: ${json}\ndata: [DONE]`, told],
    ['behind comments', `: OPENROUTER PROCESSING\n\n: ping\n\nid: 7\ndata: ${json}\n\n`, told],
    ['behind a status', `400 data: ${json}`, { ...told, status: 400 }],
    [
      'behind words that lead',
      `Error: 400 Bad Request: event: error\ndata: ${json}`,
      { ...told, status: 400 },
    ],
    ['a text for an error', 'event: error\ndata: Error: context length exceeded\n\n', { kind: OVER }],
    [
      'another error',
      'data: {"error":{"code":429,"message":"slow down"}}\n\n',
      { kind: 'rate_limit', status: 429 },
    ],
    [
      'of a long stream the last',
      `${'data: {"choices":[{"delta":{"content":"word"}}]}\n\n'.repeat(100_000)}event: error\ndata: ${json}\n\n`,
      told,
    ],
    [
      'words of a model',
      'data: {"choices":[{"delta":{"content":"prompt is too long"}}]}\n\n',
      { kind: 'other' },
    ],
    [
      'a message of a model',
      `event: message_start\ndata: ${JSON.stringify({ type: 'message_start', message: { role: 'assistant', content: 'prompt is too long' } })}\n\n`,
      { kind: 'other' },
    ],
    ['streams in streams', `event: error\n${'data: '.repeat(3_000)}`, { kind: 'other' }],
  ])('reads a body that is streamed: %s', (_, body, expected) => {
    expect(seen(body)).toEqual(expected)
    expect(seen(Buffer.from(body))).toEqual(expected)
    const { status: ofBody = 500, ...rest } = expected
    const error = Object.assign(new Error('failed'), { statusCode: 500, responseBody: body })
    if (!expected.status) expect(seen(error)).toEqual({ ...rest, status: ofBody })
  })

  it("takes the caller's patterns first, whatever their flags", () => {
    const patterns = [
      { pattern: /context boundary #\d+/gi, kind: OVER } as const,
      { pattern: /^rate/y, kind: 'other' } as const,
    ]
    const error = { status: 429, message: 'Context boundary #7 was crossed' }
    for (let round = 0; round < 3; round++)
      expect(seen(error, { patterns })).toEqual({ kind: OVER, status: 429 })
    expect(seen('rate limit exceeded', { patterns })).toEqual({ kind: 'other' })
    expect(
      seen(
        { role: 'user', content: 'context boundary #7', errorMessage: 'context boundary #7' },
        { patterns },
      ),
    ).toEqual({ kind: 'other' })
  })

  it('refuses patterns that are none', () => {
    const wrong = (patterns: unknown) => () => seen('', { patterns } as never)
    for (const [patterns, field] of [
      ['x', 'patterns'],
      [[null], 'patterns[0]'],
      [[{ pattern: /x/, kind: 'other', kinds: ['other'] }], 'patterns[0].kinds'],
      [[{ pattern: 'x', kind: 'other' }], 'patterns[0].pattern'],
      [[{ pattern: /x/, kind: 'overflow' }], 'patterns[0].kind'],
      [[{ pattern: /x/ }], 'patterns[0].kind'],
    ] as const)
      expect(wrong(patterns)).toThrow(
        expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION', message: expect.stringContaining(field) }),
      )
    expect(() => seen('', 5 as never)).toThrow(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
  })
})

describe('words about errors', () => {
  const table = JSON.parse(
    readFileSync(join(__dirname, '../..', 'lib', 'provider_errors', 'table.json'), 'utf8'),
  ) as Record<'exclusions' | 'fields' | 'errors', { says: string[] }[]> & { codes: Record<string, string> }
  /** Phrases with their first alternatives and a number in each gap. */
  const phrases = [
    ...[...table.exclusions, ...table.fields, ...table.errors].flatMap(({ says }) => says),
    ...Object.keys(table.codes),
    // What providers say, with numbers that compare nothing.
    ...says
      .map(([, message]) => message)
      .filter((message) => !/[<{:：+\n]|\. |413|429/.test(message))
      .map((message) => message.replace(/\d[\d,]*k?/g, '4096')),
  ].map((phrase) => {
    let text = phrase
      .replace(/\{(?:actual|limit|more|n)\}/g, '4096')
      .replace(/\{model\}/g, 'gpt-4.1')
      .replace(/\.\.\./g, 'so ')
      .replace('~', '')
    for (let before = ''; before !== text; )
      [before, text] = [text, text.replace(/\{([^{}|]*)\|[^{}]*\}/, '$1')]
    return text.replace(/ ?[:.]$/, '')
  })
  const prose = [
    (p: string) => `Why do I get "${p}" all the time?`,
    (p: string) => `Let's investigate the ${p} bug`,
    (p: string) => `I saw ${p} in ticket #413, and the diff is too large to review.`,
    (p: string) => `Our agent should not stop when somebody writes ${p}.`,
    (p: string) => `Yesterday the user reported ${p}`,
    (p: string) => `How would you tell ${p} from something else?\n\nThanks!`,
    (p: string) => `In chapter 4 the author explains that ${p}`,
    (p: string, q: string) => `Write a test for ${p} and one for ${q}`,
    (p: string, q: string) => `We renamed ${p} to ${q}; see the changelog.`,
    (p: string) => `请解释一下 ${p} 是什么意思`,
  ]
  const sentences = phrases.flatMap((phrase, at) =>
    prose.map((write, kind) => write(phrase, phrases[(at * 7 + kind) % phrases.length] ?? '')),
  )
  const messages = (text: string): unknown[] => [
    { role: 'user', content: text },
    { role: 'user', content: [{ type: 'text', text }] },
    { role: 'assistant', content: text },
    { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'stop' },
    { role: 'assistant', content: [{ type: 'text', text }], stopReason: 'toolUse', errorMessage: text },
    {
      role: 'assistant',
      content: [{ type: 'text', text }],
      stopReason: 'error',
      errorMessage: 'socket hang up',
    },
    {
      role: 'toolResult',
      toolCallId: 'a',
      toolName: 'bash',
      content: [{ type: 'text', text }],
      isError: true,
    },
    { role: 'tool', tool_call_id: 'a', content: text },
    {
      role: 'tool',
      content: [
        { type: 'tool-result', toolCallId: 'a', toolName: 'sh', output: { type: 'error-text', value: text } },
      ],
    },
    { type: 'tool-error', toolCallId: 'a', toolName: 'sh', input: {}, error: new Error(text) },
    { type: 'tool_result', tool_use_id: 'a', is_error: true, content: text },
    { type: 'function_call_output', call_id: 'a', output: text },
    { content: [{ type: 'text', text }], isError: true },
    { type: 'message', message: { role: 'user', content: text } },
    JSON.stringify({ role: 'user', content: text }),
    JSON.stringify([{ role: 'user', content: text, error: text }]),
  ]

  it(`are none, in messages: ${sentences.length} sentences and the phrases themselves`, {
    tags: 'long',
  }, () => {
    expect(sentences.length).toBeGreaterThan(1_000)
    for (const text of [...sentences, ...phrases])
      for (const message of messages(text))
        expect([classifyProviderError(message), message]).toEqual([{ kind: 'other' }, message])
  })

  it('are none in strings and errors, as long as they are prose', { tags: 'long' }, () => {
    for (const text of sentences) {
      expect([classifyProviderError(text).kind, text]).toEqual(['other', text])
      expect([classifyProviderError(new Error(text)).kind, text]).toEqual(['other', text])
    }
  })

  it('are none however the words of the table are mixed in a message', () => {
    const words = [...new Set(phrases.flatMap((phrase) => phrase.split(' ')))]
    const salad = fc
      .array(fc.constantFrom(...words), { minLength: 1, maxLength: 30 })
      .map((all) => all.join(' '))
    fc.assert(
      fc.property(salad, (text) => {
        for (const message of messages(text))
          expect(classifyProviderError(message)).toEqual({ kind: 'other' })
      }),
    )
  })
})

describe('whatever comes', () => {
  it('never throws: getters that do, proxies, cycles', () => {
    const thrower = new Proxy(
      {},
      {
        get: () => {
          throw new Error('no')
        },
        getPrototypeOf: () => {
          throw new Error('no')
        },
      },
    )
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    const revokedList = Proxy.revocable([], {})
    revokedList.revoke()
    const cycle: Record<string, unknown> = { message: 'x' }
    Object.assign(cycle, {
      cause: cycle,
      error: cycle,
      errors: [cycle, cycle],
      response: cycle,
      data: [cycle],
    })
    const getter = {
      get message(): string {
        throw new Error('no')
      },
      status: 413,
    }
    for (const error of [
      thrower,
      revoked.proxy,
      revokedList.proxy,
      cycle,
      Symbol('x'),
      10n,
      () => 1,
      new Map(),
      Object.create(null),
    ])
      expect(classifyProviderError(error)).toEqual({ kind: 'other' })
    expect(classifyProviderError(getter)).toEqual({ kind: BYTES, status: 413 })
    expect(
      classifyProviderError({ errors: { length: 1e9 }, status: Symbol('x'), code: 1n, message: {} }),
    ).toEqual({ kind: 'other' })
    fc.assert(
      fc.property(
        fc.anything({ withNullPrototype: true, withTypedArray: true, withBigInt: true }),
        (value) => {
          const { kind } = classifyProviderError(value)
          expect(typeof kind).toBe('string')
          classifyProviderError({ message: value, error: value, cause: value, status: value })
        },
      ),
    )
  })

  it('goes on for no time over words that nearly are names, nor over objects that have all members', () => {
    expect(classifyProviderError(`Aa${'A'.repeat(2_000)}_ prompt is too long`)).toEqual({ kind: 'other' })
    let reads = 0
    const all = (): object => new Proxy({}, { get: () => ++reads && all() })
    expect(classifyProviderError(all())).toEqual({ kind: 'other' })
    expect(reads).toBeLessThan(100_000)
  })

  it('follows causes, but not for ever', () => {
    let error = new Error('prompt is too long')
    for (let depth = 0; depth < 4; depth++) error = new Error(`layer ${depth}`, { cause: error })
    expect(classifyProviderError(error).kind).toBe(OVER)
    for (let depth = 0; depth < 10_000; depth++) error = new Error('another', { cause: error })
    expect(classifyProviderError(error).kind).toBe('other')
  })

  it('reads the start and the end of a body of any size', () => {
    const echo = 'x'.repeat(5_000_000)
    const message = 'prompt is too long: 213462 tokens > 200000 maximum'
    const expected = { kind: OVER, actual: 213462, limit: 200000 }
    expect(
      classifyProviderError(`{"type":"error","error":{"message":"${message}"},"request":"${echo}"}`),
    ).toEqual(expected)
    expect(classifyProviderError({ status: 400, message: `${echo}\n${message}` })).toEqual({
      ...expected,
      status: 400,
    })
    expect(classifyProviderError(Buffer.from(`400 ${message}. ${echo}`))).toEqual(expected)
    expect(classifyProviderError(echo)).toEqual({ kind: 'other' })
    for (const large of [
      echo,
      '('.repeat(5_000_000),
      'a_'.repeat(2_500_000),
      '{"a":'.repeat(1_000_000),
      '413 '.repeat(1_000_000),
      'limit 4096, '.repeat(400_000),
      '上下文'.repeat(1_000_000),
    ]) {
      const flat = Buffer.from(large).toString()
      classifyProviderError({ status: 400, message: flat, responseBody: flat })
    }
  })
})

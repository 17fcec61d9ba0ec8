import fc from 'fast-check'
import { classifyProviderError, type ProviderError } from 'spillway'
import { describe, expect, it, vi } from 'vitest'

/** Sentences made from parts, so that no list of sentences can pass: each part goes with every
 *  other. */
const one = (...parts: string[]) => fc.constantFrom(...parts)
const figure = fc.integer({ min: 5_000, max: 2_000_000 })
/** Two numbers, the larger first, and how they are written. */
const pair = fc
  .tuple(figure, fc.integer({ min: 1, max: 500_000 }), fc.boolean())
  .map(([limit, over, isGrouped]) => {
    const write = (value: number) => (isGrouped ? value.toLocaleString('en-US') : String(value))
    return { actual: limit + over, limit, a: write(limit + over), l: write(limit) }
  })

const whole = one(
  'prompt',
  'the prompt',
  'your input',
  'this conversation',
  'the message history',
  'input sequence',
  'the context',
  'the combined messages',
)
const bound = one(
  'the limit of',
  'the maximum of',
  'a maximum context length of',
  'the context window of',
  'the allowed',
  'max_input_tokens',
)
const over = one('exceeds', 'exceeded', 'is longer than', 'is larger than', 'is above', 'surpasses')
const room = one(
  'context window',
  'maximum context length',
  'context size',
  'maximum input length',
  'token limit',
)

type Claim = { text: string } & Pick<ProviderError, 'actual' | 'limit'>
const counted = fc.oneof(
  fc
    .tuple(whole, over, bound, pair)
    .map(([w, v, b, { a, l, ...n }]) => ({ text: `${w} (${a} tokens) ${v} ${b} ${l} tokens`, ...n })),
  fc
    .tuple(whole, over, room, pair)
    .map(([w, v, r, { a, l, ...n }]) => ({ text: `${w} of ${a} tokens ${v} the ${r} (${l})`, ...n })),
  fc.tuple(whole, room, pair).map(([w, r, { a, l, ...n }]) => ({
    text: `The ${r} is ${l} tokens. However, ${w} has ${a} tokens`,
    ...n,
  })),
  fc.tuple(whole, pair).map(([w, { a, l, ...n }]) => ({ text: `${w} is too long: ${a} > ${l}`, ...n })),
  fc.tuple(whole, one('at most', 'only', 'no more than', 'up to'), pair).map(([w, m, { a, l, ...n }]) => ({
    text: `${w} contains ${a} tokens but the model accepts ${m} ${l}`,
    ...n,
  })),
  fc
    .tuple(one('输入', '提示词', '对话'), one('超过', '超出'), pair)
    .map(([w, v, { a, l, ...n }]) => ({ text: `${w}长度 ${a} ${v}最大长度 ${l}`, ...n })),
)
const bare = fc.oneof(
  fc.tuple(whole, over, room).map(([w, v, r]) => `${w} ${v} the ${r}`),
  fc.tuple(whole, one('long', 'large', 'big')).map(([w, s]) => `${w} is too ${s}`),
  fc
    .tuple(
      one('the length of', 'the size of', 'the number of tokens in', 'the token count of', ''),
      whole,
      one(
        'is too high',
        'is above the limit',
        'exceeds the limit',
        'is more than is allowed',
        'is greater than the model supports',
        'is bigger than the model can handle',
        'is over the limit',
        'overflows the context',
        'exceeds the context',
        'does not fit',
        'does not fit in the context',
      ),
    )
    .map(([measure, w, much]) => `${measure} ${w} ${much}`.trim()),
  one('too many tokens in the prompt', 'please shorten your messages', 'reduce the length of the input'),
  fc
    .tuple(one('上下文', '提示词', '输入'), one('过长', '超出限制', '超过最大长度'))
    .map((all) => all.join('')),
)

const body = (text: string) => JSON.stringify({ error: { message: text, type: 'invalid_request_error' } })
const http = (status: number, text: string) =>
  Object.assign(new Error(`${status} status`), { statusCode: status, responseBody: body(text) })
/** Whatever programs put around an error. */
const wraps: ((text: string) => unknown)[] = [
  (text) => new Error(`The nightly agent gave up: ${text}`),
  (text) => new Error(`Некая ошибка: ${text}`),
  (text) => new Error(`ApiError { status: 400, message: "${text}", retryable: false }`),
  (text) => new Error(`{:error, %{message: "${text}"}}`),
  (text) => new Error(`ProxyError('${text}')`),
  (text) => new Error(`Error running step 3: ${body(text)}`),
  (text) => new Error(JSON.stringify({ detail: `upstream answered ${body(text)}` })),
  (text) => new AggregateError([new Error('socket hang up'), new Error(text)]),
  (text) => new Error('failed', { cause: { error: { error: { message: text } } } }),
  (text) => [{ error: { message: text } }],
  (text) => `data: ${body(text)}\n\n`,
  (text) => ({ errors: [{ message: text }] }),
  (text) => `<html><head><title>400</title></head><body><pre>${text}</pre></body></html>`,
  (text) => http(400, text),
  (text) => http(422, text),
  (text) => http(500, text),
]
const wrap = fc.constantFrom(...wraps)
const numbers = ({ kind, actual, limit }: ProviderError) => ({ kind, actual, limit })

describe('a refusal for size', () => {
  it('is known by what it says, and so are its numbers, in any wrapping and under any status but 402', () => {
    const statuses = fc.constantFrom(400, 401, 403, 404, 413, 422, 429, 500)
    fc.assert(
      fc.property(counted, wrap, statuses, ({ text, actual, limit }: Claim, write, status) => {
        const expected = { kind: 'context_overflow', actual, limit }
        expect([numbers(classifyProviderError(write(text))), text]).toEqual([expected, text])
        expect([numbers(classifyProviderError(http(status, text))), text]).toEqual([expected, text])
      }),
      { numRuns: 20_000 },
    )
  })

  it('is known without numbers in the answer of a provider, and behind a label', () => {
    fc.assert(
      fc.property(bare, (text) => {
        for (const error of [http(400, text), new Error(`Turn failed: ${text}`), `agent: ${text}`])
          expect([classifyProviderError(error).kind, text]).toEqual(['context_overflow', text])
      }),
      { numRuns: 5_000 },
    )
  })

  it('is known by a code in any spelling', () => {
    const words = fc.tuple(
      one('context', 'prompt', 'input', 'context window', 'input tokens'),
      one('too long', 'length exceeded', 'limit exceeded', 'exceeds limit', 'overflow limit'),
    )
    const spell = fc.constantFrom<(all: string[]) => string>(
      (all) => all.join('_'),
      (all) => all.join('_').toUpperCase(),
      (all) => all.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(''),
      (all) => `${all.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}Exception`,
      (all) => all.join('-'),
    )
    fc.assert(
      fc.property(words, spell, (parts, write) => {
        const code = write(parts.join(' ').split(' '))
        expect([classifyProviderError({ status: 400, code }).kind, code]).toEqual(['context_overflow', code])
      }),
    )
  })

  it('tells bytes and characters from tokens', () => {
    fc.assert(
      fc.property(one('request body', 'payload', 'request'), over, pair, (what, verb, { a, l, ...n }) => {
        expect(
          classifyProviderError(http(400, `${what} of ${a} bytes ${verb} the maximum of ${l} bytes`)),
        ).toEqual({
          kind: 'payload_too_large',
          ...n,
          status: 400,
        })
        expect(
          classifyProviderError(http(400, `prompt has ${a} characters, the maximum is ${l} characters`)),
        ).toEqual({ kind: 'context_overflow', ...n, unit: 'characters', status: 400 })
      }),
    )
    expect(classifyProviderError(http(400, 'Request size 12.5 MB exceeds 10 MB'))).toMatchObject({
      kind: 'payload_too_large',
      actual: 12_500_000,
      limit: 10_000_000,
    })
  })

  it('counts the output with the prompt, and is none if the output alone leaves no room', () => {
    fc.assert(
      fc.property(figure, figure, fc.integer({ min: 2_000, max: 4_000 }), (limit, output, input) => {
        const said = [
          `The maximum context length is ${limit} tokens. However, you requested ${input + output} tokens (${input} in the messages, ${output} in the completion). Please reduce the length of the messages.`,
          `max_tokens is too large: ${output}. The maximum context length is ${limit} tokens and your request has ${input} input tokens.`,
        ]
        for (const text of said) {
          const { kind, actual } = classifyProviderError(http(400, text))
          const isHopeless = output >= limit
          expect([kind, actual, text]).toEqual(
            isHopeless ? ['other', undefined, text] : ['context_overflow', input + output, text],
          )
        }
      }),
    )
  })
})

/** The path of a part of a request, and what a limit on a text there is about. */
const path = fc
  .tuple(
    one('messages', 'input', 'contents'),
    fc.nat(200),
    one('', '.content', '.content[1].text', '.output', '.tool_calls[0].function.arguments', '.parts[2].text'),
    one('', '.id', '.name', '.call_id', '.tool_call_id', '.title', '.key'),
  )
  .map(([root, at, text, name]) => ({ path: `${root}[${at}]${text}${name}`, isText: name === '' }))
const elsewhere = fc
  .tuple(
    one('tools', 'metadata', 'functions', 'response_format', 'stop'),
    fc.nat(20),
    one('name', 'description', 'run', 'id'),
  )
  .map(([root, at, name]) => ({ path: `${root}[${at}].${name}`, isText: false }))
const part = fc.oneof(path, elsewhere)

describe('a limit on one part of a request', () => {
  const dotted = (path: string) => path.replace(/\[(\d+)\]/g, '.$1')
  const said = fc.tuple(part, fc.integer({ min: 1, max: 1e7 }), fc.nat(1e6)).chain(([part, limit, over]) =>
    fc
      .constantFrom<(noun: string) => { text: string; param?: string }>(
        (noun) => ({
          text: `Invalid '${part.path}': ${noun} too long. Expected a ${noun} with maximum length ${limit}, but got a ${noun} with length ${limit + over} instead.`,
        }),
        (noun) => ({ text: `${dotted(part.path)}: ${noun} should have at most ${limit} characters` }),
        (noun) => ({ text: `Input should be valid: ${noun} too long`, param: part.path }),
      )
      .map((write) => ({ part, write })),
  )

  it('names a text, and is about nothing else that a smaller history obeys', () => {
    fc.assert(
      fc.property(said, ({ part, write }) => {
        const { text, param } = write('string')
        const error = Object.assign(new Error(`400 ${text}`), {
          status: 400,
          error: { message: text, type: 'invalid_request_error', param },
        })
        const { kind, field } = classifyProviderError(error)
        const path = part.isText
          ? text.includes(part.path) || param
            ? part.path
            : dotted(part.path)
          : undefined
        expect([kind, field, text]).toEqual([part.isText ? 'field_too_long' : 'other', path, text])
      }),
      { numRuns: 5_000 },
    )
  })

  it('is not an overflow if a list in a message, or the name of a member, is too long', () => {
    fc.assert(
      fc.property(said, one('array', 'list', 'property name', 'object'), ({ write }, noun) => {
        const { text, param } = write(noun)
        expect([classifyProviderError({ status: 400, error: { message: text, param } }).kind, text]).toEqual([
          'other',
          text,
        ])
      }),
      { numRuns: 5_000 },
    )
  })

  it('is an overflow if there are too many messages', () => {
    for (const root of ['messages', 'input'])
      expect(
        classifyProviderError(
          http(
            400,
            `Invalid '${root}': array too long. Expected an array with maximum length 2048, but got 2400.`,
          ),
        ).kind,
      ).toBe('context_overflow')
  })
})

describe('numbers of a guard', () => {
  it('tell a request that no wait makes smaller from one that has to wait', () => {
    const time = one('minute', 'day', 'hour')
    fc.assert(
      fc.property(
        one('request', 'prompt', 'input'),
        one('exceeds', 'is larger than'),
        figure,
        time,
        (w, v, n, t) => {
          const said = `This ${w} ${v} the limit of ${n} tokens per ${t}`
          expect(classifyProviderError(http(429, said))).toEqual({
            kind: 'request_exceeds_rate_limit',
            limit: n,
            status: 429,
          })
          const waits = `This ${w} would exceed the limit of ${n} tokens per ${t}`
          expect(classifyProviderError(http(429, waits)).kind).toBe('rate_limit')
        },
      ),
    )
  })

  it('are not limits if they say how much is left', () => {
    fc.assert(
      fc.property(whole, figure, one('left', 'remaining'), (w, n, left) => {
        const said = `${w} (${n + 9_000} tokens) exceeds the context window limit (${n} tokens ${left})`
        expect(classifyProviderError(http(400, said))).toEqual({
          kind: 'context_overflow',
          actual: n + 9_000,
          status: 400,
        })
      }),
    )
  })
})

it('a body of brackets is read within one budget, whatever its parts', () => {
  const text = fc.constantFrom('{', '[', '{"', '[{"a":"', '["a",', '{"a":{').map((unit) => unit.repeat(3_000))
  const members = fc.constantFrom('message', 'detail', 'msg', 'error', 'data', 'body', 'response', 'errors')
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof({ maxDepth: 3 }, text, fc.dictionary(members, tie('tree'), { minKeys: 3, maxKeys: 8 })),
  }))
  const parse = vi.spyOn(JSON, 'parse')
  try {
    fc.assert(
      fc.property(tree, (error) => {
        parse.mockClear()
        classifyProviderError(error)
        const chars = parse.mock.calls.reduce((sum, [json]) => sum + String(json).length, 0)
        expect(chars).toBeLessThanOrEqual(65_536)
      }),
      { numRuns: 200 },
    )
  } finally {
    parse.mockRestore()
  }
})

/** Other things that are too large, or too many. None of them shrinks with the history. */
const none = fc.oneof(
  fc
    .tuple(
      one(
        'max_tokens',
        'max_completion_tokens',
        'the output',
        'thinking.budget_tokens',
        'the completion',
        'max_new_tokens',
      ),
      over,
      figure,
    )
    .map(([what, verb, n]) => `${what} ${verb} the maximum of ${n}`),
  fc.tuple(figure, figure).map(([a, l]) => `max_tokens: ${a} > ${l}, the maximum number of output tokens`),
  fc
    .tuple(
      one(
        'image',
        'file',
        'attachment',
        'document',
        'header',
        'tool name',
        'system tag',
        'URL',
        'stop list',
        'audio',
      ),
      one(
        'is too large',
        'is too long',
        'exceeds the limit of 20',
        'is larger than 5 MB',
        'exceeds the maximum size',
      ),
    )
    .map((all) => all.join(' ')),
  fc
    .tuple(one('tools', 'images', 'stop sequences', 'pages', 'files', 'functions'), figure)
    .map(([what, n]) => `too many ${what}: ${n} (maximum 128)`),
  fc
    .tuple(figure, one('tokens', 'requests', 'input tokens'), one('minute', 'day', 'hour', 'second'))
    .map(([n, what, time]) => `You have exceeded ${n} ${what} per ${time}`),
  one('Your credit balance is too low for this request', 'Payment required: your plan has no credits left'),
  fc
    .tuple(one('temperature', 'top_k', 'n', 'logprobs', 'presence_penalty'), figure)
    .map(([what, n]) => `${what} must be at most 2, got ${n}`),
  one('messages must not be empty', 'at least one message is required', 'roles must alternate in messages'),
  fc.tuple(figure).map(([n]) => `The access token is longer than ${n} characters`),
  fc.tuple(figure).map(([n]) => `Request timed out: exceeded ${n} seconds`),
)

describe('whatever else is too large', () => {
  it('is not an overflow, in any wrapping', () => {
    fc.assert(
      fc.property(none, wrap, (text, write) => {
        for (const error of [write(text), http(400, text), text]) {
          const { kind } = classifyProviderError(error)
          if (/context_overflow|payload_too_large|request_exceeds/.test(kind))
            throw new Error(`${kind}: ${text}`)
        }
      }),
      { numRuns: 100_000 },
    )
  })

  it('is not an overflow in the words of a person, numbers or not', () => {
    const frames = fc.constantFrom<(text: string) => string>(
      (text) => `Why does it say "${text}" all the time?`,
      (text) => `I get ${text} whenever the build runs`,
      (text) => `Let's find out what ${text} means`,
      (text) => `We saw this: ${text}`,
      (text) => `How is "${text}" to be read`,
      (text) => `为什么显示 ${text}`,
    )
    fc.assert(
      fc.property(
        fc.oneof(
          bare,
          counted.map(({ text }) => text),
        ),
        frames,
        (text, write) => {
          const prose = write(text)
          expect([classifyProviderError(prose).kind, prose]).toEqual(['other', prose])
          expect(classifyProviderError({ role: 'user', content: prose })).toEqual({ kind: 'other' })
        },
      ),
      { numRuns: 20_000 },
    )
  })

  it('needs a larger plan, where a long context does', () => {
    for (const status of [400, 429])
      for (const text of [
        'Long context is a feature of a higher tier',
        'Upgrade your plan for prompts this long',
      ])
        expect(classifyProviderError(http(status, text)).kind).toBe('request_exceeds_rate_limit')
  })
})

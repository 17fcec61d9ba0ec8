import { redactText } from 'spillway'
import { expect, test } from 'vitest'
import formats from '../../src/redact/examples.json'

test.each(formats)('$kind is redacted', ({ kind, examples, others }) => {
  for (const parts of examples) {
    const text = `é ${parts.join('')} \u{1f600}`
    expect(redactText(text)).toContain(`[redacted: ${kind}]`)
    expect(redactText(Buffer.from(text))).toBe(redactText(text))
  }
  for (const parts of others) expect(redactText(parts.join(''))).toBe(parts.join(''))
})

const [token = ''] = formats.filter(({ kind }) => kind === 'github token').map((f) => f.examples[0]?.join(''))

test('a text without a secret is returned as given', () => {
  expect(redactText('\ud800 nothing here')).toBe('\ud800 nothing here')
  expect(redactText(`\ud800 ${token}`)).toBe('\ufffd [redacted: github token]')
  expect(redactText(new Uint8Array([0xff, 0x61]))).toBe('\ufffda')
})

test('kinds narrow what is found, and patterns add to it', () => {
  const text = `${token} password=fake-pass-1 T-1234`
  expect(redactText(text, { kinds: ['password'] })).toBe(`${token} password=[redacted: password] T-1234`)
  const ticket = { kind: 'ticket', pattern: String.raw`\bT-\d+` }
  const made = redactText(text, { kinds: [], patterns: [ticket] })
  expect(made).toBe(`${token} password=fake-pass-1 [redacted: ticket]`)
  expect(redactText(made, { patterns: [ticket] })).toBe(
    '[redacted: github token] password=[redacted: password] [redacted: ticket]',
  )
})

test.each([
  [
    { kinds: ['github tokens'] },
    RangeError,
    /^kinds\[0\] must be a kind .* such as 'github token', got "github tokens"$/,
  ],
  [{ kinds: 'jwt' }, TypeError, /^kinds must be an array of strings, got "jwt"$/],
  [{ kinds: [1] }, TypeError, /^kinds\[0\] must be a string, got 1$/],
  [{ patterns: {} }, TypeError, /^patterns must be an array of objects, got an object$/],
  [{ patterns: ['x'] }, TypeError, /^patterns\[0\] must be an object, got "x"$/],
  [
    { patterns: [{ kind: 'a', pattern: '(' }] },
    RangeError,
    /^patterns\[0\]\.pattern must be a regular expression \(unclosed group\), got "\("$/,
  ],
  [{ patterns: [{ kind: 'a', pattern: 'x*' }] }, RangeError, /^patterns\[0\]\.pattern must be .*empty text/],
  [{ patterns: [{ kind: 'a', pattern: /x/ }] }, TypeError, /^patterns\[0\]\.pattern must be a string/],
  [{ patterns: [{ kind: 'a]', pattern: 'x' }] }, RangeError, /^patterns\[0\]\.kind must be/],
  [{ patterns: [{ pattern: 'x' }] }, TypeError, /^patterns\[0\]\.kind must be a string, got undefined$/],
  [
    { patterns: [{ kind: 'a', pattern: 'x', flags: 'i' }] },
    TypeError,
    /^unknown option `patterns\[0\]\.flags`/,
  ],
  [{ kind: ['jwt'] }, TypeError, /^unknown option `kind`; did you mean `kinds`\?$/],
])('%j is refused', (options, Kind, message) => {
  const refused = () => redactText('', options as object)
  expect(refused).toThrow(Kind)
  expect(refused).toThrow(message)
  expect(refused).toThrow(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
})

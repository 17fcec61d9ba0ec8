import { redactText } from 'spillway'
import { expect, test } from 'vitest'
import formats from '../src/redact/formats.json'

test.each(formats)('$kind is redacted', ({ kind, examples, others }) => {
  for (const parts of examples)
    expect(redactText(`é ${parts.join('')} \u{1f600}`)).toContain(`[redacted: ${kind}]`)
  for (const parts of others) expect(redactText(parts.join(''))).toBe(parts.join(''))
})

test('a secret across pieces is redacted, and a text without one is returned as given', () => {
  const [secret = ''] = formats
    .filter(({ kind }) => kind === 'github token')
    .map((f) => f.examples[0]?.join(''))
  const filler = 'x '.repeat(32_760)
  expect(redactText(`${filler}${secret} end`)).toBe(`${filler}[redacted: github token] end`)
  expect(redactText('\ud800 nothing here')).toBe('\ud800 nothing here')
})

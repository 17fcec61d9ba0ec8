import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { clampResult, clampText, cleanText, OutputCapture, wrapTools } from 'spillway'
import { describe, expect, it } from 'vitest'

const clean = { html: true }
const unlimited = { maxBytes: Number.POSITIVE_INFINITY, maxLines: Number.POSITIVE_INFINITY, clean }
const page = `<!DOCTYPE html>\n<html><head><title>Plans</title><script>if (a < b) track('<p>')</script></head>
<body><h1>Plans &amp; prices</h1><ul><li>One <a href="/one?a=1&amp;b=2">first</a><li>Two</ul></body></html>`
const text = 'Plans\n\n# Plans & prices\n\n- One first (/one?a=1&b=2)\n- Two'

async function captured(chunks: readonly (string | Uint8Array)[], policy: object): Promise<string> {
  const capture = new OutputCapture(policy)
  for (const chunk of chunks) capture.stdout.write(chunk)
  return (await capture.finish()).text
}

describe('clean with html', () => {
  it('turns a page into text wherever a policy cleans', async () => {
    expect(cleanText(page, clean)).toBe(text)
    expect(cleanText(Buffer.from(page), clean)).toBe(text)
    expect(clampText(page, { clean })).toBe(text)
    expect(String(clampText(Buffer.from(page), { clean }))).toBe(text)
    const result = { content: [{ type: 'text', text: page }] }
    expect(clampResult(result, { clean })).toEqual({ content: [{ type: 'text', text }] })
    const { fetch } = wrapTools({ fetch: { execute: async () => page } }, { clean })
    expect(await fetch.execute()).toBe(text)
    const long = page.replace('Two', `${'two '.repeat(100_000)}end`)
    const { late } = wrapTools({ late: { execute: async () => long } }, { ...unlimited, clean })
    expect(await late.execute()).toBe(cleanText(long, clean))
    expect(await captured([page.slice(0, 7), page.slice(7)], { clean })).toBe(text)
  })

  it('is off unless asked for, and leaves other texts', () => {
    for (const policy of [{}, { clean: true }, { clean: {} }, { clean: { html: false } }])
      expect(clampText(page, policy)).toBe(page)
    for (const other of [
      'a < b',
      'let a = <p>x</p>',
      '<?xml version="1.0"?><a><p>x</p></a>',
      '{"a":"<p>"}',
      '<<<<<<< HEAD',
    ])
      expect(clampText(other, { clean })).toBe(other)
    // A text that was cut may quote a page where it begins.
    const quote = `${'x\n'.repeat(300)}<p>a</p>\n${'y\n'.repeat(8)}`
    const cut = clampText(quote, { maxLines: 12, keep: 'tail', clean })
    expect(clampText(cut, { maxLines: 12, keep: 'tail', clean })).toBe(cut)
  })

  it('can be the only step', () => {
    const only = { ansi: false, carriageReturns: false, control: false, repeats: false, html: true }
    expect(cleanText('<p>\x1b[1ma<br>a<br>a<br>a', only)).toBe('\x1b[1ma\na\na\na')
    expect(cleanText('\x1b[1m\r', only)).toBe('\x1b[1m\r')
  })

  it('has one text for a string, bytes and any chunks, which stays as it is', async () => {
    const parts = fc.constantFrom(
      ...[
        '<p>',
        '</p>',
        '<',
        '>',
        '&lt;',
        '&amp;',
        ';',
        '<a href="x">',
        '</a>',
        '<script>',
        '</script>',
        '<!--',
      ],
      ...[
        '-->',
        '<tr>',
        '<td>',
        '<li>',
        '<ul>',
        '<pre>',
        '\n',
        ' ',
        'word',
        '漢字',
        '"',
        '<img alt=a>',
        '<h2>',
        '\x1b[1m',
      ],
    )
    const pages = fc.array(parts, { maxLength: 40 }).map((all) => `<p>${all.join('')}`)
    await fc.assert(
      fc.asyncProperty(pages, fc.integer({ min: 1, max: 9 }), async (page, size) => {
        const whole = clampText(page, unlimited)
        expect(String(clampText(Buffer.from(page), unlimited))).toBe(whole)
        expect(clampText(whole, unlimited)).toBe(whole)
        const bytes = Buffer.from(page)
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
          bytes.subarray(at * size, (at + 1) * size),
        )
        expect(await captured(chunks, unlimited)).toBe(
          clampText(cleanText(page, clean), { ...unlimited, clean: false }),
        )
      }),
      { numRuns: 150 },
    )
  })

  it.each([
    ['<', '<p>'],
    ['<ul>', '<p>'],
    ['<td>', '<p>'],
    ['<a href="x">', '<p>'],
    ['&amp;', '<p>'],
    ['<!--', '<p>'],
  ])('takes 20 MB of %s', { tags: 'long' }, (unit, start) => {
    const hostile = start + unit.repeat(20_000_000 / unit.length)
    expect(cleanText(hostile, clean).length).toBeLessThanOrEqual(hostile.length)
    expect(clampText(hostile, { clean }).length).toBeLessThanOrEqual(51_200)
  })

  it('is a flag of the command line', { tags: 'long' }, () => {
    const cli = join(__dirname, '../../dist/cli.js')
    const run = (...flags: string[]) =>
      execFileSync(process.execPath, [cli, 'clamp', ...flags], { input: page, encoding: 'utf8' })
    expect(run('--clean-html')).toBe(`${text}\n`)
    expect(run('--clean-html', '--no-clean')).toBe(`${text}\n`)
    expect(run('--clean-html', '--explain')).toBe(`${text}\n`)
    expect(run('--clean-html', '--max-bytes', String(text.length))).toBe(text)
    expect(run('--clean')).toBe(page)
  })
})

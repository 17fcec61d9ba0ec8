import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspectSession, repairSession } from 'spillway'
import { describe, expect, it } from 'vitest'
import { place, session, spillway, write } from '../support/cli.js'

const LONG = 'a line of output, 漢字\n'.repeat(9_000)

/** Makes the page of a session. */
async function pageOf(name: string, text: string, flags: readonly string[] = []): Promise<string> {
  const file = write(`${name}.jsonl`, text)
  const page = join(place, `${name}.html`)
  const ended = await spillway(['inspect', file, '--html', page, ...flags])
  expect(ended).toMatchObject({ code: 0, stdout: '', stderr: '' })
  expect(readFileSync(file, 'utf8')).toBe(text)
  return readFileSync(page, 'utf8')
}

/** The elements and attributes that pages consist of. */
const ELEMENTS =
  'b body code dd details div dl dt footer g h1 h2 head header html li mark meta p path pre rect section span style summary svg table tbody td th thead title tr ul'
const ATTRIBUTES =
  'aria-hidden aria-label charset class content d height http-equiv lang name preserveAspectRatio role scope tabindex viewBox width x y'

/** Reads the tags of a page as a browser does that finds no quote unescaped, and the text between
 *  them. */
function read(page: string) {
  const [before = '', style = '', after = ''] = page.split(/<\/?style>/)
  const tag = /<(\/?)([\w!]+)((?:\s+[\w-]+(?:="[^"<>]*")?)*)\s*\/?>/g
  const tags = [...`${before}${after}`.matchAll(tag)]
  const text = `${before}${after}`.replace(tag, '')
  const attributes = tags.flatMap(([, , , rest = '']) => [...rest.matchAll(/([\w-]+)(?:="([^"]*)")?/g)])
  return {
    style,
    text,
    elements: tags.map(([, , name = '']) => name),
    attributes: attributes.map(([, name = '', value = '']) => ({ name, value })),
    balance: tags.reduce((open, [whole, end = '', name = '']) => {
      const isVoid = whole.endsWith('/>') || /^(?:meta|!doctype)$/.test(name)
      open.set(name, (open.get(name) ?? 0) + (isVoid ? 0 : end ? -1 : 1))
      return open
    }, new Map<string, number>()),
  }
}

const HOSTILE = [
  '<script>window.owned = 1</script>',
  `"' onmouseover='alert(1)' x="`,
  '</style></title></pre></details><svg onload=alert(1)><img src=//127.0.0.1:9/ onerror=alert(1)>',
  '<meta http-equiv="refresh" content="0;url=//127.0.0.1:9/"><base href="//127.0.0.1:9/">',
  '&lt;b&gt; &amp; \u202eturned\u2066 \u0000 \u001b[31m \u009b2J \ud800 ]]> --> <!--',
]

describe('inspect --html', () => {
  it('writes one page that may load and run nothing', async () => {
    const page = await pageOf(
      'plain',
      session([
        ['bash', LONG],
        ['read', 'short'],
      ]),
    )
    const { style } = read(page)
    const hash = createHash('sha256').update(style).digest('base64')
    expect(page).toMatch(
      /^<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" /,
    )
    expect(page).toContain(
      `content="default-src &#39;none&#39;; style-src &#39;sha256-${hash}&#39;; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
    )
    expect(style).not.toMatch(/url\(|@import|<|expression/)
    expect(style).toContain('@media (prefers-color-scheme: dark)')
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1">')
  })

  it('shows hostile names and texts as text', async () => {
    const results = HOSTILE.map((text) => [text, `${text}\n`.repeat(3)] as [string, string])
    const all = HOSTILE.join('\n')
    const page = await pageOf(`it's <i>&`, session([...results, [all, `${all}\n`.repeat(2_000)]]))
    const { text, elements, attributes, balance } = read(page)
    expect(
      [...new Set(elements)].filter((name) => !`${ELEMENTS} !doctype`.split(' ').includes(name)),
    ).toEqual([])
    expect(
      attributes.map(({ name }) => name).filter((name) => !`${ATTRIBUTES} html`.split(' ').includes(name)),
    ).toEqual([])
    expect([...balance].filter(([, open]) => open !== 0)).toEqual([])
    for (const part of [text, ...attributes.map(({ value }) => value)])
      expect(part).not.toMatch(/[<>"']|&(?![a-z]+;|#39;)/)
    expect(page).not.toMatch(/[^\n\t\P{Cc}]|\p{Bidi_Control}|\p{Cs}/u)
    expect(page).toContain('<h1>it&#39;s &lt;i&gt;&amp;.jsonl</h1>')
    expect(page).toContain('&lt;script&gt;window.owned = 1&lt;/script&gt;')
    expect(page).toContain(
      '&amp;lt;b&amp;gt; &amp;amp; \\u202eturned\\u2066 \\u0000 \\u001b[31m \\u009b2J \ufffd',
    )
    // A name of any length takes a line.
    expect(page).toMatch(/<b>[^<]{60,400}\.\.\.<\/b>/)
  })

  it('tells the results and what a repair keeps of each', async () => {
    const results: [string, string][] = [
      ['bash', LONG],
      ['read', 'short text'],
      ['grep', `first\n${LONG}last`],
    ]
    const page = await pageOf('kept', session(results))
    const copy = join(place, 'kept-copy.jsonl')
    copyFileSync(join(place, 'kept.jsonl'), copy)
    await repairSession(copy, { backup: false })
    const rows = readFileSync(copy, 'utf8')
      .split('\n')
      .filter((row) => row.includes('"toolResult"'))
    const texts: string[] = rows.map((row) => JSON.parse(row).message.content[0].text)
    const [bash = '', read = '', grep = ''] = texts
    const chars = (text: string) => `${text.length.toLocaleString('en-US')} chars`
    const shown = [
      ...page.matchAll(
        /<summary><b>(\w+)<\/b> <span>line (\d+)<\/span> <span class="size">([\d,]+ chars), [\d.]+[KM]? tokens<\/span> <span class="(\w+)">([^<]*)</g,
      ),
    ]
    expect(shown.map(([, ...cells]) => cells)).toEqual([
      ['grep', '7', chars(results[2]?.[1] ?? ''), 'less', `a repair keeps ${chars(grep)}`],
      ['bash', '3', chars(LONG), 'less', `a repair keeps ${chars(bash)}`],
      ['read', '5', '10 chars', 'whole', 'a repair keeps all of it'],
    ])
    for (const text of [bash, read, grep]) {
      const plain = page.replaceAll('<mark>', '').replaceAll('</mark>', '')
      expect(plain).toContain(
        `<pre tabindex="0">${text.replaceAll('&', '&amp;').replaceAll("'", '&#39;')}</pre>`,
      )
    }
    expect(page).toMatch(/<mark>\[\.\.\. [\d,]+ more characters truncated\]<\/mark>/)
    expect(page).toContain('<b>2</b> <span>2 results over the limits</span>')
    expect(page).toContain(`<code>spillway repair ${join(place, 'kept.jsonl')}</code>`)
  })

  it('says so if there is nothing to cut', async () => {
    const page = await pageOf('within', session([['bash', 'short']]))
    expect(page).toContain('<span>all within the limits</span>')
    expect(page).toContain('<span>nothing to cut</span>')
    expect(page).not.toContain('To cut it')
    const empty = await pageOf('empty', '')
    expect(empty).toContain('<p>No messages.</p>')
  })

  it('takes the policy and --top, in the line that repairs too', async () => {
    const text = session(
      Array.from({ length: 14 }, (_, at) => [`tool${at}`, 'word '.repeat(99 + at)] as [string, string]),
    )
    const page = await pageOf('policy', text, ['--max-chars', '400', '--top', '3'])
    expect(page.match(/<details>/g)).toHaveLength(3)
    expect(page).toContain(`<code>spillway repair --max-chars 400 ${join(place, 'policy.jsonl')}</code>`)
    expect((await pageOf('policy', text)).match(/<details>/g)).toHaveLength(10)
    const { oversized } = await inspectSession(join(place, 'policy.jsonl'), { maxChars: 400 })
    expect(page).toContain(`<b>${oversized}</b> <span>${oversized} results over the limits</span>`)
  })

  it('says why each result is cut, and where', async () => {
    const lines = 'x\n'.repeat(3_000)
    const page = await pageOf(
      'why',
      session([
        ['bash', lines],
        ['read', 'y'.repeat(60_000)],
        ['grep', 'short'],
      ]),
    )
    const reasons = [...page.matchAll(/<b>(\w+)<\/b>[^\n]*?<span class="why">([^<]*)<\/span>/g)]
    expect(reasons.map(([, tool, why]) => [tool, why])).toEqual([
      ['read', 'over the limits: 60.0 KB of 51.2 KB'],
      ['bash', 'over the limits: 3,000 lines of 2,000'],
    ])
    expect(page).toContain('Bars: the full color is what a repair keeps, the pale color what it cuts.')
    const tight = await pageOf('why', session([['bash', lines]]), ['--max-chars', '400', '--max-lines', '5'])
    expect(tight).toContain('over the limits: 3,000 lines of 5, 6,000 chars of 400')
    expect(tight).toMatch(/<pre[^>]*>(?:(?!<\/pre>)[\s\S])*<mark>/)
  })

  it('--window draws a window and says whether the context fits', async () => {
    const text = session([
      ['read', 'short'],
      ['bash', LONG],
    ])
    const windowOf = async (window: string) => {
      const page = await pageOf('window', text, ['--window', window])
      const [, value, note] = /<dt>Window<\/dt><dd><b>([^<]*)<\/b> <span>([^<]*)</.exec(page) ?? []
      return { value, note, lines: page.match(/<path class="window"/g)?.length ?? 0 }
    }
    expect(await windowOf('60K')).toEqual({
      value: '60K tokens',
      note: expect.stringMatching(/^exceeded from line 5 on; a repair makes it fit, \d+% used$/),
      lines: 2,
    })
    expect((await windowOf('20')).note).toMatch(/^exceeded from line \d on; not after a repair either/)
    expect(await windowOf('10M')).toMatchObject({
      value: '10M tokens',
      note: expect.stringMatching(/^the context fits/),
      lines: 0,
    })
    expect(await pageOf('window', text)).not.toContain('<path class="window"')
  })

  it('draws a long session in as many columns as a screen has room for, up to the whole', async () => {
    const text = session(
      Array.from({ length: 700 }, (_, at) => [`tool${at % 9}`, `${at} `.repeat(30)] as [string, string]),
    )
    const page = await pageOf('long', text)
    const notes = [
      ...page.matchAll(
        /<title>lines? (\d+)(?: to (\d+))?: ([\d,]+) tokens, ([\d,]+) after a repair<\/title>/g,
      ),
    ]
    expect(notes.length).toBeGreaterThan(60)
    expect(notes.length).toBeLessThanOrEqual(120)
    expect([notes[0]?.[1], notes.at(-1)?.[2]]).toEqual(['2', '1401'])
    const totals = notes.map(([, , , total = '']) => Number(total.replaceAll(',', '')))
    expect(totals).toEqual([...totals].sort((one, other) => one - other))
    // Bars stand on each other and reach the total.
    const heights = [
      ...page.matchAll(/<rect class="s\d" x="(\d+)" y="([\d.]+)" width="1" height="([\d.]+)"/g),
    ]
    const last = heights.filter(([, x]) => x === heights.at(-1)?.[1])
    expect(last).toHaveLength(7)
    for (const [at, [, , y]] of last.slice(1).entries())
      expect(Number(y) + Number(last[at + 1]?.[3])).toBeCloseTo(Number(last[at]?.[2]), 1)
  })

  it('names the tools of other formats by their calls', async () => {
    const rows = [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'toolu_1', name: 'search_docs', input: { q: 'x' } }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: LONG }] },
    ]
    const page = await pageOf('anthropic', rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    expect(page).toContain('<th scope="row">search_docs</th><td>1</td>')
    expect(page).toContain('<summary><b>search_docs</b> <span>line 3</span>')
  })

  it('keeps lines apart only at newlines, and rows that are damaged out', async () => {
    const text = session([['bash', 'one\u2028two\u2029three\rfour']])
    const page = await pageOf('separators', `${text}{"damaged\n`)
    expect(page).toContain('<b>bash</b> <span>line 3</span>')
    expect(page).toContain('in 4 rows')
  })

  it('leaves nothing but the page', async () => {
    const temporary = join(place, 'temporary')
    mkdirSync(temporary, { recursive: true })
    const file = write('clean.jsonl', session([['bash', LONG]]))
    await spillway(['inspect', file, '--html', join(place, 'clean.html')], { env: { TMPDIR: temporary } })
    expect(readdirSync(temporary)).toEqual([])
    expect(existsSync(`${file}.bak`)).toBe(false)
  })

  it.each([
    [['one.jsonl', 'two.jsonl', '--html', 'p.html'], 2, '--html makes a page of one session; give one FILE'],
    [
      ['one.jsonl', '--json', '--html', 'p.html'],
      2,
      '--html and --json cannot be combined; give one of them',
    ],
    [['one.jsonl', '--window', '200K'], 2, '--window needs --html'],
    [
      ['one.jsonl', '--html', 'p.html', '--window', 'big'],
      2,
      '--window takes tokens such as 200000, 200K or 1M, not "big"',
    ],
    [['one.jsonl', '--html', './one.jsonl'], 2, '--html would replace one.jsonl; give another file'],
    [['one.jsonl', '--html', 'none/p.html'], 1, 'none/p.html: no such file; check the path'],
    [['gone.jsonl', '--html', 'p.html'], 1, 'gone.jsonl: no such file; check the path'],
    [['config.json', '--html', 'p.html'], 1, 'config.json: unrecognized session format (format unknown)'],
  ])('%j is a mistake that one line tells', async (args, exit, told) => {
    for (const name of ['one.jsonl', 'two.jsonl']) write(name, session([['bash', 'short']]))
    write('config.json', '{"compilerOptions":{}}')
    const { code, stdout, stderr } = await spillway(['inspect', ...args])
    expect([code, stdout]).toEqual([exit, ''])
    expect(stderr).toMatch(/^spillway inspect: [^\n]*\n$/)
    expect(stderr).toContain(told)
    expect(existsSync(join(place, 'p.html'))).toBe(false)
    expect(readFileSync(join(place, 'one.jsonl'), 'utf8')).toBe(session([['bash', 'short']]))
  })
})

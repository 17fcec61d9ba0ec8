import * as fc from 'fast-check'
import {
  type CleanOptions,
  clampError,
  clampResult,
  cleanText,
  estimateTokens,
  type Notice,
  wrapTool,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { hostileText } from '../support/hostile.js'

const runs = { numRuns: 2_000 }
const ESC = '\x1b'

const some = <T>(count: number, make: (at: number) => T) => Array.from({ length: count }, (_, at) => make(at))

describe('cleanText, of what tools print', () => {
  const bar = (done: number, width: number) => '━'.repeat(done) + ' '.repeat(width - done)
  const outputs: Record<string, [printed: string, shown: string]> = {
    'cargo: colour and a progress line that each message replaces': [
      [
        `${ESC}[1m${ESC}[32m   Compiling${ESC}[0m serde v1.0.229\n`,
        `${ESC}[1m${ESC}[36m    Building${ESC}[0m [=====>      ] 1/3: serde\r${ESC}[K`,
        `${ESC}[1m${ESC}[32m   Compiling${ESC}[0m spillway v0.1.0 (/src)\n`,
        `${ESC}[1m${ESC}[36m    Building${ESC}[0m [==========> ] 2/3: spillway\r${ESC}[K`,
        `${ESC}[1m${ESC}[33mwarning${ESC}[0m${ESC}[1m: unused variable: \`x\`${ESC}[0m\n`,
        `${ESC}[1m${ESC}[32m    Finished${ESC}[0m \`dev\` profile in 1.26s\n`,
      ].join(''),
      [
        '   Compiling serde v1.0.229\n   Compiling spillway v0.1.0 (/src)\n',
        'warning: unused variable: `x`\n    Finished `dev` profile in 1.26s\n',
      ].join(''),
    ],
    'npm: a spinner between its lines': [
      `npm warn old lockfile\n${some(40, (at) => `${ESC}[1G${ESC}[0K${'⠙⠹⠸⠼'[at % 4]}`).join('')}${ESC}[1G${ESC}[0K\nadded 178 packages in 2s\n`,
      'npm warn old lockfile\n\nadded 178 packages in 2s\n',
    ],
    'pip: a bar that is drawn again in place, the cursor hidden': [
      `Collecting numpy\n${ESC}[?25l${some(5, (at) => `\r${ESC}[2K   ${ESC}[31m${bar(at * 2, 8)}${ESC}[0m ${at * 4}.0/16.0 MB`).join('')}\n${ESC}[?25hDone\n`,
      `Collecting numpy\n   ${bar(8, 8)} 16.0/16.0 MB\nDone\n`,
    ],
    'git clone: counters by carriage return alone': [
      [
        "Cloning into 'repo'...\n",
        some(101, (at) => `remote: Counting objects: ${`${at}`.padStart(3)}% (${at}/100)\r`).join(''),
        'remote: Counting objects: 100% (100/100), done.\n',
        some(
          101,
          (at) => `Receiving objects: ${`${at}`.padStart(3)}% (${at}/100), 1.20 MiB | 2.00 MiB/s\r`,
        ).join(''),
        'Receiving objects: 100% (100/100), 2.40 MiB | 2.10 MiB/s, done.\n',
      ].join(''),
      [
        "Cloning into 'repo'...\nremote: Counting objects: 100% (100/100), done.\n",
        'Receiving objects: 100% (100/100), 2.40 MiB | 2.10 MiB/s, done.\n',
      ].join(''),
    ],
    'wget: a bar that a shorter one covers with blanks': [
      `Saving to: 'a.tar'\n\n${some(4, (at) => `\ra.tar  ${at * 30}%[${'='.repeat(at * 3)}>${' '.repeat(9 - at * 3)}] ${at}M  eta ${9 - at}s`).join('')}\ra.tar 100%[==========>] 4M  in 3s   \n`,
      `Saving to: 'a.tar'\n\na.tar 100%[==========>] 4M  in 3s\n`,
    ],
    'docker: layers drawn anew over three lines': [
      `Pulling web\n${some(30, (at) => `${at === 0 ? '' : `${ESC}[3A`}${['a1', 'b2', 'c3'].map((layer) => `${ESC}[2K\r${layer}: ${at < 29 ? `Downloading ${at} MB` : 'Pull complete'}\n`).join('')}`).join('')}Status: done\n`,
      'Pulling web\na1: Pull complete\nb2: Pull complete\nc3: Pull complete\nStatus: done\n',
    ],
    'compose: one line of many, and back down': [
      `a: waiting\nb: waiting\nc: waiting\n${ESC}[2A\r${ESC}[2Kb: started${ESC}[2B\r${ESC}[3A${ESC}[2Ka: started${ESC}[3B\rall up\n`,
      'a: started\nb: started\nc: waiting\nall up\n',
    ],
    'a list of tasks that gets shorter when it is done': [
      `${some(9, (at) => `${at === 0 ? '' : `${ESC}[2K${ESC}[1A`.repeat(3)}${ESC}[2K${ESC}[G⠋ build\n  ⠋ step ${at}\n  ⠋ more\n`).join('')}${ESC}[3A${ESC}[J✔ build\n`,
      '✔ build\n',
    ],
    'a colour diff, with hyperlinks': [
      `${ESC}[1mdiff --git a/x b/x${ESC}[m\n${ESC}[36m@@ -1,2 +1,2 @@${ESC}[m\n ${ESC}]8;;file:///x${ESC}\\same${ESC}]8;;${ESC}\\\n${ESC}[31m-\told${ESC}[m\n${ESC}[32m+${ESC}[m\t${ESC}[32mnew${ESC}[m\n`,
      'diff --git a/x b/x\n@@ -1,2 +1,2 @@\n same\n-\told\n+\tnew\n',
    ],
    'a spinner of 10,000 frames that ends in a result': [
      `${some(10_000, (at) => `\r${'|/-\\'[at % 4]} working ${at}`).join('')}\r${ESC}[Kok, 3 files changed\n`,
      'ok, 3 files changed\n',
    ],
    'a manual page, struck over': ['N\bNA\bAM\bME\bE\n     _\bl_\bs - list\n', 'NAME\n     ls - list\n'],
    'a retry that says the same': [
      `start\n${'connecting to db:5432 ... refused\n'.repeat(300)}gave up\n`,
      'start\nconnecting to db:5432 ... refused\n[previous line 299 more times]\ngave up\n',
    ],
  }

  it.each(Object.entries(outputs))('%s', (_, [printed, shown]) => {
    expect(cleanText(printed)).toBe(shown)
    expect(cleanText(Buffer.from(printed))).toBe(shown)
    expect(cleanText(shown)).toBe(shown)
  })
})

describe('cleanText', () => {
  it('shows what a terminal would show', () => {
    for (const [text, shown] of [
      ['abcdef\rxy', 'xycdef'],
      ['a\r\nb\r\r\nc\r', 'a\nb\nc'],
      ['漢字です\r😀', '😀字です'],
      ['\0a\x07\x7f\u0085\tb\v', 'a\tb'],
      ['\u009b31mred\u009b0m \u009d0;title\u0007x', 'red x'],
      ['no end \x1b]0;title', 'no end ]0;title'],
      ['no end \x1b]0;title\nnext \x1b[', 'no end ]0;title\nnext ['],
      ['\n\n\nx', '\n[previous line 2 more times]\nx'],
      ['', ''],
    ] as const)
      expect(cleanText(text)).toBe(shown)
  })

  it('leaves what is switched off', () => {
    const text = `${ESC}[1mab${ESC}[0m\rc\x07\r\n\n\n\n`
    const all = { ansi: false, carriageReturns: false, control: false, repeats: false }
    expect(cleanText(text, all)).toBe(text)
    expect(cleanText(Buffer.from(text), all)).toBe(text)
    expect(cleanText(text, { ...all, ansi: true })).toBe('ab\rc\x07\r\n\n\n\n')
    expect(cleanText(text, { ...all, carriageReturns: true })).toBe(`${ESC}[0mc\x07\n\n\n\n`)
    expect(cleanText(text, { ...all, control: true })).toBe(text.replace('\x07', ''))
    expect(cleanText(text, { ...all, repeats: true })).toBe(
      `${ESC}[1mab${ESC}[0m\rc\x07\r\n\n[previous line 2 more times]\n`,
    )
    expect(cleanText(text, {})).toBe('cb\n\n[previous line 2 more times]\n')
  })

  it('returns the same string, ill-formed too, when there is nothing to clean', () => {
    const lone = 'a\ud800b'
    for (const text of [lone, `${lone}\n`.repeat(2), `${'x\ty\n'.repeat(2)}é\n`, 'ab\n'.repeat(2) + lone])
      expect(cleanText(text)).toBe(text)
    // Text that a first look stumbles over may have nothing to clean either.
    expect(cleanText(`${ESC}[1m${lone}`, { ansi: false })).toBe(`${ESC}[1m${lone}`)
    expect(cleanText(`${lone}\r`)).toBe('a\ufffdb')
    expect(cleanText(`😀${lone}\0`)).toBe('😀a\ufffdb')
  })

  it('reads bytes as the platform decodes them', () => {
    const bytes = fc.uint8Array({ maxLength: 200 }).map((bytes) => bytes.map((byte) => byte | 0x20))
    fc.assert(
      fc.property(bytes, (bytes) => {
        const decoded = Buffer.from(bytes).toString()
        expect(cleanText(bytes)).toBe(cleanText(decoded))
      }),
      runs,
    )
    const shared = new Uint8Array(new SharedArrayBuffer(3))
    shared.set(Buffer.from('a\rb'))
    expect(cleanText(shared)).toBe('b')
  })

  const flag = fc.boolean()
  const options = fc.record<Required<CleanOptions>>({
    ansi: flag,
    carriageReturns: flag,
    control: flag,
    repeats: flag,
    html: flag,
  })
  const pieces = fc.constantFrom(
    ESC,
    '[',
    ']',
    'K',
    '2A',
    'm',
    '\x07',
    '\b',
    '\r',
    '\x9b',
    '\\',
    '\x7f',
    '\t',
    '<p>',
    '<li>&lt;a',
  )
  const dirty = fc.array(fc.oneof(hostileText, pieces), { maxLength: 12 }).map((parts) => parts.join(''))

  it('is idempotent, and strings and bytes come to the same', () => {
    fc.assert(
      fc.property(dirty, options, (text, options) => {
        const once = cleanText(text, options)
        expect(cleanText(once, options)).toBe(once)
        if (text.isWellFormed()) expect(cleanText(Buffer.from(text), options)).toBe(once)
      }),
      runs,
    )
  })

  it('reads a long text in pieces as it would read it whole', () => {
    const line = `${ESC}[32m漢字 ok 😀${ESC}[0m \r\n`
    for (const shift of some(40, (at) => at * 3)) {
      const text = `${'y'.repeat(shift)}\n${some(9_000, (at) => `${at}${line}`).join('')}`
      const shown = `${'y'.repeat(shift)}\n${some(9_000, (at) => `${at}漢字 ok 😀 \n`).join('')}`
      expect(cleanText(text) === shown).toBe(true)
    }
  })

  it('sees repeated lines wherever a piece ends', { tags: 'long' }, () => {
    const lines = (count: number) => some(count, (at) => `line ${at}\n`).join('')
    for (const line of ['', 'same', 'é', '漢', 'z'.repeat(4_096)]) {
      for (let before = 5_200; before < 6_700; before += line.length > 99 ? 160 : 21) {
        const text = `${lines(before)}${`${line}\n`.repeat(3)}${lines(900)}`
        const shown = `${lines(before)}${line}\n[previous line 2 more times]\n${lines(900)}`
        expect(cleanText(text) === shown).toBe(true)
      }
    }
    const long = `${'z'.repeat(4_097)}\n`.repeat(30)
    expect(cleanText(long) === long).toBe(true)
    const longest = `${'w'.repeat(40_000)}\n\n${'w'.repeat(40_000)}\n\n`
    expect(cleanText(longest) === longest).toBe(true)
  })

  it('takes 10 MB of anything', { tags: 'long' }, () => {
    const ten = (part: string) => part.repeat(Math.ceil(1e7 / part.length))
    expect(cleanText(ten(`${ESC}[1;31m`))).toBe('')
    expect(cleanText(ten('line '))).toHaveLength(1e7)
    expect(cleanText(`${ten('line ')}\r`)).toHaveLength(1e7)
    expect(cleanText(ten(ESC))).toBe('')
    expect(cleanText(ten(`${ESC}[A`))).toBe('')
    expect(cleanText(ten('\b'))).toBe('')
    expect(cleanText(ten('a\rb\r'))).toBe('b')
    expect(cleanText(ten('\n'))).toBe('\n[previous line 9999999 more times]\n')
    expect(cleanText(`${ESC}]0;${'x'.repeat(1e7)}`)).toHaveLength(1e7 + 3)
    expect(cleanText(ten(`${ESC}]0;x`))).toMatch(/^(\]0;x)+$/)
    expect(cleanText(Buffer.alloc(1e7, 0xff))).toMatch(/^\ufffd+$/)
  })

  it('checks its options, each read once', () => {
    const any = (value: unknown) => value as never
    for (const field of ['ansi', 'carriageReturns', 'control', 'repeats', 'html']) {
      for (const [value, shown] of [
        [1, '1'],
        ['yes', '"yes"'],
        [null, 'null'],
      ]) {
        const call = () => cleanText('', any({ [field as string]: value }))
        expect(call).toThrow(TypeError)
        expect(call).toThrow(`${field} must be true or false, got ${shown}`)
        expect(call).toThrow(expect.objectContaining({ code: 'ERR_SPILLWAY_OPTION' }))
      }
    }
    for (const options of [null, 5, 'ansi', true, () => 0])
      expect(() => cleanText('', any(options))).toThrow(TypeError)
    for (const text of [undefined, null, 5, {}, ['a']]) expect(() => cleanText(any(text))).toThrow(TypeError)
    expect(cleanText('a\r', any({ ansi: undefined }))).toBe('a')
    let reads = 0
    const once = {
      get ansi() {
        reads += 1
        return true
      },
    }
    cleanText('a\r', once)
    expect(reads).toBe(1)
  })
})

describe('clean, in a policy', () => {
  const red = (text: string) => `${ESC}[31m${text}${ESC}[0m`
  const result = (...texts: string[]) => ({ content: texts.map((text) => ({ type: 'text', text })) })

  it('cleans strings and blocks before they are clamped', () => {
    expect(clampResult(red('done'), { clean: true })).toBe('done')
    expect(clampResult(result(red('a'), 'b'), { clean: true })).toEqual(result('a', 'b'))
    const spinner = result(`${some(20_000, (at) => `\r${'|/-'[at % 3]} ${at}`).join('')}\rready\n`, 'ok')
    expect(clampResult(spinner, { clean: true, maxChars: 20 })).toEqual(result('ready99\n', 'ok'))
  })

  it('gives the same value back where there is nothing to clean', () => {
    const one = result('plain', 'text\n')
    expect(clampResult(one, { clean: true })).toBe(one)
    expect(clampResult(one, { clean: false })).toBe(one)
    expect(clampResult(result(red('a')), { clean: { ansi: false } })).toEqual(result(red('a')))
  })

  it('changes nothing a second time, though a notice makes lines alike', () => {
    const code = some(400, (at) => `def f${at}():\n    return ${at}\n\n\n`).join('')
    for (const keep of ['head', 'tail', 'ends', 'findings', 'relevant'] as const) {
      for (let maxBytes = 200; maxBytes < 900; maxBytes += 13) {
        const policy = { clean: true, maxBytes, keep }
        const once = clampResult(code, policy)
        expect(clampResult(once, policy)).toBe(once)
      }
    }
    const alike = some(10, (at) => `request failed with ${'x'.repeat(100)}${at}`).join('\n')
    const lined = clampResult(alike, { clean: true, maxLineBytes: 60 })
    expect(clampResult(lined, { clean: true, maxLineBytes: 60 })).toBe(lined)
  })

  it('changes nothing a second time, though equal lines meet in a cut that nothing tells of', () => {
    const met = `same\nsame\n${'other text '.repeat(30)}\nsame\nsame\n`
    expect(clampResult(met, { clean: true, maxChars: 20, keep: 'ends', notice: false })).toBe('same\nsame\n')
    const line = fc.constantFrom('same', '', 'same as', 'error: x', 'a line of its own', '[+9 chars', '漢')
    const lines = fc
      .array(fc.tuple(line, fc.integer({ min: 1, max: 4 })), { maxLength: 40 })
      .map((runs) => runs.flatMap(([line, times]) => Array<string>(times).fill(line)).join('\n'))
    const notice = fc.constantFrom<Notice>(
      false,
      '{omittedChars} gone',
      '\n\n{keptLines}\n',
      'same\nsame\n{omittedLines}',
      () => '\n',
      ({ omittedChars }) => `<${omittedChars}>`,
      'hint',
      'pi',
      'count',
    )
    const keep = fc.constantFrom(
      'head' as const,
      'tail' as const,
      'ends' as const,
      'findings' as const,
      'relevant' as const,
    )
    const limits = fc.record(
      { maxChars: fc.nat(200), maxLines: fc.nat(20), maxTokens: fc.nat(60), maxLineBytes: fc.nat(30) },
      { requiredKeys: [] },
    )
    const snap = fc.constantFrom('line' as const, 'char' as const)
    fc.assert(
      fc.property(
        fc.array(lines, { minLength: 1, maxLength: 3 }),
        limits,
        keep,
        notice,
        snap,
        (texts, limits, keep, notice, snap) => {
          const policy = { ...limits, keep, notice, snap, clean: true }
          for (const given of [texts[0] ?? '', result(...texts)]) {
            const once = clampResult(given, policy)
            expect(clampResult(once, policy)).toEqual(once)
            const all = typeof once === 'string' ? [once] : once.content.map(({ text }) => text)
            const tokens = all.reduce((sum, text) => sum + estimateTokens(text), 0)
            expect(all.join('').length).toBeLessThanOrEqual(limits.maxChars ?? Number.POSITIVE_INFINITY)
            expect(tokens).toBeLessThanOrEqual(limits.maxTokens ?? Number.POSITIVE_INFINITY)
          }
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('makes no block empty', () => {
    const bare = result(`${ESC}[2J${ESC}[H`, 'x')
    expect(clampResult(bare, { clean: true })).toEqual(result('\u241b[2J\u241b[H', 'x'))
    expect(clampResult('\r\n', { clean: true })).toBe('\n')
  })

  it('cleans what a tool throws, yields and tells on the way', async () => {
    const seen: unknown[] = []
    const tool = wrapTool(
      {
        execute: async (
          _id: string,
          _input: object,
          _signal: undefined,
          update: (partial: object) => void,
        ) => {
          update(result(red('half')))
          throw new Error(red('no such file'))
        },
      },
      { clean: true },
    )
    await expect(tool.execute('1', {}, undefined, (partial) => seen.push(partial))).rejects.toThrow(
      /^no such file$/,
    )
    expect(seen).toEqual([result('half')])
    expect(clampError(new Error(red('raw')), { clean: true }).message).toBe('raw')
  })
})

describe('a result that is cleaned and clamped again', () => {
  it('stays, whatever its JSON holds', () => {
    const part = fc.constantFrom(
      '\x7f',
      '\x9b31m',
      '\x80',
      '\u00a0',
      '漢',
      '\ud83d',
      'long word ',
      '"\\',
      '\n',
      '\x1b[1m',
    )
    const words = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''))
    fc.assert(
      fc.property(words, words, fc.nat(120), fc.constantFrom('pi', 'hint'), (a, b, maxChars, notice) => {
        const policy = { clean: true, maxChars, notice }
        for (const value of [{ a, b }, [a, [b]], { [a]: b }]) {
          const once = clampResult({ type: 'json', value }, policy)
          expect(clampResult(once, policy)).toEqual(once)
          if ((once.type as string) === 'text') expect(once.value).not.toMatch(/[\x7f-\x9f]/)
        }
      }),
      { numRuns: 1_000 },
    )
  })
})

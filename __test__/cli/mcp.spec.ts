import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, expect, it } from 'vitest'
import { end, place, seq, spillway, start, write } from '../support/cli.js'

/** A server whose answer to each tool is what the tool's name says, without a library. */
const SERVER = `
const say = (message) => process.stdout.write(JSON.stringify(message) + '\\n')
const text = (text) => ({ content: [{ type: 'text', text }] })
const big = Array.from({ length: 9000 }, (_, at) => (at + 1) + '\\n').join('')
const lines = require('node:readline').createInterface({ input: process.stdin })
const late = []
const answer = ({ id, method, params }) => {
  if (method === 'tools/list') {
    const cursor = params?.cursor
    const outputSchema = { type: 'object', required: ['rows', 'next'], properties: { rows: { type: 'array', minItems: 2 }, next: { format: 'uri' } } }
    const last = [{ name: 'table', inputSchema: {}, outputSchema }, { name: 'whole', inputSchema: {}, outputSchema: { not: {} } }, { name: 'free', inputSchema: {} }]
    const tools = cursor ? last : [{ name: process.argv[2] ?? 'big', inputSchema: {} }]
    return { jsonrpc: '2.0', id, result: cursor ? { tools } : { tools, nextCursor: 'next' } }
  }
  const { name } = params ?? {}
  if (name === 'boom') return { jsonrpc: '2.0', id, error: { code: -32000, message: 'boom' } }
  if (name === 'page') return { jsonrpc: '2.0', id, result: text('<!DOCTYPE html><html><body><p>One &amp; two</p></body></html>') }
  if (name === 'small') return { jsonrpc: '2.0', id, result: text('small') }
  if (['table', 'whole', 'free'].includes(name)) {
    const rows = big.split('\\n').map((n) => n === '7777' ? 'row 7777: error: disk full' : 'row ' + n)
    const structuredContent = { rows, next: 'https://example.org/' + 'page/'.repeat(40) }
    return { jsonrpc: '2.0', id, result: { ...text(JSON.stringify(structuredContent)), structuredContent } }
  }
  return { jsonrpc: '2.0', id, result: text(big) }
}
lines.on('line', (line) => {
  const message = JSON.parse(line)
  if (Array.isArray(message)) return say(message.map(answer))
  const { id, method, params } = message
  if (params?.name === 'exit') process.exit(7)
  if (params?.name === 'kill') process.kill(process.pid, 'SIGKILL')
  if (params?.name === 'garbage') process.stdout.write('no JSON\\n{"half": \\n')
  if (params?.name === 'huge') {
    const part = Buffer.alloc(1 << 20, 'x')
    process.stdout.write('{"result":{"content":[{"type":"text","text":"')
    for (let at = 0; at < 80; at++) process.stdout.write(part)
    return process.stdout.write('"}]},"jsonrpc":"2.0","id":' + JSON.stringify(id) + '}\\n')
  }
  if (params?.name === 'late') return late.push(answer(message))
  if (id !== undefined && method) say(answer(message))
  if (id === undefined || !method) say({ jsonrpc: '2.0', method: 'notifications/message', params: { got: line } })
  while (params?.name === 'small' && late.length) say(late.pop())
})
lines.on('close', () => process.stderr.write('server saw the end\\n'))
`
const server = write('server.js', SERVER)
const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const call = (id: unknown, name: string, args = {}) =>
  line({ id, method: 'tools/call', params: { name, arguments: args } })

const lists =
  line({ id: 8, method: 'tools/list' }) + line({ id: 9, method: 'tools/list', params: { cursor: 'next' } })

/** Sends lines, and returns what came back with and without the proxy. */
async function both(input: string, flags: readonly string[] = []) {
  const [plain, through] = await Promise.all([
    spillway(['mcp', '--max-bytes', 'Infinity', '--max-lines', 'Infinity', '--', process.execPath, server], {
      input,
    }),
    spillway(['mcp', ...flags, '--', process.execPath, server], { input }),
  ])
  return { plain: plain.stdout, ...through }
}

const parsed = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('spillway mcp', () => {
  it('turns pages of HTML into text with --clean-html', async () => {
    const { plain, stdout } = await both(call(1, 'page'), ['--clean-html'])
    expect(plain).toContain('<p>One &amp; two</p>')
    expect(parsed(stdout)[0].result.content).toEqual([{ type: 'text', text: 'One & two' }])
  })

  it('truncates results, and nothing else', async () => {
    const input = [
      call(1, 'big'),
      call('1', 'small'),
      call(2, 'boom'),
      line({ method: 'notifications/cancelled', params: { requestId: 99, reason: 'é\u2028' } }),
      line({ id: 's1', result: { role: 'assistant' } }),
      line({ id: 3, method: 'ping' }),
    ].join('')
    const { plain, stdout, stderr, code } = await both(input, ['--max-bytes', '2K'])
    expect([code, stderr]).toEqual([0, 'server saw the end\n'])
    const [first, ...others] = stdout.split('\n')
    expect(others).toEqual(plain.split('\n').slice(1))
    const { id, result } = JSON.parse(first ?? '')
    expect(id).toBe(1)
    expect(result.content[0].text).toContain('[tool output truncated: ')
    expect(Buffer.byteLength(result.content[0].text)).toBeLessThanOrEqual(2_048)
    expect(parsed(plain)[0].result.content[0].text).toBe(seq(9_000))
    expect(parsed(stdout)[3].params.got).toBe(input.split('\n')[3])
    expect(parsed(stdout)[4].params.got).toBe(input.split('\n')[4])
  })

  it('passes lines that are not JSON, and answers out of order', async () => {
    const input = call(1, 'late') + call('1', 'late') + call(2, 'garbage') + call(3, 'small')
    const { stdout } = await both(input, ['--max-lines', '9'])
    const [garbage, half, ...answers] = stdout.trimEnd().split('\n')
    expect([garbage, half]).toEqual(['no JSON', '{"half": '])
    const messages = answers.map((answer) => JSON.parse(answer))
    expect(messages.map(({ id }) => id)).toEqual([2, 3, '1', 1])
    const truncated = messages.map(({ result }) => result.content[0].text.includes('truncated'))
    expect(truncated).toEqual([true, false, true, true])
  })

  it('takes batches apart', async () => {
    const calls = [call(1, 'big'), call(2, 'small')].map((one) => JSON.parse(one))
    const { plain, stdout } = await both(`${JSON.stringify(calls)}\n`, ['--max-lines', '9'])
    const [one, two] = parsed(stdout)[0]
    expect(one.result.content[0].text).toContain('truncated')
    expect(two).toEqual(parsed(plain)[0][1])
  })

  it('cuts structured content by the schema of its tool, and tells what is missing', async () => {
    const { stdout, stderr } = await both(lists + call(1, 'table') + call(2, 'free'), ['--max-bytes', '4K'])
    const [, , table, free] = parsed(stdout)
    for (const { result } of [table, free]) {
      const { content, structuredContent } = result
      const texts = content.map(({ text }: { text: string }) => text)
      const json = JSON.stringify(structuredContent)
      expect(Buffer.byteLength(json + texts.join(''))).toBeLessThanOrEqual(4_096)
      expect(structuredContent.rows).toContain('row 7777: error: disk full')
      expect(structuredContent.rows.length).toBeGreaterThan(100)
      expect(texts).toHaveLength(2)
      const missing = 9_001 - structuredContent.rows.length
      const told = `^\\[structured content truncated: [\\d,]+ of [\\d,]+ bytes kept, ${missing.toLocaleString('en-US')} elements omitted(, 1 string shortened)?; ask for less`
      expect(texts[1]).toMatch(new RegExp(told))
    }
    expect(table.result.structuredContent.next).toBe(`https://example.org/${'page/'.repeat(40)}`)
    expect(stderr).toBe('server saw the end\n')
  })

  it.each([
    [
      'a schema that tells nothing of a part',
      lists,
      'whole',
      [],
      51_200,
      /^\[structured content of 98,\d+ bytes left out: less of it would not match its schema; ask for less/,
    ],
    ['a tool that was not listed', '', 'table', [], 51_200, /^\[structured content truncated: /],
    ['limits for a few words', lists, 'free', ['--max-bytes', '200'], 200, /^(?!\[structured)/],
  ])('bounds structured content of %s', { tags: 'long' }, async (_, before, name, flags, most, said) => {
    const { stdout } = await both(before + call(1, name), flags)
    const { content, structuredContent } = parsed(stdout).at(-1).result
    const texts = content.map(({ text }: { text: string }) => text)
    const shown = [...texts, structuredContent === undefined ? '' : JSON.stringify(structuredContent)]
    expect(Buffer.byteLength(shown.join(''))).toBeLessThanOrEqual(most)
    expect(texts.at(-1)).toMatch(said)
  })

  it('tells on stderr what the limits leave no room to tell', async () => {
    const { stderr } = await both(lists + call(1, 'free'), ['--max-bytes', '200'])
    expect(stderr).toMatch(/^spillway mcp: "free": \[structured content truncated: /m)
  })

  it('drops the copy of a tool whose list names no schema', { tags: 'long' }, async () => {
    for (const [before, isKept] of [
      ['', false],
      [lists, true],
    ] as const) {
      const { stdout } = await both(before + call(1, 'table'), ['--structured', 'text'])
      expect('structuredContent' in parsed(stdout).at(-1).result).toBe(isKept)
    }
  })

  it.each(['off', 'observe'])('passes every message byte for byte under SPILLWAY=%s', {
    tags: 'long',
  }, async (SPILLWAY) => {
    const odd = '{"jsonrpc":"2.0", "id": 7.0,"method":"tools/call","params":{"name":"free"}}\n'
    const input = [lists, call(1, 'big'), call(2, 'boom'), call(3, 'table'), odd].join('')
    const [through, plain] = await Promise.all([
      spillway(['mcp', '--max-bytes', '2K', '--dir', 'unused', '--', process.execPath, server], {
        input,
        env: { SPILLWAY },
      }),
      execFileSync(process.execPath, [server], {
        input,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      }),
    ])
    expect(through.stdout).toBe(plain)
    expect(through.stderr.split('\n').filter((line) => line.startsWith('spillway '))).toHaveLength(1)
    expect(existsSync(join(place, 'unused'))).toBe(false)
  })

  it('drops a message of over 64 MiB, and answers its call', async () => {
    const input = call('a "long" one', 'huge') + call(2, 'small')
    const { code, stdout } = await spillway(['mcp', '--', process.execPath, server], { input })
    expect(code).toBe(0)
    const [dropped, small] = parsed(stdout)
    expect([dropped.id, small.id]).toEqual(['a "long" one', 2])
    expect(dropped.error.message).toMatch(/^a message of 838861\d\d bytes is over 67108864 and was dropped/)
  })

  it.each([
    ['big', 'read_output'],
    ['read_output', 'read_output_2'],
  ])('saves results, and reads them with a tool (%s has that name already: %s)', async (taken, name) => {
    const dir = join(place, `saved-${taken}`)
    mkdirSync(dir)
    const child = start(['mcp', '--dir', dir, '--max-lines', '9', '--', process.execPath, server, taken])
    const answers = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    const ask = async (message: string) => {
      child.stdin?.write(message)
      return JSON.parse(String((await once(answers, 'line'))[0]))
    }
    const [page] = [await ask(line({ id: 1, method: 'tools/list' }))]
    expect(page.result.tools).toHaveLength(1)
    const last = await ask(line({ id: 2, method: 'tools/list', params: { cursor: 'next' } }))
    expect(last.result.tools.map((tool: { name: string }) => tool.name).slice(2)).toEqual(['free', name])
    const { result } = await ask(call(3, 'any'))
    const [, id] = /full output saved as ([0-9a-f]{16})/.exec(result.content[0].text) ?? []
    const read = await ask(call('r', name, { id, line: 4_000, lines: 2 }))
    expect(read.id).toBe('r')
    expect(read.result.content[0].text).toContain('4000: 4000\n4001: 4001\n')
    const free = (await ask(call(4, 'free'))).result
    const ids = free.content.map(
      ({ text }: { text: string }) => /saved as ([0-9a-f]{16}), page/.exec(text)?.[1],
    )
    // The text spells the structured content, so both are one file.
    expect(ids[0]).toBe(ids[1])
    const found = await ask(call('s', name, { id: ids[1], pattern: 'row 4321"' }))
    expect(found.result.content[0].text).toContain('row 4321')
    child.stdin?.end()
    expect((await end(child)).code).toBe(0)
  })

  it.each([
    ['exit', 7],
    ['kill', 137],
  ])('ends as its server does (%s)', async (name, code) => {
    const child = start(['mcp', '--', process.execPath, server])
    child.stdin?.write(call(1, name))
    expect((await end(child)).code).toBe(code)
  })

  it('passes a signal on to a server that hangs', async () => {
    const child = start([
      'mcp',
      '--',
      process.execPath,
      '-e',
      'setInterval(() => {}, 999); console.log("{}")',
    ])
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill('SIGTERM')
    expect((await end(child)).code).toBe(143)
  })

  it.each([
    [['mcp'], 2, 'SERVER is missing; example: spillway mcp -- node server.js'],
    [['mcp', 'x', '--', 'y'], 2, 'put -- before the server: spillway mcp -- x'],
    [['mcp', '--', 'no-such-server'], 127, 'no-such-server: command not found; check its name and PATH'],
    [
      ['mcp', '--max-media-items', 'x', '--', 'y'],
      2,
      '--max-media-items takes a whole number or Infinity, not "x"',
    ],
  ])('%j is a mistake that one line tells', async (args, code, told) => {
    expect(await spillway(args)).toMatchObject({ code, stdout: '', stderr: `spillway mcp: ${told}\n` })
  })
})

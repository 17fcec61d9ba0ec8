import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { end, seq, spillway, start } from '../support/cli.js'
import { until } from '../support/wait.js'

const line = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
const call = (id: unknown, name: string) => line({ id, method: 'tools/call', params: { name } })
const HELLO =
  line({ id: 0, method: 'initialize', params: {} }) + line({ method: 'notifications/initialized' })
const parsed = (stdout: string) => stdout.split('\n').flatMap((row) => (row === '' ? [] : [JSON.parse(row)]))

interface Asked {
  readonly verb: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A server whose answer to each tool is what the tool's name says, without a library. */
class Site {
  readonly asked: Asked[] = []
  /** The response to each request, in the same order. */
  readonly responses: ServerResponse[] = []
  readonly #held: ServerResponse[] = []
  readonly #late: (() => void)[] = []
  readonly #server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    this.responses.push(response)
    this.asked.push({ verb: `${request.method} ${request.url}`, headers: request.headers, body })
    this.#answer(request, body, response)
  })

  async open(): Promise<string> {
    afterAll(() => this.#server.closeAllConnections())
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/mcp`
  }

  bodies(verb: string): string[] {
    return this.asked.flatMap((one) => (one.verb === verb ? [one.body] : []))
  }

  #answer({ method, url, headers }: IncomingMessage, body: string, response: ServerResponse): void {
    const { id, method: asked, params } = body === '' ? ({} as never) : JSON.parse(body)
    const result = (text: string, of = id) =>
      JSON.stringify({ jsonrpc: '2.0', id: of, result: { content: [{ type: 'text', text }] } })
    const events = () => response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    const json = (text: string) => response.writeHead(200, { 'content-type': 'application/json' }).end(text)
    if (url === '/old') return void response.writeHead(307, { location: '/mcp' }).end()
    if (url === '/away') return void response.writeHead(308, { location: 'http://example.com/mcp' }).end()
    if (method === 'DELETE') return void response.writeHead(204).end()
    if (method === 'GET' && headers['last-event-id'] === 'half')
      return void events().end(`id: whole\ndata: ${result('the rest', 'broken')}\n\n`)
    if (method === 'GET' && url === '/html')
      return void response
        .writeHead(200, { 'content-type': 'text/html' })
        .write('data: {"jsonrpc":"2.0","method":"page"}\n\n')
    if (method === 'GET')
      return void events().write(': hello\n\ndata: {"jsonrpc":"2.0","id":"s1","method":"ping"}\r\n\r\n')
    if (asked === 'initialize' && url === '/open') return void events().write(`data: ${result('', id)}\n\n`)
    if (asked === 'initialize')
      return void response
        .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'the session' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, result: { protocolVersion: '2025-06-18' } }))
    if (url === '/deaf' && (asked === undefined || id === undefined)) return
    if (asked === undefined || id === undefined) return void response.writeHead(202).end()
    const { name } = params ?? {}
    if (name === 'big') return void events().end(`event: message\ndata: ${result(seq(9_000))}\n\n`)
    if (name === 'pretty') return void json(JSON.stringify(JSON.parse(result(seq(9_000))), null, 2))
    if (name === 'split') return void events().end(`data: ${result('joined').replace(',', ',\ndata: ')}\n\n`)
    if (name === 'broken')
      return void events().write('retry: 1\nid: half\ndata:\n\n', () => response.destroy())
    if (name === 'patient')
      return void events().write('retry: 99999999999\nid: half\ndata:\n\n', () => response.destroy())
    if (name === 'returns') return void events().end(`: a\rdata: ${result('returns')}\r\r`)
    if (name === 'marked') return void events().end(`\ufeffdata: ${result('marked')}\n\n`)
    if (name === 'typed')
      return void events().end(`event: ping\ndata: 12:00\n\nevent: message\ndata: ${result('typed')}\n\n`)
    if (name === 'upper')
      return void response
        .writeHead(200, { 'content-type': 'Application/JSON ; charset=utf-8' })
        .end(`\ufeff${result('upper')}`)
    if (name === 'packed')
      return void response
        .writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
        .end(gzipSync(result('packed')))
    if (name === 'endless') return void response.writeHead(500).write('oh no')
    if (name === 'lost') return void events().write(': a\n\n', () => response.destroy())
    if (name === 'page') return void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')
    if (name === 'denied') return void response.writeHead(401).end('who are you?')
    if (name === 'gone') return void response.writeHead(404).end('no session')
    if (name === 'garbage')
      return void events().end(`data: {"half": \n\ndata: no JSON\n\ndata: ${result('after')}\n\n`)
    // A client reads the text of an id as a number, and fetch skips a mark of byte order.
    if (name === 'respelled') return void json(`\ufeff${result(seq(9_000), String(id))}`)
    if (name === 'unread') return void json(result(seq(9_000)).replace('{', '{"n":NaN,'))
    if (name === 'late') return void this.#late.push(() => json(result(`late ${id}`)))
    if (name === 'now') for (const answer of this.#late.splice(0).reverse()) answer()
    if (name === 'hang') return void this.#held.push(events().flushHeaders() as never)
    if (name === 'rows') {
      events().write(`data: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":[\n`)
      const row = `data: ${' '.repeat((1 << 20) - 8)}1,\n`
      for (let at = 0; at < 66; at++) response.write(row)
      return void response.end('data: 1]}\n\n')
    }
    if (name === 'huge') {
      events().write(
        `data: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[{"type":"text","text":"`,
      )
      for (let at = 0; at < 66; at++) response.write(Buffer.alloc(1 << 20, 'x'))
      return void response.end('"}]}}\n\n')
    }
    json(result('small'))
  }
}

const site = new Site()
const url = site.open()
const through = async (input: string, ...flags: string[]) =>
  spillway(['mcp', ...flags, '--url', await url], { input })

describe('spillway mcp --url', () => {
  it.each(['big', 'pretty'])('truncates results as events and as JSON (%s)', async (name) => {
    const { code, stdout, stderr } = await through(call('one', name), '--max-bytes', '2K')
    const [{ id, result }, ...others] = parsed(stdout)
    expect([code, stderr, id, others]).toEqual([0, '', 'one', []])
    expect(result.content[0].text).toContain('[tool output truncated: ')
    expect(Buffer.byteLength(result.content[0].text)).toBeLessThanOrEqual(2_048)
  })

  it('takes an answer as clients do, and tells of no other', async () => {
    const { stdout } = await through(call(7, 'respelled') + call(8, 'unread'), '--max-bytes', '2K')
    const [respelled, unread, ...others] = parsed(stdout).sort((a, b) => a.id - b.id)
    expect([respelled.id, unread.id, others]).toEqual(['7', 8, []])
    expect(Buffer.byteLength(respelled.result.content[0].text)).toBeLessThanOrEqual(2_048)
    expect(unread.error.message).toMatch(/^a message of \d+ bytes that is not JSON was dropped/)
  })

  it('passes what fits, in one line', async () => {
    const text = { content: [{ type: 'text', text: 'joined' }] }
    const { stdout } = await through(call(1, 'split'))
    expect([parsed(stdout), stdout.split('\n')]).toEqual([
      [{ jsonrpc: '2.0', id: 1, result: text }],
      [expect.anything(), ''],
    ])
  })

  it.each(['returns', 'marked', 'typed', 'upper'])('reads what clients read (%s)', async (name) => {
    const { stdout } = await through(call(1, name))
    expect(parsed(stdout)).toEqual([
      { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: name }] } },
    ])
  })

  it.each(['/deaf', '/open'])('goes on after a POST that does not end (%s)', {
    tags: 'long',
  }, async (path) => {
    const { code, stdout } = await spillway(['mcp', '--url', new URL(path, await url).href], {
      input: HELLO + line({ method: 'notifications/progress', params: {} }) + call(1, 'small'),
    })
    expect([code, parsed(stdout).flatMap(({ id }) => (typeof id === 'number' ? id : []))]).toEqual([
      0,
      [0, 1],
    ])
  })

  it('does not read a page as events', async () => {
    const child = start(['mcp', '--url', new URL('../html', await url).href])
    child.stdin?.write(HELLO)
    const page = () => site.responses.find(({ req }) => req.method === 'GET' && req.url === '/html')
    await until(() => page() !== undefined)
    if (!page()?.closed) await once(page() as ServerResponse, 'close')
    child.stdin?.end()
    const { stdout } = await end(child)
    expect(parsed(stdout).map(({ id }) => id)).toEqual([0])
  })

  it('waits as long as a server says before it asks again', async () => {
    const child = start(['mcp', '--url', await url])
    const rows = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    child.stdin?.write(call('patient', 'patient'))
    await until(() =>
      site.responses.some(({ closed }, at) => closed && site.asked[at]?.body.includes('"patient"')),
    )
    for (let id = 0; id < 20; id++) {
      child.stdin?.write(call(id, 'small'))
      expect(JSON.parse((await once(rows, 'line'))[0]).id).toBe(id)
    }
    child.stdin?.end(line({ method: 'notifications/cancelled', params: { requestId: 'patient' } }))
    expect(await end(child)).toMatchObject({ code: 0, stderr: '' })
  })

  it('tells session, version and headers, hears the server, sends answers and ends the session', async () => {
    const own = new Site()
    const flags = ['--url', await own.open(), '--header', 'X-Key: a b', '--header', 'authorization:Bearer x']
    const child = start(['mcp', ...flags])
    const rows = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    child.stdin?.write(HELLO)
    const [first] = await once(rows, 'line')
    expect(JSON.parse(first).result.protocolVersion).toBe('2025-06-18')
    const [ping] = await once(rows, 'line')
    expect(ping).toBe('{"jsonrpc":"2.0","id":"s1","method":"ping"}')
    const pong = line({ id: 's1', result: {} })
    child.stdin?.end(pong)
    expect((await end(child)).code).toBe(0)
    expect(own.bodies('POST /mcp')).toEqual([...HELLO.split(/(?<=\n)(?=.)/), pong])
    expect(own.asked.map(({ verb }) => verb)).toEqual([
      'POST /mcp',
      'POST /mcp',
      'GET /mcp',
      'POST /mcp',
      'DELETE /mcp',
    ])
    for (const { headers } of own.asked)
      expect(headers).toMatchObject({ 'x-key': 'a b', authorization: 'Bearer x' })
    for (const { headers } of own.asked.slice(1))
      expect(headers).toMatchObject({
        'mcp-session-id': 'the session',
        'mcp-protocol-version': '2025-06-18',
      })
  })

  it('asks for the rest of a stream that broke off', async () => {
    const { stdout } = await through(call('broken', 'broken'))
    expect(parsed(stdout)).toMatchObject([{ id: 'broken', result: { content: [{ text: 'the rest' }] } }])
  })

  it.each([
    ['lost', 'ended its stream without an answer'],
    ['page', 'answered with text/html'],
    ['denied', 'answered 401 Unauthorized who are you?'],
    ['packed', 'answered with application/json in gzip'],
    ['endless', 'answered 500 Internal Server Error oh no'],
  ])('answers a call that gets no answer (%s), and goes on', { tags: 'long' }, async (name, told) => {
    const { code, stdout } = await through(call('x', name) + call(2, 'small'))
    const [bad, good] = parsed(stdout).sort((one) => (one.error ? -1 : 1))
    expect([code, good.id]).toEqual([0, 2])
    expect(bad).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      error: { code: -32_000, message: `${new URL(await url).origin} ${told}` },
    })
  })

  it('passes a text that is not JSON', async () => {
    const { stdout } = await through(call(5, 'garbage'))
    const [half, none, answer] = stdout.split('\n')
    expect([half?.trim(), none]).toEqual(['{"half":', 'no JSON'])
    expect(JSON.parse(answer ?? '')).toMatchObject({ id: 5, result: { content: [{ text: 'after' }] } })
  })

  it('passes answers in the order in which the server gives them', async () => {
    const child = start(['mcp', '--url', await url])
    const answers = createInterface({ input: child.stdout as NodeJS.ReadableStream })
    const order: unknown[] = []
    answers.on('line', (text) => order.push(JSON.parse(text).id))
    child.stdin?.write(call(1, 'late') + call(2, 'late'))
    await until(() => site.bodies('POST /mcp').filter((body) => body.includes('"late"')).length === 2)
    child.stdin?.write(call(3, 'now'))
    while (order.length < 3) await once(answers, 'line')
    child.stdin?.end()
    await end(child)
    expect(order.sort()).toEqual([1, 2, 3])
  })

  it('ends with an open call once its client has gone', { tags: 'long' }, async () => {
    const child = start(['mcp', '--url', await url])
    const asked = () => site.bodies('POST /mcp').filter((body) => body.includes('"hang"')).length
    const before = asked()
    child.stdin?.end(call(1, 'hang'))
    await until(() => asked() > before)
    child.stdout?.destroy()
    await once(child, 'exit')
    expect(child.exitCode).toBe(0)
  })

  it('answers if nobody listens', async () => {
    const { stdout } = await spillway(['mcp', '--url', 'http://127.0.0.1:1/'], { input: call(1, 'small') })
    expect(parsed(stdout)[0].error.message).toMatch(/^http:\/\/127\.0\.0\.1:1 .*ECONNREFUSED/)
  })

  it('does not wait for a call that was cancelled, nor for one at a signal', async () => {
    const cancelled = line({ method: 'notifications/cancelled', params: { requestId: 7 } })
    expect(await through(call(7, 'hang') + cancelled)).toMatchObject({ code: 0, stdout: '' })
    expect(site.bodies('POST /mcp')).toContain(cancelled)
    const child = start(['mcp', '--url', await url])
    child.stdin?.write(call(8, 'hang') + call(9, 'small'))
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    child.kill('SIGTERM')
    expect((await end(child)).code).toBe(143)
  })

  it('ends once the server has ended the session', async () => {
    const child = start(['mcp', '--url', await url])
    child.stdin?.write(HELLO + call(3, 'gone'))
    const { code, stdout, stderr } = await end(child)
    expect([code, stderr]).toEqual([1, 'spillway mcp: the server has ended the session\n'])
    expect(parsed(stdout).find(({ id }) => id === 3).error.message).toContain('404 Not Found no session')
  })

  it.each(['huge', 'rows'])('drops a message of over 64 MiB, and answers its call (%s)', {
    tags: 'long',
  }, async (name) => {
    const { stdout } = await through(call(4, name))
    const [{ id, error }] = parsed(stdout)
    expect(id).toBe(4)
    expect(error.message).toMatch(/^a message of 692\d{5} bytes is over 67108864 and was dropped/)
  })

  it('follows a redirection to the same origin, and names another', async () => {
    const at = (path: string) => url.then((text) => new URL(path, text).href)
    const same = await spillway(['mcp', '--url', await at('/old')], { input: call(1, 'small') })
    expect(parsed(same.stdout)[0].result.content[0].text).toBe('small')
    const other = await spillway(['mcp', '--url', await at('/away')], { input: call(1, 'small') })
    expect(parsed(other.stdout)[0].error.message).toContain(
      'answered 308 Permanent Redirect to http://example.com/mcp',
    )
  })

  it.each([
    [['--url', 'ftp://a'], '--url takes a URL of http or https, not "ftp://a"'],
    [['--url', 'http://a', '--', 'b'], 'unexpected argument "b"; usage: spillway mcp [flags] --url URL'],
    [['--header', 'a: b', '--', 'c'], '--header needs --url'],
    [['--url', 'http://a', '--header', 'secret'], "--header takes 'Name: value'"],
  ])('%j is a mistake that one line tells', async (args, told) => {
    expect(await spillway(['mcp', ...args])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `spillway mcp: ${told}\n`,
    })
  })
})

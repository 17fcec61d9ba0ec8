import { execFile, execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Sums, savedOf, sumsOf } from '../../lib/stats/sums.js'
import { place, seq, spillway, write } from '../support/cli.js'

const BIG = seq(4_000)
const MOST = 8 * 1024 * 1024
let states = 0

/** A directory for figures, and calls that add to them. */
function stateWith(env = {}) {
  const XDG_STATE_HOME = join(place, `state ${states++}`)
  const file = join(XDG_STATE_HOME, 'spillway/stats.jsonl')
  const call = (args: readonly string[], input = '', more = {}) =>
    spillway(args, { input, env: { HOME: place, XDG_STATE_HOME, ...env, ...more } })
  const hook = (tool_name: string, tool_input: unknown, tool_response: unknown, flags: string[] = []) => {
    const event = { hook_event_name: 'PostToolUse', session_id: 's', tool_name, tool_input, tool_response }
    return call(['hook', 'claude-code', '--max-bytes', '1000', ...flags], JSON.stringify(event))
  }
  const stats = async () => JSON.parse((await call(['stats', '--json'])).stdout)
  return { XDG_STATE_HOME, file, call, hook, stats }
}

const grep = (pattern: string) => ['Grep', { pattern }, { content: BIG }] as const

describe('spillway stats', () => {
  it('tells what was shown and sent', async () => {
    const { call, hook, stats } = stateWith()
    expect(await call(['stats'])).toMatchObject({ code: 0, stdout: 'No figures yet.\n' })
    const { stdout } = await hook(...grep('a'))
    const sent = JSON.parse(stdout).hookSpecificOutput.updatedToolOutput.content.length
    await hook('Grep', {}, { content: 'small' })
    await hook('Frobnicate', {}, BIG)
    const [saved, shown] = [BIG.length - sent, BIG.length + 5]
    expect(await stats()).toEqual({ saved, shown, sent: sent + 5, readBack: 0, repeated: 0 })
    const table = (await call(['stats'])).stdout
    expect(table).toMatch(/^ {2}Grep +2 +1 /m)
    expect(table).toContain('1 result of unknown tools left as they were')
  })

  it('may be negative: the host would have shown a preview', async () => {
    const { hook, stats } = stateWith()
    await hook('Grep', {}, { content: seq(9_000) }, ['--max-bytes', '9000'])
    const { saved, shown, sent } = await stats()
    expect(shown).toBeLessThan(3_000)
    expect(saved).toBe(shown - sent)
    expect(saved).toBeLessThan(0)
  })

  it('counts pages that are read back against it', async () => {
    const { XDG_STATE_HOME, hook, stats } = stateWith()
    await hook(...grep('a'))
    const before = await stats()
    const [name = ''] = readdirSync(join(XDG_STATE_HOME, 'spillway/outputs'))
    const file_path = join(XDG_STATE_HOME, 'spillway/outputs', name)
    await hook('Read', { file_path }, { type: 'text', file: { content: seq(99) } })
    expect(await stats()).toEqual({
      ...before,
      saved: before.saved - seq(99).length,
      readBack: seq(99).length,
    })
  })

  it('counts a call made again within five calls against it, and none after', { tags: 'long' }, async () => {
    const { hook, stats } = stateWith()
    const { stdout } = await hook(...grep('a'))
    const sent = JSON.parse(stdout).hookSpecificOutput.updatedToolOutput.content.length
    for (const pattern of ['b', 'c', 'd', 'e']) await hook('Grep', { pattern }, { content: '' })
    await hook(...grep('a'))
    expect(await stats()).toMatchObject({ shown: BIG.length, sent, repeated: sent })
    for (const pattern of ['b', 'c', 'd', 'e', 'f']) await hook('Grep', { pattern }, { content: '' })
    await hook(...grep('a'))
    expect(await stats()).toMatchObject({ shown: 2 * BIG.length, repeated: sent })
  })

  it('counts another page of the same file as the same call', async () => {
    const { hook, stats } = stateWith()
    const file = (content: string) => ({ type: 'text', file: { content } })
    await hook('Read', { file_path: '/a' }, file(BIG))
    await hook('Read', { file_path: '/a', offset: 300, limit: 9 }, file('a page'))
    expect(await stats()).toMatchObject({ shown: BIG.length, repeated: 6 })
  })

  it('counts what was only observed apart, and says why a tool may cost more', { tags: 'long' }, async () => {
    const { call, hook, stats } = stateWith()
    const { stdout } = await hook(...grep('a'))
    const sent = JSON.parse(stdout).hookSpecificOutput.updatedToolOutput.content.length
    const before = await stats()
    const observing = { ...grep('b')[1] }
    const event = {
      hook_event_name: 'PostToolUse',
      session_id: 's',
      tool_name: 'Grep',
      tool_input: observing,
      tool_response: { content: BIG },
    }
    const env = { SPILLWAY: 'observe' }
    const args = ['hook', 'claude-code', '--max-bytes', '1000']
    expect((await call(args, JSON.stringify(event), env)).stdout).toBe('')
    const after = await stats()
    expect(after).toEqual({
      ...before,
      shown: before.shown + BIG.length,
      sent: before.sent + BIG.length,
      observed: expect.any(Number),
    })
    // A notice that names no saved output has another length.
    expect(Math.abs(after.observed - (BIG.length - sent))).toBeLessThan(200)
    const table = await call(['stats'])
    expect(table.stdout).toContain(`${after.observed.toLocaleString('en-US')} chars more in results`)
    expect(table.stdout).not.toContain('Below 0')
    await hook('Bash', {}, { stdout: seq(9_000), stderr: '' }, ['--max-bytes', '9000'])
    expect((await call(['stats'])).stdout).toContain('Below 0: a host shows a preview')
  })

  it('writes figures, and no content', async () => {
    const { file, hook } = stateWith()
    await hook('Bash', { command: 'echo secret-question' }, { stdout: `secret-answer\n${BIG}` })
    const [row] = readFileSync(file, 'utf8').trim().split('\n')
    expect(Object.keys(JSON.parse(row ?? ''))).toEqual([
      'at',
      'door',
      'session',
      'tool',
      'call',
      'shown',
      'sent',
      'cut',
    ])
    expect(row).not.toContain('secret')
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it.each([
    [{}, ['--no-stats']],
    [{ SPILLWAY_STATS: '0' }, []],
  ])('writes nothing under %j %j', async (env, flags) => {
    const { file, hook } = stateWith(env)
    expect((await hook(...grep('a'), flags)).stdout).not.toBe('')
    expect(existsSync(file)).toBe(false)
  })

  it('keeps at most 8 MiB, the latest', { tags: 'long' }, async () => {
    const { XDG_STATE_HOME, file, hook, stats } = stateWith()
    mkdirSync(join(XDG_STATE_HOME, 'spillway'), { recursive: true })
    const row = `${JSON.stringify({ session: 's', tool: 'old', shown: 1, sent: 0 })}\n`
    writeFileSync(file, row.repeat(MOST / row.length))
    await hook('Grep', {}, { content: 'small' })
    const text = readFileSync(file, 'utf8')
    expect(text.length).toBeLessThanOrEqual(MOST)
    expect(text.length).toBeGreaterThan(MOST / 2 - row.length)
    expect(text).toMatch(/^\{"session":"s".*\}\n[\s\S]*"tool":"Grep".*\}\n$/)
    expect((await stats()).sent).toBe(5)
  })

  it('keeps every line of processes that write at once, while the file is full', {
    tags: 'long',
  }, async () => {
    const { XDG_STATE_HOME, file } = stateWith()
    mkdirSync(join(XDG_STATE_HOME, 'spillway'), { recursive: true })
    const row = `${JSON.stringify({ session: 's', tool: 'old', shown: 1, sent: 0 })}\n`
    const full = row.repeat(MOST / row.length)
    const script = `
      const { existsSync, writeFileSync } = require('node:fs')
      const { record } = require(${JSON.stringify(join(__dirname, '../../dist/record.js'))})
      // All begin at once.
      while (!existsSync(process.argv[1])) {}
      for (let nth = 0; nth < 50; nth++) record({ door: 'hook', session: 's', tool: process.argv[2], shown: nth, sent: 0 })`
    for (let round = 0; round < 3; round++) {
      writeFileSync(file, full)
      const start = join(place, `start ${states} ${round}`)
      const all = ['a', 'b', 'c', 'd'].map((tool) =>
        promisify(execFile)(process.execPath, ['-e', script, start, tool], {
          env: { ...process.env, XDG_STATE_HOME },
        }),
      )
      writeFileSync(start, '')
      await Promise.all(all)
      const rows = readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      for (const tool of ['a', 'b', 'c', 'd'])
        expect(rows.filter((row) => row.tool === tool).map(({ shown }) => shown)).toEqual(
          Array.from({ length: 50 }, (_, nth) => nth),
        )
      expect(readdirSync(join(XDG_STATE_HOME, 'spillway'))).toEqual(['stats.jsonl'])
    }
  })

  it.each([
    ['has died', 1],
    ['wrote its lock before the clock was set back', Date.now() / 1_000 + 1e6],
  ])('waits for no process that %s', { tags: 'long' }, async (_, time) => {
    const { XDG_STATE_HOME, file, hook, stats } = stateWith()
    mkdirSync(join(XDG_STATE_HOME, 'spillway'), { recursive: true })
    writeFileSync(`${file}.lock`, '')
    utimesSync(`${file}.lock`, time, time)
    await hook('Grep', {}, { content: 'small' })
    expect(await stats()).toMatchObject({ shown: 5 })
    expect(readdirSync(join(XDG_STATE_HOME, 'spillway'))).toEqual(['stats.jsonl'])
  })

  it('takes no figure that is not a count of chars', async () => {
    const { XDG_STATE_HOME, file, call, stats } = stateWith()
    mkdirSync(join(XDG_STATE_HOME, 'spillway'), { recursive: true })
    const row = (shown: string) => `{"session":"s","tool":"Grep","shown":${shown},"sent":1}\n`
    writeFileSync(file, ['1e308', '-5', '0.5', '1e400', '9', '9007199254740992'].map(row).join(''))
    expect(await stats()).toMatchObject({ shown: 9, sent: 1 })
    for (const line of (await call(['stats'])).stdout.split('\n')) expect(line.length).toBeLessThan(120)
  })

  it('skips lines that are not figures', async () => {
    const { file, hook, stats } = stateWith()
    await hook('Grep', {}, { content: 'small' })
    const [row = ''] = readFileSync(file, 'utf8').split('\n')
    writeFileSync(
      file,
      `null\n[]\n{}\n${row.slice(0, 40)}\n${row}\n\u0000\n${row.replace('"shown":5', '"shown":"5"')}`,
    )
    expect(await stats()).toMatchObject({ shown: 5, sent: 5 })
  })

  it('harms no call if nothing can be written', async () => {
    const { XDG_STATE_HOME, hook } = stateWith()
    writeFileSync(XDG_STATE_HOME, '')
    const { code, stdout } = await hook(...grep('a'))
    expect(code).toBe(0)
    expect(JSON.parse(stdout).hookSpecificOutput.updatedToolOutput.content).toMatch(/truncated/)
  })

  it('counts the results of a proxy', { tags: 'long' }, async () => {
    const { XDG_STATE_HOME, call, stats } = stateWith()
    const server = write(
      'numbers.js',
      `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
        const { id, method } = JSON.parse(line)
        const text = '${'x'.repeat(9_000)}'
        const result = method === 'tools/list' ? { tools: [] } : { content: [{ type: 'text', text }] }
        console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
      })`,
    )
    const line = (id: number, name: string, args = {}) =>
      `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } })}\n`
    const { stdout } = await call(
      ['mcp', '--max-bytes', '1000', '--', process.execPath, server],
      line(1, 'numbers') + line(2, 'numbers', { page: 2 }) + line(3, 'numbers'),
    )
    const lengths = stdout
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row).result.content[0].text.length)
    const sent = lengths[0]
    expect(lengths).toEqual([sent, sent, sent])
    expect(await stats()).toEqual({
      saved: 18_000 - 3 * sent,
      shown: 18_000,
      sent: 2 * sent,
      readBack: 0,
      repeated: sent,
    })
    expect(readdirSync(join(XDG_STATE_HOME, 'spillway'))).toEqual(['stats.jsonl'])
    const before = await stats()
    await call(['mcp', '--no-stats', '--', process.execPath, server], line(1, 'numbers'))
    expect(await stats()).toEqual(before)
  })

  it.each(['1', '0', ''])('follows the library under SPILLWAY_STATS=%s only if it is 1', {
    tags: 'long',
  }, async (SPILLWAY_STATS) => {
    const { XDG_STATE_HOME, file, stats } = stateWith()
    const script = `
      const { wrapTool } = require('spillway')
      wrapTool({ name: 'echo', execute: async () => 'x'.repeat(9000) }, { maxBytes: 1000 }).execute({})`
    const env = { ...process.env, XDG_STATE_HOME, SPILLWAY_STATS }
    execFileSync(process.execPath, ['-e', script], { cwd: join(__dirname, '../..'), env })
    expect(existsSync(file)).toBe(SPILLWAY_STATS === '1')
    const { shown, sent } = await stats()
    expect(shown).toBe(SPILLWAY_STATS === '1' ? 9_000 : 0)
    expect(sent).toBeLessThanOrEqual(1_000)
  })

  it('does not count a cut of the command line twice', async () => {
    const { file, hook } = stateWith({ SPILLWAY_STATS: '1' })
    await hook(...grep('a'))
    expect(readFileSync(file, 'utf8').trim().split('\n')).toHaveLength(1)
  })

  it('is the sum over all calls, however they are counted', () => {
    const figures = fc.record({
      door: fc.constant('hook' as const),
      session: fc.constantFrom('a', 'b'),
      tool: fc.constantFrom('c', 'd'),
      call: fc.constantFrom('e', 'f', 'g'),
      shown: fc.nat(99),
      sent: fc.nat(99),
      cut: fc.boolean(),
      back: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(figures), (all) => {
        const sums = [...sumsOf(all).values()]
        const sum = (of: (sums: Sums) => number) => sums.reduce((total, one) => total + of(one), 0)
        expect(sum(({ sent, readBack, repeated }) => sent + readBack + repeated)).toBe(
          all.reduce((total, { sent }) => total + sent, 0),
        )
        expect(sum(savedOf)).toBe(
          sum(({ shown }) => shown) - all.reduce((total, { sent }) => total + sent, 0),
        )
        expect(sum(({ shown }) => shown)).toBeLessThanOrEqual(
          all.reduce((total, { shown }) => total + shown, 0),
        )
      }),
    )
  })
})

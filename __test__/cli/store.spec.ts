import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type SpillStore, spillTool, wrapTool } from 'spillway'
import { describe, expect, it, vi } from 'vitest'
import { ModuleStore } from '../../cli/store/module_store.js'
import { end, place, seq, spillway, start, write } from '../support/cli.js'

const urlOf = (name: string) => pathToFileURL(createRequire(__filename).resolve(name)).href

/** A module with a store over files of unstorage, in which other processes find what was saved. */
const remote = (dir: string) => `
import { createRemoteSpillStore } from '${urlOf('spillway/remote')}'
import { createStorage } from '${urlOf('unstorage')}'
import fsDriver from '${urlOf('unstorage/drivers/fs')}'
// A connection that is never closed.
setInterval(() => {}, 1_000)
const storage = createStorage({ driver: fsDriver({ base: ${JSON.stringify(join(place, dir))} }) })
export default createRemoteSpillStore({ storage })
`
write('store.mjs', remote('shared'))

const printing = (script: string) => ['--', process.execPath, '-e', script]
const MANY = printing(`for (let at = 1; at <= 30_000; at++) console.log('step', at)`)

/** Runs a command whose output is cut, and returns the id in its notice. */
async function saved(module: string, env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await spillway(['run', '--store', module, ...MANY], { env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return /saved as ([0-9a-f]{16}), /.exec(stdout)?.[1] ?? expect.fail(stdout)
}

describe('SPILLWAY_DIR', () => {
  const env = { SPILLWAY_DIR: join(place, 'of-environment') }
  const pathOf = (text: string) => /saved as (.+\.txt)[,;]/.exec(text)?.[1] ?? expect.fail(text)

  it('is where run saves, and where read and search find it', async () => {
    const { stdout } = await spillway(['run', ...MANY], { env })
    const path = pathOf(stdout)
    expect(path.startsWith(env.SPILLWAY_DIR)).toBe(true)
    const [id = ''] = basename(path).split('.')
    const page = await spillway(['read', id, '--line', '20000', '--lines', '1'], { env })
    expect(page).toMatchObject({ code: 0, stdout: 'step 20000\n' })
    const found = await spillway(['search', id, 'step 20000'], { env })
    expect(found).toMatchObject({ code: 0, stdout: '20000:step 20000\n' })
  })

  it('counts for less than --dir, --store and the path of a file', { tags: 'long' }, async () => {
    const other = join(place, 'given')
    const path = pathOf((await spillway(['run', '--dir', other, ...MANY], { env })).stdout)
    expect(path.startsWith(other)).toBe(true)
    const page = await spillway(['read', path, '--line', '3', '--lines', '1'], { env })
    expect(page).toMatchObject({ code: 0, stdout: 'step 3\n' })
    expect(await saved('./store.mjs', env)).toMatch(/^[0-9a-f]{16}$/)
  })

  it('is unset if it is empty', async () => {
    const page = await spillway(['read', '0123456789abcdef'], { env: { SPILLWAY_DIR: '' } })
    expect(page).toMatchObject({ code: 2, stderr: expect.stringContaining('--dir is missing') })
  })
})

describe('--store', () => {
  it('saves what run cuts, where read and search find it', { tags: 'long' }, async () => {
    const id = await saved('./store.mjs')
    const page = await spillway(['read', id, '--store', 'store.mjs', '--line', '20000', '--lines', '2'])
    expect(page).toMatchObject({ code: 0, stdout: 'step 20000\nstep 20001\n' })
    expect(page.stderr).toBe(`[${id} holds 30,000 lines, 318,894 bytes; more with --line 20002]\n`)
    const last = await spillway(['read', id, '--store', join(place, 'store.mjs'), '--line', '29999'])
    expect(last.stderr).toContain('; end of the output]')
    const whole = await spillway(['read', id, '--store', './store.mjs', '--keep', 'tail', '--max-lines', '3'])
    expect(whole.stdout).toMatch(/step 30000\n$/)
    const found = await spillway(['search', id, '^step 2999\\d$', '-E', '--store', './store.mjs', '-m', '1'])
    expect(found).toMatchObject({ code: 0, stdout: '29990:step 29990\n' })
  })

  it.each([
    ['a function', "import store from './store.mjs'\nexport default () => store"],
    ['an async function', "import store from './store.mjs'\nexport default async () => store"],
    ['a module in CommonJS', "module.exports = async () => (await import('./store.mjs')).default"],
    [
      'a module that was compiled to CommonJS',
      "exports.__esModule = true\nexports.default = async () => (await import('./store.mjs')).default",
    ],
  ])('takes %s', { tags: 'long' }, async (name, text) => {
    const file = `./${name.replaceAll(' ', '-')}.${/CommonJS/.test(name) ? 'cjs' : 'mjs'}`
    write(file, text)
    expect(await saved(file)).toMatch(/^[0-9a-f]{16}$/)
  })

  it('takes the name of a package in the working directory', { tags: 'long' }, async () => {
    // A directory of that name is not a module.
    mkdirSync(join(place, 'a-store'))
    for (const [name, more] of [
      ['a-store', { exports: './index.mjs' }],
      ['@own/store', { main: './index.mjs' }],
    ] as const) {
      const dir = join(place, 'node_modules', name)
      mkdirSync(dir, { recursive: true })
      writeFileSync(join(dir, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...more }))
      const depth = '../'.repeat(name.split('/').length + 1)
      writeFileSync(join(dir, 'index.mjs'), `export { default } from '${depth}store.mjs'`)
      expect(await saved(name)).toMatch(/^[0-9a-f]{16}$/)
    }
  })

  const METHODS = ['save', 'read', 'search', 'list', 'sweep']
  const without = (name: string) => METHODS.filter((other) => other !== name).map((other) => `${other}() {}`)
  const faults: [name: string, text: string | undefined, told: string][] = [
    ['./nowhere.mjs', undefined, 'no such module; check the path'],
    [
      'no-such-store',
      undefined,
      'no such module; give the path of a file, or the name of a package that is installed here',
    ],
    [
      './named.mjs',
      'export const store = {}',
      'has no default export; export a SpillStore, or a function that returns one',
    ],
    [
      './nothing.mjs',
      'export default () => null',
      'what its default export returns has no method save; a SpillStore has save, read, search, list, sweep',
    ],
    ...METHODS.map((name): [string, string, string] => [
      `./without-${name}.mjs`,
      `export default { ${without(name)} }`,
      `its default export has no method ${name}; a SpillStore has save, read, search, list, sweep`,
    ]),
  ]
  it.each(faults)(
    '%s: tells of a module without a store, before any work',
    { tags: 'long' },
    async (name, text, told) => {
      if (text !== undefined) write(name, text)
      const never = printing("require('node:fs').writeFileSync('ran', '')")
      // The others load it alike.
      const all = name === './named.mjs' ? 4 : 1
      for (const args of [
        ['run', '--store', name, ...never],
        ['mcp', '--store', name, ...never],
        ['read', '0123456789abcdef', '--store', name],
        ['search', '0123456789abcdef', 'x', '--store', name],
      ].slice(0, all)) {
        const stderr = `spillway ${args[0]}: --store ${name}: ${told}\n`
        expect(await spillway(args)).toMatchObject({ code: 1, stdout: '', stderr })
      }
      expect(readdirSync(place)).not.toContain('ran')
    },
  )

  it.each([
    [
      './wrong.mjs',
      'export default {',
      /^spillway run: --store \.\/wrong\.mjs: cannot be loaded: Unexpected[^\n]*\n$/,
    ],
    [
      './needs.mjs',
      "import 'not-installed'",
      /^spillway run: --store \.\/needs\.mjs: cannot be loaded: Cannot find package 'not-installed'[^\n]*\n$/,
    ],
  ])('%s: tells of code that cannot be loaded', async (name, text, told) => {
    write(name, text)
    const { code, stdout, stderr } = await spillway(['run', '--store', name, ...MANY])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(told)
  })

  it.each([
    ['run', ...MANY],
    ['mcp', ...MANY],
    ['read', '0123456789abcdef'],
    ['search', '0123456789abcdef', 'x'],
  ])('%s refuses --dir and --store together', async (command, ...rest) => {
    const { code, stderr } = await spillway([command, '--dir', 'd', '--store', './store.mjs', ...rest])
    expect(code).toBe(2)
    expect(stderr).toBe(`spillway ${command}: --dir and --store cannot be combined; give one of them\n`)
  })

  it('tells of ids and of calls that fail under the name of the module', async () => {
    write(
      'away.mjs',
      `const away = async () => { throw Object.assign(new Error('connect'), { code: 'ENOENT' }) }
      export default { save: away, read: away, search: away, list: away, sweep: away }`,
    )
    const read = await spillway(['read', '0123456789abcdef', '--store', './away.mjs'])
    expect(read).toMatchObject({ code: 1, stderr: 'spillway read: ./away.mjs: ENOENT: connect\n' })
    const { code, stderr } = await spillway(['read', 'a1', '--store', './store.mjs'])
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'spillway read: ID must be the id of a saved output, 16 hexadecimal digits, got "a1"\n',
    })
  })
})

/** Modules whose store fails in each way, and the code that notices tell. */
const FAILING: [name: string, text: string, code: string][] = [
  ['throws.mjs', "throw Object.assign(new Error('no key'), { code: 'ENOKEY' })", 'ENOKEY'],
  [
    'refused.mjs',
    "export default async () => { throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) }",
    'ECONNREFUSED',
  ],
  [
    'rejects.mjs',
    `const away = async () => { throw Object.assign(new Error('gone'), { code: 'EPIPE' }) }
    export default { save: away, read: away, search: away, list: away, sweep: away }`,
    'EPIPE',
  ],
  [
    'no-record.mjs',
    'const none = async () => ({})\nexport default { save: none, read: none, search: none, list: none, sweep: none }',
    'ERR_SPILLWAY_SPILL',
  ],
]
for (const [name, text] of FAILING) write(name, text)

describe('a store that fails', () => {
  it.each(FAILING)('%s: run shows what the policy keeps', async (name, _, failure) => {
    const { code, stdout, stderr } = await spillway(['run', '--store', `./${name}`, ...MANY])
    expect(code).toBe(0)
    expect(stdout).toContain(`could not be saved (${failure})`)
    expect(stderr).toMatch(/^spillway run: the full output was not saved: [^\n]+\n$/)
  })

  const event = JSON.stringify({
    hook_event_name: 'PostToolUse',
    session_id: 's',
    tool_name: 'Bash',
    tool_use_id: 't',
    tool_input: { command: 'seq 9000' },
    tool_response: { stdout: seq(9_000), stderr: '', interrupted: false, isImage: false },
  })
  const loaded = FAILING.map(([name, , failure]): [string, string] => [name, failure])
  it.each([...loaded, ['nowhere.mjs', 'ERR_SPILLWAY_SPILL']])(
    '%s: the hook clamps',
    { tags: 'long' },
    async (name, failure) => {
      const args = ['hook', 'claude-code', '--no-stats', '--store', `./${name}`]
      const { code, stdout, stderr } = await spillway(args, { input: event })
      expect(code).toBe(0)
      const { updatedToolOutput } = JSON.parse(stdout).hookSpecificOutput
      expect(updatedToolOutput.stdout).toContain(`could not be saved (${failure})`)
      expect(updatedToolOutput.stdout.length).toBeLessThanOrEqual(16_384)
      expect(stderr === '').toBe(name === 'no-record.mjs')
    },
  )

  it('is not loaded by a hook that cuts nothing', async () => {
    const short = event.replace(/"stdout":"(?:[^"\\]|\\.)*"/, '"stdout":"ok"')
    const args = ['hook', 'claude-code', '--no-stats', '--store', './throws.mjs']
    expect(await spillway(args, { input: short })).toMatchObject({ code: 0, stderr: '' })
  })

  const SERVER = `
    process.stdin.on('data', () => {
      const text = 'line\\n'.repeat(50_000)
      console.log(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text }] } }))
    }).on('end', () => process.exit())`
  it.each([...loaded, ['store.mjs', '']])('%s: the proxy clamps', { tags: 'long' }, async (name, failure) => {
    const child = start(['mcp', '--no-stats', '--store', `./${name}`, ...printing(SERVER)])
    const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'log' } }
    child.stdin?.write(`${JSON.stringify(request)}\n`)
    child.stdout?.once('data', () => child.stdin?.end())
    const { code, stdout } = await end(child)
    expect(code).toBe(0)
    const [{ text }] = JSON.parse(stdout).result.content
    expect(text.length).toBeLessThanOrEqual(51_200)
    expect(text).toMatch(failure ? `could not be saved (${failure})` : /saved as [0-9a-f]{16}, /)
  })
})

describe('a store that hangs', () => {
  const never = () => new Promise<never>(() => {})
  const stored = (store: Partial<SpillStore>) => {
    const shared = globalThis as { hanging?: unknown }
    shared.hanging = { save: never, read: never, search: never, list: never, sweep: never, ...store }
    write('hanging.mjs', 'export default () => globalThis.hanging')
    return new ModuleStore(join(place, 'hanging.mjs'), 50)
  }
  const text = 'x\n'.repeat(90_000)
  const tool = (spill: SpillStore) => wrapTool({ name: 't', execute: async () => text }, { spill })

  it('fails in time, whichever call hangs', async () => {
    expect(await tool(stored({})).execute()).toContain('could not be saved (ETIMEDOUT)')
    const hanging = stored({})
    for (const call of [
      () => hanging.read('0123456789abcdef'),
      () => hanging.search('0123456789abcdef', 'x'),
      () => hanging.list(),
      () => hanging.sweep(),
    ])
      await expect(call()).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    expect(await spillTool(hanging).execute({ id: '0123456789abcdef', pattern: 'x' })).toBe(
      'The output could not be read (ETIMEDOUT).',
    )
    const shared = globalThis as { hanging?: unknown }
    const unmade = stored({})
    shared.hanging = never()
    expect(await tool(unmade).execute()).toContain('could not be saved (ETIMEDOUT)')
  })

  it('lets the source of chunks go on', async () => {
    let ended = false
    async function* chunks() {
      try {
        for (;;) yield Buffer.from('chunk')
      } finally {
        ended = true
      }
    }
    const first = stored({
      save: async (given) => {
        for await (const _ of given as AsyncIterable<Uint8Array>) await never()
        return never()
      },
    })
    await expect(first.save(chunks())).rejects.toMatchObject({ code: 'ETIMEDOUT' })
    expect(ended).toBe(true)
  })

  it('is not one that waits for its source', async () => {
    const sizes: number[] = []
    const slow = stored({
      list: async () => [],
      save: async (given) => {
        for await (const { length } of given as AsyncIterable<Uint8Array>) sizes.push(length)
        return { id: '0123456789abcdef', path: 'p', bytes: 1, lines: 1, complete: true }
      },
    })
    async function* chunks() {
      for (let at = 1; at < 4; at++) {
        await vi.advanceTimersByTimeAsync(1_000)
        yield Buffer.alloc(at)
      }
    }
    // The module is loaded before time is the test's.
    await slow.list()
    vi.useFakeTimers()
    try {
      expect((await slow.save(chunks())).path).toBe('p')
    } finally {
      vi.useRealTimers()
    }
    expect(sizes).toEqual([1, 2, 3])
  })
})

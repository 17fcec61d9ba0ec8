import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from '../../cli/hook/jsonc.js'
import { withHook, withoutHook } from '../../cli/hook/settings.js'
import { HOSTS, type Host } from '../../lib/hook/hosts.js'
import { bin, place, shell, spillway, terminal, write } from '../support/cli.js'

const CLAUDE = HOSTS['claude-code'] as Host
const commandOf = (name: string) => `${process.execPath} ${bin} hook ${name}`
const COMMAND = commandOf('claude-code')
const hookOf = (command: string) => ({ matcher: '*', hooks: [{ type: 'command', command }] })
const ENTRY = hookOf(COMMAND)
const OTHER = { matcher: 'Bash', hooks: [{ type: 'command', command: 'true' }] }
let homes = 0

/** An empty home directory, with these settings in it. */
function homeWith(settings?: string) {
  const home = join(place, `home ${homes++}`)
  const file = join(home, '.claude/settings.json')
  mkdirSync(home)
  if (settings !== undefined) {
    mkdirSync(join(home, '.claude'))
    writeFileSync(file, settings)
  }
  const run = (...args: string[]) => spillway(args, { env: { HOME: home, CLAUDE_CONFIG_DIR: '' } })
  return { home, file, run, text: () => readFileSync(file, 'utf8') }
}

const SETTINGS: [string, string][] = [
  ['an empty object', '{}\n'],
  ['blanks', '{ \n }'],
  ['other settings', '{\n\t"model": "x",\n\t"env": { "A": "{[" }\n}\n'],
  ['one line', '{"model":"x","hooks":{}}'],
  ['hooks of other events', '{\n    "hooks": {\n        "Stop": []\n    }\n}'],
  ['an empty list', '{\n  "hooks": {\n    "PostToolUse": [ ]\n  }\n}\n'],
  ['other hooks', `${JSON.stringify({ hooks: { PostToolUse: [OTHER] }, z: 1 }, null, 4)}\n`],
  [
    'comments',
    '// mine\n{\n  /* { */ "hooks": { // }\n    "PostToolUse": [ /* none, */\n    ], // yet\n  },\n}\n// end',
  ],
  ['lines of Windows', '\ufeff{\r\n  "a": "é\\"\\\\",\r\n  "hooks": {}\r\n}\r\n'],
]

describe('spillway install', () => {
  it.each(SETTINGS)('adds the hook to %s, and takes it away again', { tags: 'long' }, async (_, before) => {
    const { home, file, run, text } = homeWith(before)
    const installed = await run('install', 'claude-code', '--yes')
    expect(installed.code).toBe(0)
    expect(installed.stdout).toMatch(/^--- .*settings\.json\n\+\+\+ .*\n@@ .* @@\n/)
    expect(installed.stdout).toContain(JSON.stringify(COMMAND))
    const after = text()
    expect(after).toBe(withHook(before, CLAUDE, COMMAND))
    expect(readFileSync(`${file}.spillway.bak`, 'utf8')).toBe(before)

    expect(await run('install', 'claude-code', '--yes')).toMatchObject({ code: 0, stdout: '' })
    expect(text()).toBe(after)

    expect(await run('uninstall', 'claude-code', '--yes')).toMatchObject({ code: 0 })
    expect(text()).toBe(before)
    expect(readdirSync(join(home, '.claude'))).toEqual(['settings.json'])
    expect(await run('uninstall', 'claude-code', '--yes')).toMatchObject({ code: 0, stdout: '' })
  })

  it('makes a file where there is none, and removes it', async () => {
    const { home, run, text } = homeWith()
    await run('install', 'claude-code', '--yes')
    expect(JSON.parse(text())).toEqual({ hooks: { PostToolUse: [ENTRY] } })
    await run('uninstall', 'claude-code', '--yes')
    expect(readdirSync(join(home, '.claude'))).toEqual([])
  })

  it('finds the settings where the host looks for them', async () => {
    const { home } = homeWith()
    const CLAUDE_CONFIG_DIR = join(home, 'elsewhere')
    const env = { HOME: home, CLAUDE_CONFIG_DIR }
    expect(await spillway(['install', 'claude-code', '--yes'], { env })).toMatchObject({ code: 0 })
    expect(readdirSync(home)).toEqual(['elsewhere'])
    expect(readdirSync(CLAUDE_CONFIG_DIR)).toEqual(['settings.json'])
  })

  it.each([
    ['gemini-cli', '.gemini/settings.json', { hooks: { AfterTool: [hookOf(commandOf('gemini-cli'))] } }],
    [
      'opencode',
      '.config/opencode/opencode.json',
      {
        plugin: [[pathToFileURL(join(dirname(bin), 'opencode.js')).href, { command: commandOf('opencode') }]],
      },
    ],
  ])('knows the settings of %s', { tags: 'long' }, async (host, path, added) => {
    for (const before of [
      undefined,
      ...SETTINGS.map(([, text]) => text),
      '{\n  "plugin": ["other"] // mine\n}\n',
    ]) {
      const { home } = homeWith()
      const file = join(home, path)
      mkdirSync(dirname(file), { recursive: true })
      if (before !== undefined) writeFileSync(file, before)
      const run = (...args: string[]) =>
        spillway([...args, '--yes'], { env: { HOME: home, XDG_CONFIG_HOME: '', GEMINI_CLI_HOME: '' } })
      expect(await run('install', host)).toMatchObject({ code: 0 })
      const after = readFileSync(file, 'utf8')
      if (before === undefined) expect(JSON.parse(after)).toEqual(added)
      else expect(after).toContain(JSON.stringify(commandOf(host)))
      expect(await run('install', host)).toMatchObject({ code: 0, stdout: '' })
      expect(await run('uninstall', host)).toMatchObject({ code: 0 })
      if (before !== undefined) expect(readFileSync(file, 'utf8')).toBe(before)
      expect(readdirSync(dirname(file))).toEqual(before === undefined ? [] : [basename(file)])
      expect(await run('uninstall', host)).toMatchObject({ code: 0, stdout: '' })
    }
  })

  it('changes the settings with comments that OpenCode has', async () => {
    const { home } = homeWith()
    const folder = join(home, 'opencode')
    mkdirSync(folder)
    for (const name of ['opencode.json', 'opencode.jsonc']) writeFileSync(join(folder, name), '{}')
    const env = { HOME: home, XDG_CONFIG_HOME: home }
    expect(await spillway(['install', 'opencode', '--yes'], { env })).toMatchObject({ code: 0 })
    expect(readFileSync(join(folder, 'opencode.json'), 'utf8')).toBe('{}')
    expect(readFileSync(join(folder, 'opencode.jsonc'), 'utf8')).toContain('hook opencode')
  })

  it('leaves other plugins, and those that were added since', async () => {
    const { home } = homeWith()
    const file = join(home, 'opencode.json')
    writeFileSync(file, '{ "plugin": ["one", ["two", { "command": "hook opencode" }]] }')
    const run = (own: string) =>
      spillway([own, 'opencode', '--yes', '--settings', file], { env: { HOME: home } })
    await run('install')
    const settings = JSON.parse(readFileSync(file, 'utf8'))
    expect(settings.plugin.slice(1)).toEqual(['one', ['two', { command: 'hook opencode' }]])
    writeFileSync(file, JSON.stringify({ plugin: [...settings.plugin, 'three'] }))
    await run('uninstall')
    expect(readFileSync(file, 'utf8')).toBe('{"plugin":["one",["two",{"command":"hook opencode"}],"three"]}')
  })

  it('installs a command that answers', async () => {
    const { home, run, text } = homeWith()
    await run('install', 'claude-code', '--yes')
    const command = JSON.parse(text()).hooks.PostToolUse[0].hooks[0].command
    const event = {
      hook_event_name: 'PostToolUse',
      tool_name: 'Grep',
      tool_response: { content: 'x\n'.repeat(20_000) },
    }
    writeFileSync(join(home, 'event.json'), JSON.stringify(event))
    const { code, stdout } = await shell(`HOME='${home}' ${command} < '${join(home, 'event.json')}'`)
    expect(code).toBe(0)
    expect(JSON.parse(stdout).hookSpecificOutput.updatedToolOutput.content).toMatch(/truncated/)
  })

  it('writes nothing without --yes and without a terminal', async () => {
    const { home, run, text } = homeWith('{}')
    const { code, stdout, stderr } = await run('install', 'claude-code')
    expect(code).toBe(1)
    expect(stdout).toContain('+  "hooks": {')
    expect(stderr).toBe('nothing was written; for that, run this with --yes\n')
    expect(text()).toBe('{}')
    expect(readdirSync(join(home, '.claude'))).toEqual(['settings.json'])

    await run('install', 'claude-code', '--yes')
    const after = text()
    const removed = await run('uninstall', 'claude-code')
    expect([removed.code, removed.stderr]).toEqual([1, stderr])
    expect(removed.stdout).toContain('-  "hooks": {')
    expect(text()).toBe(after)
  })

  it.each([
    ['y', true],
    ['n', false],
    ['', false],
  ])('asks on a terminal, and takes "%s" as %s', async (answer, isYes) => {
    const { home, text } = homeWith('{}')
    const child = terminal('install claude-code', { env: { HOME: home, CLAUDE_CONFIG_DIR: '' } })
    let seen = ''
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      if (!seen.includes('[y/N]') && (seen + text).includes('[y/N]')) child.stdin?.write(`${answer}\r`)
      seen += text
    })
    await new Promise((resolve) => child.on('close', resolve))
    expect(seen).toContain('[y/N]')
    expect(text() !== '{}').toBe(isYes)
  })

  it('writes through a link to the file named by --settings, and keeps its mode', async () => {
    const { home, run } = homeWith()
    const [real, link] = [join(home, 'real.json'), join(home, 'link.json')]
    writeFileSync(real, '{}', { mode: 0o640 })
    symlinkSync(real, link)
    expect(await run('install', 'claude-code', '--yes', '--settings', link)).toMatchObject({ code: 0 })
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(lstatSync(real).mode & 0o777).toBe(0o640)
    expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual({ hooks: { PostToolUse: [ENTRY] } })
  })

  it.each([
    'node /opt/other/dist/cli.js hook claude-code --log',
    'node /opt/spillway-fork/dist/cli.js hook claude-code',
    'myspillway hook claude-code',
    `${COMMAND}-extra`,
    COMMAND.replace('claude-code', 'gemini-cli'),
    'echo spillway hook claude-code',
    'cat log | grep spillway hook claude-code',
    `notify; ${COMMAND}; done.sh`,
    `my-wrapper --then ${COMMAND}`,
    `${COMMAND} && audit`,
    `${COMMAND} > log`,
    `${COMMAND} $(audit)`,
  ])('takes no entry of another tool for its own: %s', { tags: 'long' }, async (command) => {
    const before = JSON.stringify({ hooks: { PostToolUse: [hookOf(command)] } })
    const { file, run, text } = homeWith(before)
    expect((await run('uninstall', 'claude-code', '--yes')).stderr).toMatch(/has no hook of spillway/)
    expect(text()).toBe(before)
    expect(await run('install', 'claude-code', '--yes')).toMatchObject({ code: 0 })
    expect(JSON.parse(text()).hooks.PostToolUse).toEqual([ENTRY, hookOf(command)])
    writeFileSync(`${file}.spillway.bak`, 'another text')
    expect(await run('uninstall', 'claude-code', '--yes')).toMatchObject({ code: 0 })
    expect(JSON.parse(text())).toEqual(JSON.parse(before))
  })

  it.each([
    ['/gone/bin/node /gone/node_modules/spillway/dist/cli.js hook claude-code', COMMAND],
    [
      `'/gone bin/node' '/gone/spillway/dist/cli.js' hook claude-code --max-tokens 2000`,
      `${COMMAND} --max-tokens 2000`,
    ],
    [
      'nice node --no-warnings /gone/spillway/dist/cli.js hook claude-code',
      `nice node --no-warnings ${bin} hook claude-code`,
    ],
    [
      `env A=1 nice -n 5 node /gone/spillway/dist/cli.js hook claude-code --dir "a; b"`,
      `env A=1 nice -n 5 node ${bin} hook claude-code --dir "a; b"`,
    ],
    ['npx spillway hook claude-code --max-lines 9', 'npx spillway hook claude-code --max-lines 9'],
    ['/usr/bin/spillway hook claude-code', '/usr/bin/spillway hook claude-code'],
  ])('renews the paths of its own entry: %s', async (command, renewed) => {
    const settings = (command: string) =>
      `{ // mine\n  "hooks": { "PostToolUse": [ ${JSON.stringify(hookOf(command))} ] }\n}`
    const { file, run, text } = homeWith(settings(command))
    writeFileSync(`${file}.spillway.bak`, '{}')
    expect(await run('install', 'claude-code', '--yes')).toMatchObject({ code: 0 })
    expect(text()).toBe(settings(renewed))
    expect((await run('install', 'claude-code', '--yes')).stderr).toMatch(/has the hook already/)
    expect(readFileSync(`${file}.spillway.bak`, 'utf8')).toBe('{}')
    await run('uninstall', 'claude-code', '--yes')
    expect(text()).toBe('{ // mine\n}')
  })

  it('renews the path of its plugin', async () => {
    const { home } = homeWith()
    const file = join(home, 'opencode.json')
    const plugin = (dir: string, node: string) => [
      `file://${dir}/opencode.js`,
      { command: `${node} ${dir}/cli.js hook opencode` },
    ]
    writeFileSync(file, JSON.stringify({ plugin: ['one', plugin('/gone/spillway/dist', '/gone/node')] }))
    expect(
      await spillway(['install', 'opencode', '--yes', '--settings', file], { env: { HOME: home } }),
    ).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      plugin: ['one', plugin(dirname(bin), process.execPath)],
    })
  })

  it.each(['', ' \n', '\ufeff', '// mine\n'])('takes %j for empty settings, and restores them', {
    tags: 'long',
  }, async (before) => {
    const { home, run, text } = homeWith(before)
    expect(await run('install', 'claude-code', '--yes')).toMatchObject({ code: 0 })
    expect(text().startsWith(before)).toBe(true)
    expect(JSON.parse(text().slice(before.length))).toEqual({ hooks: { PostToolUse: [ENTRY] } })
    expect(await run('uninstall', 'claude-code', '--yes')).toMatchObject({ code: 0 })
    expect(text()).toBe(before)
    expect(readdirSync(join(home, '.claude'))).toEqual(['settings.json'])
    expect(await run('uninstall', 'claude-code', '--yes')).toMatchObject({ code: 0, stdout: '' })
  })

  it('removes no file that holds anything else, and none that it has not made', async () => {
    const { file, run, text } = homeWith()
    await run('install', 'claude-code', '--yes')
    writeFileSync(file, `${text()}// mine\n`)
    await run('uninstall', 'claude-code', '--yes')
    expect(text()).toBe('{}\n// mine\n')
    writeFileSync(file, JSON.stringify({ hooks: { PostToolUse: [ENTRY] } }))
    await run('uninstall', 'claude-code', '--yes')
    expect(text()).toBe('{}')
  })

  it('follows no link in place of a file that it writes, and leaves none behind', async () => {
    const { home, file, run } = homeWith('{}')
    const victim = join(home, '.bashrc')
    writeFileSync(victim, 'precious')
    for (const name of ['tmp', 'bak']) symlinkSync(victim, `${file}.spillway.${name}`)
    expect(await run('install', 'claude-code', '--yes')).toMatchObject({ code: 0 })
    expect(readFileSync(victim, 'utf8')).toBe('precious')
    expect(lstatSync(file).isFile()).toBe(true)
    expect(readFileSync(`${file}.spillway.bak`, 'utf8')).toBe('{}')
    expect(readdirSync(dirname(file)).sort()).toEqual([
      'settings.json',
      'settings.json.spillway.bak',
      'settings.json.spillway.tmp',
    ])
  })

  it('makes the file to which a link leads', async () => {
    const { home, run } = homeWith()
    const link = join(home, 'link.json')
    mkdirSync(join(home, 'real'))
    symlinkSync('real/next.json', link)
    symlinkSync('settings.json', join(home, 'real/next.json'))
    expect(await run('install', 'claude-code', '--yes', '--settings', link)).toMatchObject({ code: 0 })
    expect(readlinkSync(link)).toBe('real/next.json')
    expect(JSON.parse(readFileSync(join(home, 'real/settings.json'), 'utf8'))).toEqual({
      hooks: { PostToolUse: [ENTRY] },
    })
    expect(await run('uninstall', 'claude-code', '--yes', '--settings', link)).toMatchObject({ code: 0 })
    expect(existsSync(join(home, 'real/settings.json'))).toBe(false)
    const round = join(home, 'round.json')
    symlinkSync('round.json', round)
    const { code, stderr } = await run('install', 'claude-code', '--yes', '--settings', round)
    expect([code, stderr]).toEqual([1, expect.stringContaining('leads back to itself')])
  })

  it('keeps the mode of a file under any umask', async () => {
    const { home, file } = homeWith('{}')
    chmodSync(file, 0o664)
    await shell(`umask 077; HOME='${home}' CLAUDE_CONFIG_DIR= spillway install claude-code --yes`)
    expect(lstatSync(file).mode & 0o777).toBe(0o664)
  })

  it('does not overwrite what was written while it asked', async () => {
    const { home, file, text } = homeWith('{}')
    const child = terminal('install claude-code', { env: { HOME: home, CLAUDE_CONFIG_DIR: '' } })
    let seen = ''
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      if (!seen.includes('[y/N]') && (seen + text).includes('[y/N]')) {
        writeFileSync(file, '{"new":1}')
        child.stdin?.write('y\r')
      }
      seen += text
    })
    await new Promise((resolve) => child.on('close', resolve))
    expect(seen).toContain('has changed since it was read')
    expect(text()).toBe('{"new":1}')
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('reads no pipe', async () => {
    const { home, run } = homeWith()
    const pipe = join(home, 'pipe.json')
    await shell(`mkfifo '${pipe}'`)
    const { code, stderr } = await run('install', 'claude-code', '--yes', '--settings', pipe)
    expect([code, stderr]).toEqual([1, expect.stringContaining('is a pipe or a device')])
  })

  it('shows nothing on which a terminal acts', async () => {
    const nasty = '\u001b[2J\u009b31m\u202e\r'
    const { home, run } = homeWith()
    const file = join(home, `${nasty}.json`)
    writeFileSync(file, `{\n\t"a": 1, // ${nasty}\n\t"b": 2\n}\n`)
    const { stdout, stderr } = await run('install', 'claude-code', '--yes', '--settings', file)
    expect(stdout).toContain('\\u001b[2J\\u009b31m\\u202e')
    expect(stdout).toContain('\n \t"a"')
    expect(stderr).toContain('has the hook')
    expect(stdout + stderr).not.toMatch(/[\p{Bidi_Control}]|(?![\n\t])\p{Cc}/u)
  })

  it('alone loads the parser, which carries its licence', async () => {
    const told = write(
      'loaded.cjs',
      `process.on('exit', () => {
         const files = Object.keys(require.cache).map((file) => require('node:path').basename(file))
         require('node:fs').writeFileSync(__filename + '.json', JSON.stringify(files))
       })`,
    )
    const { home } = homeWith()
    for (const [name, loads] of [
      ['install', true],
      ['repair', false],
      ['stats', false],
    ] as const) {
      const args = name === 'install' ? [name, 'claude-code', '--yes'] : [name]
      await spillway(args, { env: { HOME: home, CLAUDE_CONFIG_DIR: '', NODE_OPTIONS: `--require ${told}` } })
      expect(JSON.parse(readFileSync(`${told}.json`, 'utf8')).includes('settings.js')).toBe(loads)
    }
    const dist = dirname(bin)
    const texts = readdirSync(dist).filter((name) => name.endsWith('.js'))
    const bundled = texts.filter((name) => readFileSync(join(dist, name), 'utf8').includes('createScanner'))
    expect(bundled).toEqual(['settings.js'])
    const text = readFileSync(join(dist, 'settings.js'), 'utf8')
    expect(text).toMatch(/^\/\*! jsonc-parser .*Copyright \(c\) Microsoft.*Permission is hereby granted/s)
    expect(text.length).toBeLessThan(64 * 1024)
  })

  it('leaves comments wherever they stand', () => {
    const comment = fc.constantFrom('', ' ', '/* a */', '\n', '\n// b\n  ', ' // c\n')
    const gaps = fc.array(comment, { minLength: 12, maxLength: 12 })
    fc.assert(
      fc.property(gaps, fc.boolean(), fc.boolean(), (gaps, hasOther, hasComma) => {
        const [a, b, c, d, e, f, g, h, i, j, k, l] = gaps
        const others = hasOther ? `${JSON.stringify(OTHER)}${d}${hasComma ? ',' : ''}` : d
        const before = `${a}{${b}"model"${c}:1,${e}"hooks":${f}{${g}"PostToolUse"${h}:[${i}${others}${j}]${k}}${l}}`
        const after = withHook(before, CLAUDE, COMMAND)
        const left = withoutHook(after, CLAUDE, COMMAND)
        const comments = (text: string) => text.match(/\/\/ .|\/\* a \*\//g) ?? []
        expect(comments(left).join()).toBe(comments(before).join())
        if (/\/[/*]/.test(`${i}${d}${j}`) || hasOther) expect(left).toBe(before)
        expect(parse(left).root).toBeDefined()
      }),
    )
  })

  it('leaves comments beside an entry that was moved', () => {
    const gap = fc.constantFrom('', ' ', '/* a */', '\n', '\n// b\n  ', ' // c\n')
    fc.assert(
      fc.property(
        fc.array(gap, { minLength: 6, maxLength: 6 }),
        fc.nat(2),
        fc.boolean(),
        (gaps, at, hasComma) => {
          const all = ['1', '2']
          all.splice(at, 0, JSON.stringify(ENTRY))
          const list = all.map((one, nth) => `${gaps[2 * nth]}${one}${gaps[2 * nth + 1]}`).join()
          const before = `{"hooks":{"PostToolUse":[${list}${hasComma ? ',' : ''}]}}`
          const left = withoutHook(before, CLAUDE, COMMAND)
          expect(left.match(/\/\/ .|\/\* a \*\//g)).toEqual(before.match(/\/\/ .|\/\* a \*\//g))
          const bare = left.replace(/\/\/ .|\/\* a \*\//g, '').replace(/,\s*\]/, ']')
          expect(JSON.parse(bare)).toEqual({ hooks: { PostToolUse: [1, 2] } })
        },
      ),
    )
  })

  it('leaves what was changed since', async () => {
    const { file, run, text } = homeWith('{ "hooks": { "PostToolUse": [] } }')
    await run('install', 'claude-code', '--yes')
    const settings = JSON.parse(text())
    settings.hooks.PostToolUse.push(OTHER)
    writeFileSync(file, JSON.stringify({ ...settings, model: 'x' }, null, 2))
    await run('uninstall', 'claude-code', '--yes')
    expect(text()).toBe(JSON.stringify({ hooks: { PostToolUse: [OTHER] }, model: 'x' }, null, 2))
  })

  it.each([
    ['{', /settings\.json: line 1 is not valid JSON/],
    ['{\n  "a": nul\n}', /line 2 is not valid JSON/],
    ['[]', /settings must be an object, got array/],
    ['{ "hooks": [] }', /"hooks" must be an object, got array/],
    ['{ "hooks": { "PostToolUse": {} } }', /"PostToolUse" must be an array, got object/],
  ])('refuses %j', async (settings, told) => {
    const { run, text } = homeWith(settings)
    const { code, stdout, stderr } = await run('install', 'claude-code', '--yes')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(told)
    expect(text()).toBe(settings)
  })

  it('restores any settings', () => {
    const entry = fc.constantFrom(OTHER, { ...OTHER, matcher: '' })
    const settings = fc.record(
      {
        a: fc.jsonValue(),
        'é"': fc.jsonValue(),
        hooks: fc.record(
          { Stop: fc.constant([]), PostToolUse: fc.array(entry, { minLength: 1, maxLength: 3 }) },
          { requiredKeys: ['PostToolUse'] },
        ),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(settings, fc.constantFrom('', '  ', '\t'), (value, indent) => {
        const before = JSON.stringify(value, null, indent)
        const after = withHook(before, CLAUDE, COMMAND)
        expect(JSON.parse(after)).toEqual({
          ...JSON.parse(before),
          hooks: { ...value.hooks, PostToolUse: [ENTRY, ...(value.hooks?.PostToolUse ?? [])] },
        })
        expect(withoutHook(after, CLAUDE, COMMAND)).toBe(before)
      }),
    )
  })

  it('reads what JSON.parse reads, and nothing that it takes for something else', () => {
    const text = fc.oneof(
      fc.json(),
      fc
        .array(fc.constantFrom('{', '}', '[', ']', ',', ':', '"a"', '1', ' '), { maxLength: 8 })
        .map((a) => a.join('')),
    )
    fc.assert(
      fc.property(text, (text) => {
        const [ours, theirs] = [(text: string) => parse(text).root, JSON.parse].map((read) => {
          try {
            return read(text) !== undefined
          } catch {
            return false
          }
        })
        // A comma before a closing bracket is allowed.
        if (!/,\s*[}\]]/.test(text)) expect(ours).toBe(theirs)
      }),
    )
  })
})

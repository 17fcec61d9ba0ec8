import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { homeOf } from '../../cli/doctor/homes.js'
import { agents, databases } from '../../src/layouts.json'
import { agentSamples } from '../support/agent_samples.js'
import { place, session, shell, spillway, typed } from '../support/cli.js'
import { jsonLines } from '../support/scratch.js'

const LONG = 'a line of output, 漢字\n'.repeat(6_000)
const bounded = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : []

/** No variable of an agent is set, but those that are given. */
const variables = agents.flatMap(({ homes }) => homes.flatMap((home) => ('env' in home ? [home.env] : [])))
const environment = (home: string, given: Record<string, string> = {}) => ({
  ...Object.fromEntries(variables.map((name) => [name, ''])),
  HOME: home,
  ...given,
})

const newHome = () => mkdtempSync(join(place, 'home-'))

function put(home: string, file: string, text: string, seconds = 1_767_323_045): string {
  const path = join(home, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  utimesSync(path, seconds, seconds)
  return path
}

function sample(agent: string, text: string): string {
  const made = agentSamples.find((sample) => sample.agent === agent)?.make(text) ?? []
  return typeof made === 'string' ? made : jsonLines(made)
}

const claude = (text: string, id = '') =>
  jsonLines([
    {
      type: 'assistant',
      uuid: `a${id}`,
      parentUuid: null,
      sessionId: 's',
      message: { role: 'assistant', content: [{ type: 'tool_use', id: `t${id}`, name: 'Bash', input: {} }] },
    },
    {
      type: 'user',
      uuid: `b${id}`,
      parentUuid: `a${id}`,
      sessionId: 's',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${id}`, content: text }] },
    },
  ])

/** A PNG that says its size, as base64. */
const pngOf = (bytes: number, width: number) => {
  const png = Buffer.alloc(bytes)
  Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(png)
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(100, 20)
  return png.toString('base64')
}
/** An image in a message of the user. */
const image = (bytes: number, width: number) => {
  const source = { type: 'base64', media_type: 'image/png', data: pngOf(bytes, width) }
  return jsonLines([
    {
      type: 'user',
      uuid: 'a',
      parentUuid: null,
      sessionId: 's',
      message: { role: 'user', content: [{ type: 'image', source }] },
    },
  ])
}

/** A row that was begun twice. */
const GLUED = claude('short').replace('\n', '\n{"type":"user","message":{"content":"be')
const [UNPAIRED = ''] = claude('short').split('\n')

/** The place in which each agent keeps a session of `text` on Linux. */
const kept = (text: string): [agent: string, file: string, text: string][] => [
  ['Pi', '.pi/agent/sessions/--w--/1_a.jsonl', session([['bash', text]])],
  ['OpenClaw', '.openclaw/agents/main/sessions/a.jsonl', session([['bash', text]])],
  ['Claude Code', '.claude/projects/-w/a.jsonl', claude(text)],
  ['Claude Code', '.claude/projects/-w/a/subagents/agent-b.jsonl', claude(text)],
  ['Codex CLI', '.codex/sessions/2026/01/02/rollout-a.jsonl', sample('Codex CLI', text)],
  ['Codex CLI', '.codex/archived_sessions/rollout-b.jsonl', sample('Codex CLI', text)],
  ['Copilot CLI', '.copilot/session-state/a/events.jsonl', sample('Copilot CLI', text)],
  ['Gemini CLI', '.gemini/tmp/w/chats/session-a.jsonl', sample('Gemini CLI', text)],
  ['Gemini CLI', '.gemini/tmp/w/chats/session-b.json', sample('Gemini CLI up to 0.38', text)],
  [
    'Cline',
    '.config/VSCodium/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json',
    sample('Cline and Roo Code', text),
  ],
  [
    'Cline',
    '.vscode-server/data/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json',
    sample('Cline and Roo Code', text),
  ],
  ['Cline CLI', '.cline/data/sessions/a/a.messages.json', sample('Cline CLI', text)],
  [
    'Roo Code',
    '.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json',
    sample('Cline and Roo Code', text),
  ],
  [
    'Roo Code',
    '.vscode-server/data/User/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json',
    sample('Cline and Roo Code', text),
  ],
  ['OpenCode', '.local/share/opencode/storage/part/msg_2/prt_1.json', sample('OpenCode', text)],
  ['Qwen Code', '.qwen/projects/-w/chats/a.jsonl', sample('Qwen Code', text)],
  ['Kimi CLI', '.kimi/sessions/f00/a/context.jsonl', sample('Kimi CLI', text)],
  ['Kimi Code', '.kimi-code/sessions/wd_w/session_a/agents/main/wire.jsonl', sample('Kimi Code', text)],
  ['Continue CLI', '.continue/sessions/a-b.json', sample('Continue CLI', text)],
]

/** Limits below those to which some agents cut a result when they send it. */
const LOW = ['--max-chars', '4000']

/** The names, modes, times and bytes below a directory. */
function tree(dir: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(dir, name)
    const { mode, mtimeMs } = statSync(path)
    hash.update(`${name} ${mode} ${mtimeMs}\n`)
    if (statSync(path).isFile()) hash.update(readFileSync(path))
  }
  return hash.digest('hex')
}

// biome-ignore lint/suspicious/noExplicitAny: lines of sessions and of databases
async function listed(env: Record<string, string>, ...args: string[]): Promise<any[]> {
  const { code, stdout, stderr } = await spillway(['doctor', '--json', ...args], { env })
  expect([code, stderr]).toEqual([0, ''])
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

describe('doctor', () => {
  it('finds a session of every agent, and its command repairs it', { tags: 'long' }, async () => {
    const home = newHome()
    const env = environment(home)
    for (const [, file, text] of kept(LONG)) put(home, file, text)
    const found = await listed(env, ...LOW)
    expect(found.map(({ agent, path }) => [agent, path]).sort()).toEqual(
      kept('')
        .map(([agent, file]) => [agent, join(home, file)])
        .sort(),
    )
    expect(
      agents.map(({ name }) => name).filter((name) => !found.some(({ agent }) => agent === name)),
    ).toEqual(['Kilo CLI', 'Mistral Vibe', 'Goose'])
    for (const { over, damaged, paired, command, path } of found) {
      expect([over > 0, damaged, paired, command]).toEqual([
        true,
        0,
        0,
        `spillway repair --max-chars 4000 ${path}`,
      ])
    }
    // These cut a result themselves, to less than the limits.
    const own = (await listed(env)).map(({ agent }) => agent)
    expect(
      [...new Set(found.map(({ agent }) => agent))].filter((agent) => !own.includes(agent)).sort(),
    ).toEqual(['Cline CLI', 'Codex CLI'])
    const warnings: string[] = []
    for (const { command } of found) {
      const { code, stderr } = await typed(command)
      expect([command, code]).toEqual([command, 0])
      warnings.push(stderr)
    }
    const warned = warnings.join('').trimEnd().split('\n')
    expect(warned.every((line) => line.includes('known by the source of its agent'))).toBe(true)
    const files = warned.map((line) => kept('').find(([, file]) => line.includes(file))?.[0])
    expect([...new Set(files)].sort()).toEqual(['Cline', 'Gemini CLI', 'OpenCode', 'Roo Code'])
    expect(await listed(env, ...LOW)).toEqual([])
    const { stdout } = await spillway(['doctor'], { env })
    expect(stdout).toBe(`${found.length} sessions: none needs a repair.\n`)
  })

  it('leaves sessions that need no repair', async () => {
    const home = newHome()
    for (const [, file, text] of kept('short')) put(home, file, text)
    put(home, '.claude/projects/-w/empty.jsonl', '')
    put(home, '.claude/projects/-w/journal.jsonl', '{"started":true}\n')
    put(home, '.claude/projects/-w/note.txt', LONG)
    mkdirSync(join(home, '.claude/projects/-w/directory.jsonl'))
    expect(await listed(environment(home))).toEqual([])
  })

  it.each([
    ['PI_CODING_AGENT_DIR', 'sessions/--w--/a.jsonl', 'Pi'],
    ['PI_CODING_AGENT_SESSION_DIR', 'a.jsonl', 'Pi'],
    ['OPENCLAW_STATE_DIR', 'agents/main/sessions/a.jsonl', 'OpenClaw'],
    ['OPENCLAW_HOME', '.openclaw/agents/main/sessions/a.jsonl', 'OpenClaw'],
    ['CLAUDE_CONFIG_DIR', 'projects/-w/a.jsonl', 'Claude Code'],
    ['CODEX_HOME', 'sessions/2026/01/02/rollout-a.jsonl', 'Codex CLI'],
    ['COPILOT_HOME', 'session-state/a/events.jsonl', 'Copilot CLI'],
    ['GEMINI_CLI_HOME', '.gemini/tmp/w/chats/session-a.jsonl', 'Gemini CLI'],
    ['CLINE_SESSION_DATA_DIR', 'a/a.messages.json', 'Cline CLI'],
    ['CLINE_DATA_DIR', 'sessions/a/a.messages.json', 'Cline CLI'],
    ['CLINE_DIR', 'data/sessions/a/a.messages.json', 'Cline CLI'],
    ['XDG_DATA_HOME', 'opencode/storage/part/msg_2/prt_1.json', 'OpenCode'],
    ['QWEN_HOME', 'projects/-w/chats/a.jsonl', 'Qwen Code'],
    ['QWEN_RUNTIME_DIR', 'projects/-w/chats/a.jsonl', 'Qwen Code'],
    ['KIMI_SHARE_DIR', 'sessions/f00/a/context.jsonl', 'Kimi CLI'],
    ['KIMI_CODE_HOME', 'sessions/wd_w/session_a/agents/main/wire.jsonl', 'Kimi Code'],
    ['CONTINUE_GLOBAL_DIR', 'sessions/a-b.json', 'Continue CLI'],
    [
      'XDG_CONFIG_HOME',
      'Code/User/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json',
      'Cline',
    ],
  ])('%s leads to a session, in place of the home', { tags: 'long' }, async (variable, file, agent) => {
    const [home, elsewhere] = [newHome(), newHome()]
    for (const [of, path, text] of kept(LONG))
      if (of === agent && !path.startsWith('.vscode')) put(home, path, text)
    const [, , text = ''] = kept(LONG).find(([of]) => of === agent) ?? []
    const path = put(elsewhere, file, text)
    const own = environment(home, { [variable]: elsewhere })
    expect((await listed(own, ...LOW)).map(({ path }) => path)).toEqual([path])
    const name = elsewhere.slice(elsewhere.lastIndexOf('/') + 1)
    const tilde = environment(dirname(elsewhere), { [variable]: `~/${name}` })
    expect((await listed(tilde, ...LOW)).map(({ path }) => path)).toEqual([path])
  })

  it('knows the homes of other platforms', () => {
    const homes = agents.find(({ name }) => name === 'Cline')?.homes ?? []
    expect(homeOf(homes, {}, 'darwin')).toMatch(/\/Library\/Application Support$/)
    expect(homeOf(homes, { APPDATA: '/data' }, 'win32')).toBe('/data')
    expect(homeOf(homes, { XDG_CONFIG_HOME: '/data' }, 'darwin')).not.toBe('/data')
    const goose = agents.find(({ name }) => name === 'Goose')?.homes ?? []
    expect(homeOf(goose, {}, 'win32')).toBeUndefined()
  })

  it('names each reason, and the flags that it takes', { tags: 'long' }, async () => {
    const home = newHome()
    const at = (name: string) => `.claude/projects/-w/${name}.jsonl`
    const refused = '1 payload that anthropic would reject'
    const cases: [name: string, text: string, told: string, takes: string, flags: string][] = [
      ['over', claude(LONG), '1 result over the limits', 'cuts 1 result, 100 KB', ''],
      [
        'glued',
        GLUED,
        '1 row is not JSON',
        'mends 1 row that is not JSON, and puts 40 bytes of damage aside in glued.jsonl.damaged',
        '--damaged mend ',
      ],
      [
        'image',
        image(4_000_000, 100),
        refused,
        'replaces 1 image or file by words, 4.0 MB',
        '--for anthropic ',
      ],
      [
        'wide',
        image(200, 9_000),
        refused,
        'replaces 1 image or file by words, 200 bytes',
        '--for anthropic ',
      ],
      [
        'all',
        `${GLUED}\n${claude(LONG)}${image(200, 9_000)}`,
        `1 result over the limits; 1 row is not JSON; ${refused}`,
        'cuts 1 result, 100 KB; replaces 1 image or file by words, 200 bytes; mends 1 row that is not JSON, and puts 40 bytes of damage aside in all.jsonl.damaged',
        '--damaged mend --for anthropic ',
      ],
    ]
    for (const [name, text] of cases) put(home, at(name), text)
    const env = environment(home)
    const { code, stdout, stderr } = await spillway(['doctor'], { env })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(/^5 of 5 sessions need a repair, newest first:\n/)
    for (const [name, , told, takes, flags] of cases) {
      const path = join(home, at(name))
      const [, about, reason, taken, command] =
        stdout
          .split('\n\n')
          .find((part) => part.startsWith(`${path}\n`))
          ?.split('\n') ?? []
      expect(about).toMatch(/^ {2}Claude Code, 2026-01-02 03:04 UTC, [\d.]+ (?:bytes|[KM]B)$/)
      expect(reason?.replace(/ \([\d.]+ (?:bytes|[KM]B) to .*\)$/, '')).toBe(`  ${told}`)
      expect(taken).toBe(`  ${takes}; nothing else changes`)
      const dry = await shell(`${command} --dry-run`)
      expect(dry.stdout.split('\n')).toContain(taken)
      expect(command?.trimEnd()).toBe(`  spillway repair ${flags}${path}`)
      expect(await shell(command ?? 'false')).toMatchObject({ code: 0, stderr: '' })
    }
    expect(await listed(env)).toEqual([])
  })

  it('judges by the layout of the rows behind a damaged first one', async () => {
    const home = newHome()
    const [, result = ''] = claude('short').split('\n')
    const words = { type: 'user', uuid: 'c', parentUuid: 'b', message: { role: 'user', content: 'on' } }
    const path = put(home, 'a.jsonl', `{"type":"user","mess\n${result}\n${JSON.stringify(words)}\n`)
    expect((await spillway(['doctor', path])).stdout).toBe('1 session: none needs a repair.\n')
  })

  it('lists results without a call that no repair removes', async () => {
    const message = { role: 'toolResult', toolCallId: 'gone', content: [{ type: 'text', text: 'x' }] }
    const path = put(newHome(), 'a.jsonl', jsonLines([{ type: 'session' }, { type: 'message', message }]))
    const { stdout } = await spillway(['doctor', path])
    expect(stdout).toContain('1 result without a call, for which this format has no repair')
    expect(stdout).not.toContain('spillway repair')
    expect(JSON.parse((await spillway(['doctor', '--json', path])).stdout)).toMatchObject({ strays: 1 })
  })

  it('lists nothing that the agent of a session mends itself', async () => {
    const home = newHome()
    const env = environment(home)
    const called = claude('short').split('\n')
    put(home, '.claude/projects/-w/call.jsonl', `${called[0]}\n`)
    put(home, '.claude/projects/-w/result.jsonl', `${called[1]}\n`)
    const [header, call, result] = session([['bash', 'short']]).split('\n')
    put(home, '.pi/agent/sessions/--w--/call.jsonl', `${header}\n${call}\n`)
    const [, , , , second = ''] = session([
      ['bash', 'short'],
      ['bash', 'shorter'],
    ]).split('\n')
    const alone = JSON.stringify({ ...JSON.parse(second), parentId: JSON.parse(result ?? '').id })
    const rows = [header, call, result, alone].join('\n')
    const orphan = put(home, '.pi/agent/sessions/--w--/result.jsonl', `${rows}\n`)
    // Pi bounds a result to 51,200 bytes, and adds a notice.
    put(
      home,
      '.pi/agent/sessions/--w--/own.jsonl',
      session([['bash', `${'x'.repeat(51_200)}\n[Showing the first 50 KB]`]]),
    )
    expect(await listed(env)).toMatchObject([
      { path: orphan, orphans: 1, paired: 0, command: `spillway repair --pairs ${orphan}` },
    ])
  })

  it('lists damage only if a mend brings a row back, or if the host loses rows before it', async () => {
    const home = newHome()
    const env = environment(home)
    for (const [, file, text] of kept('short')) {
      const path = put(home, file, text)
      if (!path.endsWith('.jsonl')) continue
      const lines = text.trimEnd().split('\n')
      // The last row is torn, or was preallocated.
      put(home, file.replace('.jsonl', '-end.jsonl'), `${text.trimEnd()}\n${lines.at(-1)?.slice(0, -20)}`)
      put(home, file.replace('.jsonl', '-nul.jsonl'), `${text}${'\0'.repeat(300)}`)
    }
    expect(await listed(env)).toEqual([])
    const rows = session([
      ['bash', 'a'],
      ['bash', 'b'],
    ]).split('\n')
    const at = '.pi/agent/sessions/--w--'
    const torn = rows[2]?.slice(0, -20) ?? ''
    const lost = put(home, `${at}/lost.jsonl`, rows.with(2, torn).join('\n'))
    const back = put(home, `${at}/back.jsonl`, rows.with(2, `${torn}${rows[2]}`).join('\n'))
    const found = new Map((await listed(env)).map((one) => [one.path, one]))
    expect([...found.keys()].sort()).toEqual([back, lost])
    expect(found.get(back)).toMatchObject({ damaged: 1, command: `spillway repair --damaged mend ${back}` })
    expect(found.get(lost)).toMatchObject({ lostParent: 4 })
    expect(found.get(lost).command ?? '').not.toContain('mend')
  })

  it('lists damage of a row that repeats results only if the row of their call is damaged', async () => {
    const home = newHome()
    const rows = sample('Gemini CLI', 'short').split('\n')
    const glued = (at: number) => rows.toSpliced(at, 2, `${rows[at]}${rows[at + 1]}`).join('\n')
    const at = '.gemini/tmp/w/chats'
    const call = put(home, `${at}/call.jsonl`, glued(2))
    // The turn of the user and settings, without the copy of all messages behind them.
    put(home, `${at}/turn.jsonl`, rows.toSpliced(4, 2, `${rows[4]}${rows[2]}`).join('\n'))
    expect(await listed(environment(home))).toMatchObject([{ path: call, damaged: 1 }])
  })

  it('lists no damage of a row that the host does not send', async () => {
    const home = newHome()
    const message = { role: 'tool', content: [{ type: 'text', text: 'short' }], toolCallId: 'c1' }
    const event = JSON.stringify({ message: { message }, type: 'agent.message.appended', kind: 'event' })
    const text = `${sample('Kimi Code', 'short')}${event}${event}\n`
    put(home, '.kimi-code/sessions/wd_w/session_a/agents/main/wire.jsonl', text)
    expect(await listed(environment(home))).toEqual([])
  })

  it('lists a lost row only if its host sends nothing before it', async () => {
    const home = newHome()
    const env = environment(home)
    const lost: string[] = []
    for (const [agent, file, text] of kept('short')) {
      if (!file.endsWith('.jsonl')) continue
      const rows = text.trimEnd().split('\n')
      const last = JSON.parse(rows.at(-1) ?? '')
      if (!('parentId' in last || 'parentUuid' in last)) continue
      const row = { ...last, ...('parentId' in last ? { parentId: 'gone' } : { parentUuid: 'gone' }) }
      const path = put(home, file, [...rows.slice(0, -1), JSON.stringify(row), ''].join('\n'))
      if (['Pi', 'OpenClaw', 'Qwen Code'].includes(agent)) lost.push(path)
    }
    expect(lost).toHaveLength(3)
    const found = await listed(env)
    const named = found.filter(({ lostParent }) => lostParent !== undefined)
    expect(named.map(({ path }) => path).sort()).toEqual(lost.sort())
  })

  it('looks for what one provider rejects, or any', { tags: 'long' }, async () => {
    const home = newHome()
    put(home, '.pi/agent/sessions/--w--/a.jsonl', image(4_000_000, 100))
    const [any] = await listed(environment(home))
    expect(any).toMatchObject({ agent: 'Pi', media: 1, provider: 'anthropic' })
    expect(await listed(environment(home), '--for', 'openai')).toEqual([])
    const [one] = await listed(environment(home), '--for', 'bedrock')
    expect(one.command).toContain(' --for bedrock ')
    // An agent of one provider is known by its rows as well as by its home.
    const wide = sample('Gemini CLI', 'short').replace(
      '"content":[{"text":"build it"}]',
      `"content":[{"inlineData":${JSON.stringify({ mimeType: 'image/png', data: pngOf(400, 9_000) })}}]`,
    )
    expect(wide).toContain('inlineData')
    const path = put(home, 'a.jsonl', wide)
    expect(await listed(environment(home), path)).toEqual([])
    expect(await listed(environment(home), '--for', 'anthropic', path)).toMatchObject([{ path, media: 1 }])
  })

  it('lists no session for what its host mends, or for less than a tenth', async () => {
    const home = newHome()
    put(home, '.claude/projects/-w/unpaired.jsonl', `${UNPAIRED}\n`)
    // Claude Code and Qwen Code read rows on one line.
    put(home, '.claude/projects/-w/glued.jsonl', `${claude('short').replace('\n', '')}`)
    put(home, '.qwen/projects/-w/chats/glued.jsonl', sample('Qwen Code', 'short').replace(/\n(?=.+\n$)/, ''))
    // What a host bounded itself, and the notice that says so.
    const bounded = `${`${'x'.repeat(99)}\n`.repeat(512)}[Showing lines 1-512 of 9000. Full output: /tmp/a]`
    put(home, '.pi/agent/sessions/--w--/a.jsonl', session([['bash', bounded]]))
    expect(await listed(environment(home))).toEqual([])
  })

  it('lists a call without a result where the host sends it as it is', { tags: 'long' }, async () => {
    const home = newHome()
    const rows = sample('Kimi CLI', 'short').trimEnd().split('\n')
    const at = rows.findIndex((row) => row.includes('"role":"tool"'))
    const path = put(
      home,
      '.kimi/sessions/f00/a/context.jsonl',
      jsonLines(rows.toSpliced(at, 1).map((row) => JSON.parse(row))),
    )
    // A result that was cut off.
    const torn = rows.with(at, rows[at]?.slice(0, -20) ?? '').slice(0, at + 1)
    const damaged = put(home, '.kimi/sessions/f00/b/context.jsonl', torn.join('\n'))
    const found = await listed(environment(home))
    expect(found.map(({ path, command }) => [path, command]).sort()).toEqual(
      [path, damaged].map((path) => [path, `spillway repair --pairs ${path}`]),
    )
    expect((await spillway(['doctor', path])).stdout).toContain('  1 call without a result')
    for (const { command } of found) expect(await shell(command)).toMatchObject({ code: 0, stderr: '' })
    expect(await listed(environment(home))).toEqual([])
  })

  it.each([
    ['rows', (rows: object[]) => jsonLines(rows)],
    ['a document', (rows: object[]) => JSON.stringify(rows)],
  ])('lists a call without a result in plain messages, %s', async (_, written) => {
    const call = { id: 'a', type: 'function', function: { name: 'bash', arguments: '{}' } }
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'user', content: 'well?' },
    ]
    const path = put(newHome(), 'messages.json', written(messages))
    const { stdout } = await spillway(['doctor', '--json', path])
    const command = `spillway repair --pairs ${path}`
    expect(JSON.parse(stdout)).toMatchObject({ paired: 1, command })
    expect(await shell(command)).toMatchObject({ code: 0, stderr: '' })
    expect((await spillway(['doctor', '--json', path])).stdout).toBe('')
  })

  it.each([
    ['a JPEG as PNG', Buffer.from('ffd8ffe000104a46494600010100000100010000ffc0000b0800100010010111', 'hex')],
    ['a text', Buffer.from('no image at all, but a line of text')],
    ['an HTML page', Buffer.from('<!DOCTYPE html><title>Not found</title>')],
    ['nothing', Buffer.alloc(0)],
    ['a truncated header', Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')],
  ])('finds an image that is %s, for every provider', { tags: 'long' }, async (_, bytes) => {
    const home = newHome()
    const source = { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') }
    const rows = (content: object[]) =>
      jsonLines([{ type: 'user', uuid: 'a', parentUuid: null, message: { role: 'user', content } }])
    const path = put(home, '.claude/projects/-w/a.jsonl', rows([{ type: 'image', source }]))
    for (const provider of ['anthropic', 'openai', 'gemini', 'bedrock'])
      expect(await listed(environment(home), '--for', provider)).toMatchObject([{ media: 1, provider }])
    const [{ command }] = await listed(environment(home))
    expect(await shell(command)).toMatchObject({ code: 0, stderr: '' })
    expect(readFileSync(path, 'utf8')).toContain(`[... ${bytes.length} bytes of image/`)
    expect(await listed(environment(home))).toEqual([])
  })

  it('says what to do about a lost row and a name that no provider takes', async () => {
    const home = newHome()
    const rows = session([
      ['bash', 'a'],
      ['bash', 'b'],
    ]).split('\n')
    const lost = put(home, 'lost.jsonl', rows.toSpliced(2, 1).join('\n'))
    const named = put(home, 'named.jsonl', rows.join('\n').replaceAll('"bash"', '"ba\\u0000sh"'))
    const { code, stdout } = await spillway(['doctor', home])
    expect(code).toBe(0)
    expect(stdout).toContain(`${lost}\n`)
    expect(stdout).toContain(
      '  Line 3 follows a row that is not in the file, so nothing before it is sent.\n    Look for that row in lost.jsonl.bak or lost.jsonl.damaged.',
    )
    expect(stdout).toContain(`${named}\n`)
    expect(stdout).toContain('  Line 2 calls a tool by a name that no provider takes')
    expect(stdout).not.toContain('spillway repair')
    const inspected = await spillway(['inspect', lost])
    expect(inspected.stdout).toContain('Line 3 follows a row that is not in the file')
  })

  it('finds results that each fit and together exceed every window', { tags: 'long' }, async () => {
    const home = newHome()
    const dense = '漢'.repeat(17_000)
    const results = (count: number) =>
      session(Array.from({ length: count }, (_, at): [string, string] => ['bash', `${at}${dense}`]))
    put(home, 'few.jsonl', results(10))
    const path = put(home, 'many.jsonl', results(90))
    const [found, ...others] = await listed(environment(home), home)
    expect([found?.path, others]).toEqual([path, []])
    expect(found.together).toBeGreaterThan(1_000_000)
    expect(found.command).toMatch(/^spillway repair --max-total-chars \d+ /)
    expect(await shell(found.command)).toMatchObject({ code: 0, stderr: '' })
    expect(await listed(environment(home), home)).toEqual([])
  })

  it('repeats the limits in its command', async () => {
    const home = newHome()
    const path = put(home, '.claude/projects/-w/a.jsonl', claude(LONG))
    const env = environment(home)
    expect(await listed(env, '--max-bytes', '1M', '--max-lines', '10000')).toEqual([])
    const [{ command }] = await listed(env, '--max-bytes', '10K')
    expect(command).toBe(`spillway repair --max-bytes 10K ${path}`)
  })

  it('lists the newest first', async () => {
    const home = newHome()
    const names = ['c', 'a', 'd', 'b']
    for (const [at, name] of names.entries())
      put(home, `.claude/projects/-${name}/x.jsonl`, claude(LONG), 1_767_000_000 + at * 60)
    put(home, '.codex/sessions/2026/01/02/rollout-a.jsonl', sample('Codex CLI', LONG), 1_767_000_090)
    const found = await listed(environment(home), ...LOW)
    expect(found.map(({ modified }) => modified)).toEqual(
      [...found.map(({ modified }) => modified)].sort().reverse(),
    )
    expect(
      found.map(({ path }) => path.replace(/.*projects\/-(.).*/, '$1').replace(/.*rollout.*/, 'codex')),
    ).toEqual(['b', 'd', 'codex', 'a', 'c'])
  })

  it.each([
    'a b',
    "it's",
    '$(touch x)',
    'new\nline',
    '-dash',
    'a"b',
    '*',
    '\u202e\u009b',
    'back\\slash',
    "'\n\\'",
  ])('quotes %j for a shell', { tags: 'long' }, async (name) => {
    const home = newHome()
    const path = put(home, `.claude/projects/${name}/${name}.jsonl`, claude(LONG))
    const [{ command }] = await listed(environment(home))
    const shown = (await spillway(['doctor'], { env: environment(home) })).stdout
    expect(shown).not.toMatch(/[\p{Bidi_Control}\x7f-\x9f]/u)
    expect(shown.split('\n')).toContain(`  ${command}`)
    expect(await shell(command)).toMatchObject({ code: 0, stderr: '' })
    expect(statSync(path).size).toBeLessThan(80_000)
  })

  it('writes nothing', async () => {
    const home = newHome()
    for (const [, file, text] of kept(LONG)) put(home, file, text)
    put(home, '.claude/projects/-w/glued.jsonl', GLUED)
    put(home, '.claude/projects/-w/unpaired.jsonl', `${UNPAIRED}\n`)
    const before = tree(home)
    await spillway(['doctor'], { env: environment(home) })
    await listed(environment(home))
    expect(tree(home)).toBe(before)
  })

  it('takes files and directories', async () => {
    const home = newHome()
    const one = put(home, 'x/one.jsonl', claude(LONG))
    const two = put(home, 'x/y/two.jsonl', claude(LONG))
    const none = put(home, 'none.jsonl', '{"some":"row"}\n')
    const env = environment(home)
    expect((await listed(env, join(home, 'x'))).map(({ path }) => path).sort()).toEqual([one, two])
    expect((await listed(env, two)).map(({ path }) => path)).toEqual([two])
    const odd = await spillway(['doctor', none, two, join(home, 'gone.jsonl')], { env })
    expect(odd).toMatchObject({ code: 1, stdout: expect.stringContaining(two) })
    expect(odd.stderr).toContain(`${none}: unrecognized session format`)
    expect(odd.stderr).toContain('gone.jsonl: no such file')
  })

  it('tells of what it cannot read, and goes on', async () => {
    const home = newHome()
    const path = put(home, '.claude/projects/-w/a.jsonl', claude(LONG))
    const closed = put(home, '.claude/projects/-w/closed.jsonl', claude(LONG))
    const dir = dirname(put(home, '.codex/sessions/2026/rollout-a.jsonl', sample('Codex CLI', LONG)))
    chmodSync(closed, 0)
    chmodSync(dir, 0)
    const env = environment(home)
    for (const args of [[], [join(home, '.claude'), join(home, '.codex')]]) {
      const { code, stdout, stderr } = await spillway(['doctor', ...args], { env, before: bounded })
      expect([code, stdout.includes(path)]).toEqual([1, true])
      for (const one of [closed, dir]) expect(stderr).toContain(`${one}: permission denied`)
    }
    chmodSync(dir, 0o700)
  })

  it('follows no link to a directory, and survives those that lead back', async () => {
    const home = newHome()
    const path = put(home, '.claude/projects/-w/a.jsonl', claude(LONG))
    symlinkSync(join(home, '.claude/projects'), join(home, '.claude/projects/-w/again'))
    symlinkSync('loop.jsonl', join(home, '.claude/projects/-w/loop.jsonl'))
    symlinkSync('gone.jsonl', join(home, '.claude/projects/-w/dangling.jsonl'))
    expect((await listed(environment(home))).map(({ path }) => path)).toEqual([path])
  })

  it('names a database of an agent, and what to do', async () => {
    const home = newHome()
    const names = [
      '.local/share/goose/sessions/sessions.db',
      '.openclaw/agents/main/agent/openclaw-agent.sqlite',
    ]
    for (const name of names) put(home, name, 'SQLite format 3\0')
    const store = put(home, '.local/share/opencode/opencode-dev.db', 'SQLite format 3\0')
    // OpenCode reads its older files no more.
    put(home, '.local/share/opencode/storage/part/msg_2/prt_1.json', sample('OpenCode', LONG))
    const found = await listed(environment(home))
    expect(found.map(({ agent, path }) => [agent, path])).toEqual([
      ['OpenClaw', join(home, names[1] ?? '')],
      ['OpenCode', store],
      ['Goose', join(home, names[0] ?? '')],
    ])
    for (const { agent, advice } of found)
      expect(databases.find((one) => one.agent === agent)?.advice).toBe(advice)
    const { stdout } = await spillway(['doctor'], { env: environment(home) })
    expect(stdout).toContain(`${store}: a database of OpenCode, which is not read.`)
  })

  it('says where it looked if nothing is there', async () => {
    const home = newHome()
    const { code, stdout } = await spillway(['doctor'], { env: environment(home) })
    expect([code, stdout.startsWith('No sessions in:\n')]).toEqual([0, true])
    expect(stdout).toContain(`\n  ${join(home, '.claude/projects')}\n`)
  })

  it.runIf(existsSync('/proc/self/io'))(
    'reads each of 10,000 sessions in one pass, and the few with a cause once more',
    { tags: 'long' },
    async () => {
      const home = newHome()
      const healthy = claude('short '.repeat(200))
      const dir = join(home, '.claude/projects/-w')
      mkdirSync(dir, { recursive: true })
      for (let at = 0; at < 10_000; at++)
        writeFileSync(join(dir, `${at}.jsonl`), at % 1_000 === 0 ? claude(LONG) : healthy)
      const bytes = 9_990 * healthy.length + 10 * Buffer.byteLength(claude(LONG))
      const io = (path: string) => `spillway doctor --json ${path} > found; grep rchar /proc/$$/io`
      const read = async (path: string) => {
        const { stdout } = await shell(io(path))
        return Number(/rchar: (\d+)/.exec(stdout)?.[1])
      }
      // Without the files of Node and of this package.
      const own = await read(join(dir, '1.jsonl'))
      const all = await read(dir)
      const found = readFileSync(join(place, 'found'), 'utf8').trim().split('\n')
      expect(found.length).toBe(10)
      // A file is looked at before it is read, to see whether it is one JSON value: 2.20 times the
      // bytes, give or take what Node reads for itself. A second pass would make it 3.
      expect(all - own).toBeLessThan(2.3 * bytes)
    },
  )
})

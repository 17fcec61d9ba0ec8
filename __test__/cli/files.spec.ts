import { linkSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isSameFile, sessionsOf } from '../../cli/files.js'
import { databases } from '../../src/layouts.json'
import { place, session, spillway, write } from '../support/cli.js'

const LONG = 'a line of output\n'.repeat(10_000)
const over = session([['bash', LONG]])
const folder = () => mkdtempSync(join(place, 'folder-'))
const COMMANDS = ['inspect', 'repair', 'doctor'] as const

describe('a folder', () => {
  it('of more sessions than a stack takes is read', { tags: 'long' }, async () => {
    const dir = folder()
    const count = 150_000
    for (let at = 0; at < count; at++) writeFileSync(join(dir, `${at}.jsonl`), '')
    const errors: unknown[] = []
    const { files } = await sessionsOf([dir], 'inspect', (error) => errors.push(error))
    expect([files.length, errors]).toEqual([count, []])
  })

  it.each(COMMANDS)('without a session is an error of %s', async (command) => {
    const dir = folder()
    writeFileSync(join(dir, 'note.txt'), 'no session')
    const { code, stderr } = await spillway([command, dir])
    expect([code, stderr]).toEqual([
      1,
      `spillway ${command}: ${dir}: holds no session that is known; give the file of a session, or a folder in which an agent that docs/sessions.md lists keeps its sessions\n`,
    ])
  })

  it('may hold files that only have the name of a session, unless they are named', async () => {
    const dir = folder()
    writeFileSync(join(dir, 'a.jsonl'), over)
    const other = join(dir, 'tool-settings.json')
    writeFileSync(other, '{"compilerOptions":{}}')
    for (const command of COMMANDS) {
      const all = await spillway([command, dir])
      expect([command, all.code, all.stderr]).toEqual([command, 0, ''])
      const one = await spillway([command, dir, other])
      expect([command, one.code]).toEqual([command, 1])
      expect(one.stderr).toContain('tool-settings.json')
    }
  })

  it('that holds only databases names each, with what to do instead', { tags: 'long' }, async () => {
    const dir = folder()
    for (const { files } of databases)
      writeFileSync(join(dir, files[0]?.replace('*', '1') ?? ''), 'SQLite format 3\0')
    const { code, stdout, stderr } = await spillway(['doctor', dir])
    expect([code, stderr]).toEqual([0, ''])
    const repaired = await spillway(['repair', dir])
    expect([repaired.code, repaired.stdout]).toEqual([1, ''])
    for (const { agent, files, advice } of databases) {
      const name = files[0]?.replace('*', '1') ?? ''
      expect(stdout).toContain(`${join(dir, name)}: a database of ${agent}, which is not read.`)
      expect(stdout).toContain(advice)
      expect(repaired.stderr).toContain(
        `${join(dir, name)} is a database of ${agent}, which is not read: ${advice}`,
      )
      const one = await spillway(['repair', join(dir, name)])
      expect([one.code, one.stderr.includes(`${agent}, which is not repaired in place: ${advice}`)]).toEqual([
        1,
        true,
      ])
    }
  })

  it('names what is not UTF-8 in it, in files and in folders', async () => {
    const dir = folder()
    const odd = (of: string, name: string, end: string) =>
      Buffer.concat([Buffer.from(join(of, name)), Buffer.of(0xe9), Buffer.from(end)])
    writeFileSync(odd(dir, 'caf', '.jsonl'), over)
    mkdirSync(odd(dir, 'th', ''))
    writeFileSync(Buffer.concat([odd(dir, 'th', ''), Buffer.from('/a.jsonl')]), over)
    for (const command of COMMANDS) {
      const { code, stderr } = await spillway([command, dir])
      expect(code).toBe(1)
      for (const name of ['caf\ufffd.jsonl', 'th\ufffd/a.jsonl'])
        expect(stderr).toContain(
          `${join(dir, name)}: no such file; a name that is not UTF-8 cannot be opened`,
        )
    }
    const home = folder()
    const projects = join(home, '.claude/projects/-w')
    mkdirSync(projects, { recursive: true })
    writeFileSync(odd(projects, 'caf', '.jsonl'), over)
    const { code, stderr } = await spillway(['doctor'], { env: { HOME: home, CLAUDE_CONFIG_DIR: '' } })
    expect([code, stderr.includes('caf\ufffd.jsonl: no such file; a name that is not UTF-8')]).toEqual([
      1,
      true,
    ])
  })
})

/** Makes a link and returns it. */
const linked = (link: (to: string, at: string) => void) => (to: string, at: string) => {
  link(to, at)
  return at
}

describe('a link', () => {
  it('to a session is not listed beside it, unless it is a hard link', async () => {
    const dir = folder()
    const [one, soft, hard] = ['one', 'soft', 'hard'].map((name) => join(dir, `${name}.jsonl`)) as [
      string,
      string,
      string,
    ]
    writeFileSync(one, over)
    symlinkSync(one, soft)
    linkSync(one, hard)
    const { stdout } = await spillway(['doctor', '--json', one, soft, hard])
    const paths = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).path)
    expect(paths.sort()).toEqual([hard, one])
  })

  it.each([
    ['itself', (to: string) => to],
    ['a symbolic link to it', linked(symlinkSync)],
    ['a hard link to it', linked(linkSync)],
  ])('inspect does not write a page over a session by %s', async (name, make) => {
    const file = write(`page-${name.length}.jsonl`, over)
    const page = make(file, join(folder(), 'page.html'))
    const { code, stderr } = await spillway(['inspect', file, '--html', page])
    expect([code, stderr]).toEqual([2, `spillway inspect: --html would replace ${file}; give another file\n`])
    expect(readFileSync(file, 'utf8')).toBe(over)
    expect(await isSameFile(file, page)).toBe(true)
  })
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { place, shell, spillway } from '../support/cli.js'

const SHELLS = ['bash', 'zsh', 'fish']

/** Commands and their flags, as each help lists them. */
async function table(): Promise<[command: string, flags: string[]][]> {
  const { stdout } = await spillway(['--help'])
  const commands = [...stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name)
  const flagsOf = async (command: string) => {
    const help = (await spillway([command, '--help'])).stdout
    return [...help.matchAll(/^ {2}(?:-\w, )?--([\w-]+)/gm)].map(([, flag = '']) => flag)
  }
  return Promise.all(commands.map(async (command) => [command, await flagsOf(command)] as [string, string[]]))
}

describe('completion', () => {
  it.each(SHELLS)('%s: has every command and every flag of each', async (name) => {
    const { code, stdout, stderr } = await spillway(['completion', name])
    expect([code, stderr]).toEqual([0, ''])
    const commands = await table()
    expect(commands.map(([command]) => command)).toEqual(expect.arrayContaining(['inspect', 'completion']))
    for (const [command, flags] of commands) {
      const part = {
        bash: new RegExp(`^      ${command}\\) .*$`, 'gm'),
        zsh: new RegExp(`^        ${command}\\)[^]*?;;$`, 'gm'),
        fish: new RegExp(`^complete -c spillway -n '__fish_seen_subcommand_from ${command}' .*$`, 'gm'),
      }[name]
      const lines = stdout.match(part ?? /$^/)?.join('\n') ?? ''
      const found = [...lines.matchAll(name === 'fish' ? / -l ([\w-]+)/g : /--([\w-]+)(?=[= '[])/g)]
      expect(found.map(([, flag]) => flag)).toEqual(flags)
    }
  })

  it.each([
    [['completion'], 'SHELL is missing; expected one of bash, zsh, fish'],
    [['completion', 'ksh'], 'unknown shell "ksh"; expected one of bash, zsh, fish'],
    [['completion', 'bash', 'zsh'], 'unexpected argument "zsh"; usage: spillway completion SHELL'],
  ])('%j is a mistake that one line tells', async (args, told) => {
    expect(await spillway(args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `spillway completion: ${told}\n`,
    })
  })

  it('zsh and fish: quotes what a shell would read', async () => {
    const zsh = (await spillway(['completion', 'zsh'])).stdout
    expect(zsh).toMatch(/^#compdef spillway\n/)
    expect(zsh).toContain(`'--keep=[auto, head, tail, ends, findings, relevant (auto)]:WHAT:(auto head tail`)
    expect(zsh).toContain(`'\\''\\[{omittedLines\\:,} lines omitted\\]'\\''`)
    expect(zsh).toContain(`'*--needle=[`)
    // Outside of quotes nothing but words of zsh is left, and every quote ends.
    expect(zsh.replace(/'[^']*'|\\'|\\\n/g, '')).not.toMatch(/'/)
    const fish = (await spillway(['completion', 'fish'])).stdout
    expect(fish).toContain(` -l keep -x -a 'auto head tail ends findings relevant' -d '`)
    expect(fish).toContain(` -l dir -x -a '(__fish_complete_directories)' -d '`)
    expect(fish).toContain(`\\'[{omittedLines:,} lines omitted]\\'`)
    for (const line of fish.trimEnd().split('\n').slice(1))
      expect(line).toMatch(/^complete(?: (?:-?[\w-]+|'(?:[^'\\]|\\['\\])*'))+$/)
  })

  describe('in bash', () => {
    mkdirSync(join(place, 'done/a dir'), { recursive: true })
    for (const file of ['one.jsonl', 'two words.jsonl']) writeFileSync(join(place, 'done', file), '')

    it.each([
      [
        'spillway ',
        [
          'clamp',
          'completion',
          'doctor',
          'hook',
          'inspect',
          'install',
          'mcp',
          'read',
          'repair',
          'run',
          'search',
          'stats',
          'uninstall',
        ],
      ],
      ['spillway re', ['read', 'repair']],
      ['spillway --v', ['--version']],
      ['spillway help cl', ['clamp']],
      ['spillway repair --no', ['--no-backup', '--no-clean', '--notice']],
      ['spillway clamp --keep ', ['auto', 'ends', 'findings', 'head', 'relevant', 'tail']],
      ['spillway clamp --keep = fi', ['findings']],
      ['spillway clamp --keep =', ['auto', 'ends', 'findings', 'head', 'relevant', 'tail']],
      ['spillway clamp --max-bytes ', []],
      ['spillway search -C ', []],
      ['spillway clamp ', []],
      ['spillway completion ', ['bash', 'fish', 'zsh']],
      ['spillway inspect ', ['a dir', 'one.jsonl', 'two words.jsonl']],
      ['spillway inspect --json two', ['two words.jsonl']],
      ['spillway read --dir ', ['a dir']],
      ['spillway run -- seq', ['seq']],
      ['spillway run --keep tail -- seq', ['seq']],
      ['spillway frob ', []],
    ])('%j offers %j', { tags: 'long' }, async (line, offered) => {
      const words = line.split(' ').map((word) => `'${word}'`)
      const { stdout, stderr, code } = await shell(
        `set -u; cd done; eval "$(spillway completion bash)"
        COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}
        complete -p spillway > /dev/null && _spillway && printf '%s\\n' "\${COMPREPLY[@]+"\${COMPREPLY[@]}"}" | sort -u`,
      )
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout.split('\n').filter(Boolean)).toEqual(offered)
    })
  })
})

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { end, place, spillway, start, terminal, write } from '../support/cli.js'
import { until } from '../support/wait.js'

/** Applies what was written to a terminal, and returns its lines: text, line ends, cursor up, and
 *  erasure below. */
function screen(written: string): string[] {
  const lines = ['']
  let [row, column] = [0, 0]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences
  for (const [part, count] of written.matchAll(/\x1b\[(\d+)A|\x1b\[\??[\d;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+/g)) {
    if (count !== undefined) row -= Number(count)
    else if (part === '\x1b[J') lines.splice(row, Number.POSITIVE_INFINITY, '')
    else if (part === '\r') column = 0
    else if (part === '\n') {
      row += 1
      lines[row] ??= ''
    } else if (!part.startsWith('\x1b')) {
      lines[row] = (lines[row] ?? '').slice(0, column).padEnd(column) + part
      column += part.length
    }
    if (row < 0) throw new Error('it drew above its first line')
  }
  return lines
}

/** A command that prints a text, and ends on request. */
function waiting(name: string, text: string) {
  const gate = join(place, `${name}.gate`)
  const script = write(
    `${name}.sh`,
    `cat ${write(`${name}.txt`, text)}\nuntil [ -e ${gate} ]; do sleep 0.02; done\necho the end\n`,
  )
  return { script, open: () => writeFileSync(gate, '') }
}

/** Collects what a child writes to its terminal, while it goes on. */
function reading(args: string, options?: Parameters<typeof terminal>[1]) {
  const child = terminal(args, options)
  let written = ''
  child.stdout?.on('data', (chunk) => {
    written += chunk
  })
  return { child, ended: end(child), written: () => written }
}

const NUMBERED = Array.from({ length: 400 }, (_, at) => `line ${at + 1}\n`).join('')

describe('run, while the command goes on', () => {
  it('shows the tail in place on a terminal, and then what the policy keeps', async () => {
    const { script, open } = waiting('tail', NUMBERED)
    const { ended, written } = reading(`run --max-lines 6 --keep head -- sh ${script}`)
    await until(() => written().includes('line 400'))
    expect(screen(written()).join('\n')).toMatch(
      /^(?:line 39\d\n){9}line 400\n\[running: 400 lines, 3\.\d KB so far\]\n$/,
    )
    open()
    const { stdout, code } = await ended
    expect(code).toBe(0)
    const last = screen(stdout)
    expect(last.slice(0, 2)).toEqual(['line 1', 'line 2'])
    expect(last.join('\n')).toContain('[exit code 0]')
    expect(last.join('\n')).not.toMatch(/line 400|running|the end/)
  })

  it('keeps each line in one row, and moves no cursor for a command', async () => {
    const hostile = `${'wide 漢字 '.repeat(60)}\n\x1b[2J\x1b[5;5H\x1b]0;title\x07here\u202eback\n 10%\r 50%\r100%\n`
    const { script, open } = waiting('hostile', hostile)
    const { ended, written } = reading(`run --no-clean --max-lines 0 -- sh ${script}`, { columns: 60 })
    await until(() => written().includes('100%'))
    const lines = screen(written())
    expect(lines).toHaveLength(5)
    expect(lines[0]?.length).toBeLessThanOrEqual(60)
    expect(lines.slice(1)).toEqual([
      'here\\u202eback',
      '100%',
      expect.stringContaining('[running: 3 lines'),
      '',
    ])
    expect(written()).not.toContain('\x1b[2J')
    expect(written()).not.toContain('\x1b]')
    // The wrapping of lines is on again after each drawing.
    const drawings = written().split('\x1b[?7l').slice(1)
    expect(drawings.length).toBeGreaterThan(0)
    for (const drawing of drawings) expect(drawing).toContain('\x1b[?7h')
    open()
    await ended
  })

  it('fits a low terminal', async () => {
    const { script, open } = waiting('low', NUMBERED)
    const { ended, written } = reading(`run -- sh ${script}`, { rows: 6 })
    await until(() => written().includes('line 400'))
    expect(screen(written())).toEqual([
      ...[397, 398, 399, 400].map((at) => `line ${at}`),
      expect.stringContaining('[running: '),
      '',
    ])
    open()
    await ended
  })

  it.each([
    ['a pipe', undefined],
    ['a dumb terminal', { TERM: 'dumb' }],
  ])('shows nothing of it in %s', { tags: 'long' }, async (_, env) => {
    // Drawings are due before the command ends.
    const script = write('slow.sh', `cat ${write('slow.txt', NUMBERED)}; sleep 0.5`)
    const args = ['run', '--max-lines', '6', '--keep', 'head', '--notice', 'none', '--', 'sh', script]
    const { stdout } = await end(env ? terminal(args.join(' '), { env }) : start(args))
    expect(stdout.replaceAll('\r', '').trimEnd()).toBe(
      'line 1\nline 2\nline 3\nline 4\nline 5\n[exit code 0]',
    )
  })

  it('draws nothing for a command without output, nor for one that cannot be run', {
    tags: 'long',
  }, async () => {
    const { ended } = reading('run -- sleep 0.4')
    expect((await ended).stdout).toBe('[exit code 0]\r\n')
    const failed = await reading('run -- no-such-command').ended
    expect(failed.stdout).toMatch(/^spillway run: no-such-command: command not found[^\n]*\n$/)
    expect(existsSync(join(place, 'no-such-command'))).toBe(false)
    expect((await spillway(['run', '--', 'true'])).stdout).toBe('[exit code 0]\n')
  })

  it('erases it after ^C too', async () => {
    const { script } = waiting('interrupted', NUMBERED)
    const { child, ended, written } = reading(`run --max-lines 4 --keep head -- sh ${script}`)
    await until(() => written().includes('line 400'))
    child.stdin?.write('\x03')
    const { stdout, code } = await ended
    expect(code).toBe(130)
    expect(screen(stdout).join('\n')).not.toMatch(/line 400|running/)
    expect(screen(stdout).join('\n')).toContain('[killed by SIGINT]')
  })
})

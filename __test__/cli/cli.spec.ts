import { chmodSync, existsSync, mkdtempSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { clampText, createSpillStore, estimateTokens, measureText } from 'spillway'
import { describe, expect, it } from 'vitest'
import { SUMMARIES } from '../../cli/term/summaries.js'
import { end, lineOf, place, seq, shell, spillway, start, terminal, write } from '../support/cli.js'
import { turns, until } from '../support/wait.js'

const manifest = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8'))
const COMMANDS = ['inspect', 'repair', 'clamp', 'run', 'read', 'search']
const ONE_LINE = /^spillway[^\n]*\n$/

describe('spillway', () => {
  it('tells its version and its commands', async () => {
    expect(await spillway(['--version'])).toMatchObject({
      code: 0,
      stdout: `${manifest.version}\n`,
      stderr: '',
    })
    const { code, stdout } = await spillway(['--help'])
    expect(code).toBe(0)
    for (const command of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${command} +\\w`, 'm'))
    expect((await spillway(['help'])).stdout).toBe(stdout)
    expect((await spillway(['help', 'run'])).stdout).toBe((await spillway(['run', '--help'])).stdout)
  })

  it.each(Object.keys(SUMMARIES))('%s --help fits 80 columns', { tags: 'long' }, async (command) => {
    const { code, stdout, stderr } = await spillway([command, '--help'])
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(stdout).toContain(`Usage: `)
  })

  it.each(COMMANDS)('%s --help tells of each flag', async (command) => {
    const { stdout } = await spillway([command, '--help'])
    for (const flag of ['max-bytes', 'max-lines', 'max-chars', 'keep', 'notice', 'clean'])
      expect(stdout).toContain(`--${flag}`)
  })

  it.each([
    [[], /COMMAND is missing; expected one of inspect, repair, /],
    [['frob'], /unknown command "frob"; expected one of inspect, /],
    [['--json'], /unknown command "--json"/],
    [['toString'], /unknown command "toString"/],
    [['inpsect', 'a.jsonl'], /unknown command "inpsect"; did you mean inspect\?$/m],
    [
      ['clamp', '--max-byte', '5'],
      /unknown flag --max-byte for clamp; did you mean --max-bytes\? See `spillway clamp --help`, or put --/,
    ],
    [
      ['clamp', '--maxCharacters=5'],
      /unknown flag --maxCharacters for clamp; did you mean --max-chars\? See/,
    ],
    [['read', '--lnie', '5'], /unknown flag --lnie for read; did you mean --line\? See/],
    [['mcp', '--structred', 'text'], /unknown flag --structred for mcp; did you mean --structured\? See/],
    [['clamp', '--frob'], /unknown flag --frob for clamp; see `spillway clamp --help`/],
    [['clamp', '--constructor'], /unknown flag --constructor/],
    [['clamp', '--max-bytes'], /--max-bytes needs a value: --max-bytes=SIZE/],
    [['clamp', '--max-bytes', '--clean'], /--max-bytes needs a value/],
    [['search', 'x', 'y', '-C'], /-C needs a value: --context=N/],
    [['inspect', '--top', '-1', 'x'], /--top takes a whole number or Infinity, not "-1"/],
    [['inspect', ''], /FILE must be the path of a file, got ""/],
    [
      ['clamp', '--max-bytes', '8KB'],
      /--max-bytes takes a size such as 51200, 10K or 2M, or Infinity, not "8KB"/,
    ],
    [['clamp', '--max-bytes=-1'], /--max-bytes takes a size/],
    [['clamp', '--max-lines', '99999999999999999999'], /--max-lines must be a whole number/],
    [['clamp', '--clean=yes'], /--clean takes no value/],
    [['clamp', '--keep', 'middle'], /--keep must be one of 'auto', 'head', .*got "middle"/],
    [['clamp', '--notice', 'gone'], /--notice must be none, 'hint', /],
    [['clamp', 'a file\nof two lines'], /spillway clamp < a file\\u000aof two lines/],
    [['inspect'], /FILE is missing; usage: spillway inspect FILE\.\.\./],
    [['repair'], /FILE is missing; usage: spillway repair FILE\.\.\./],
    [['run'], /COMMAND is missing; example: spillway run -- /],
    [['run', 'npm', 'test'], /put -- before the command: spillway run -- npm/],
    [['run', 'npm', '--watch'], /unknown flag --watch for run; .* put -- before/],
    [['run', '--dir=', '--', 'true'], /--dir must be the path of a directory/],
    [['read'], /ID of a saved output is missing/],
    [['read', '0123456789abcdef'], /--dir is missing/],
    [['read', '../../etc/passwd', '--dir', '.'], /ID must be the id of a saved output/],
    [['read', '0123456789abcdef', '--dir', '.', '--line', '0'], /--line must be a whole number from 1 up/],
    [
      ['read', '0123456789abcdef', '--dir', '.', '--line', '1', '--byte', '0'],
      /--line and --byte cannot be combined/,
    ],
    [['search', '0123456789abcdef', '--dir', '.'], /PATTERN is missing; usage: spillway search/],
  ])('%j is a mistake that one line tells', { tags: 'long' }, async (args, told) => {
    const { code, stdout, stderr } = await spillway(args)
    expect(stderr).toMatch(told)
    expect(stderr).toMatch(ONE_LINE)
    expect(stdout).toBe('')
    expect(code).toBe(2)
  })
})

describe('clamp', () => {
  it('lets what fits through as it is', { tags: 'long' }, async () => {
    for (const text of ['', 'no newline', 'a\r\nb\n', '\x1b[31mred\x1b[0m 漢字 👩‍👩‍👧\n', '\ufeffmark\n'])
      expect(await spillway(['clamp'], { input: text })).toMatchObject({ code: 0, stdout: text, stderr: '' })
  })

  it('ends with the first cut where nothing later counts, however slowly it comes', async () => {
    const child = start(['clamp', '--keep', 'head', '--notice', 'none', '--max-lines', '5'])
    child.stdin?.on('error', () => {})
    const writing = setInterval(() => child.stdin?.write('a line\n'), 20)
    const ended = await end(child).finally(() => clearInterval(writing))
    expect(ended).toMatchObject({ code: 0, stdout: 'a line\n'.repeat(5) })
  })

  it.each([
    [[], {}],
    [['--max-bytes', '300', '--keep', 'tail'], { maxBytes: 300, keep: 'tail' }],
    [['--max-lines=7', '--keep=ends', '--notice=none'], { maxLines: 7, keep: 'ends', notice: false }],
    [
      ['--max-chars', '90', '--keep', 'head', '--notice', 'none'],
      { maxChars: 90, keep: 'head', notice: false },
    ],
    [
      ['--max-lines', '9', '--notice', '[{omittedLines:,} gone]'],
      { maxLines: 9, notice: '[{omittedLines:,} gone]' },
    ],
    [
      ['--max-lines', '9', '--keep', 'head', '--notice', '[{limits}]'],
      { maxLines: 9, keep: 'head', notice: '[{limits}]' },
    ],
    [['--max-bytes', '0'], { maxBytes: 0 }],
    [['--keep', 'findings', '--max-chars', '400'], { keep: 'findings', maxChars: 400 }],
  ] as const)('%j is what clampText leaves', async (flags, policy) => {
    const input = Buffer.from(`${seq(20_000)}src/cart.ts:7 - error: 漢字\n${seq(20_000)}`)
    const { code, stdout, stderr } = await spillway(['clamp', ...flags], { input })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toBe(lineOf(clampText(input, policy)))
  })

  it('ends a text that was cut in a newline, within every limit', { tags: 'long' }, async () => {
    const at = (flags: string[], input: string) => spillway(['clamp', '--keep', 'head', ...flags], { input })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('--max-bytes', '--max-chars', '--max-tokens'),
        fc.integer({ min: 0, max: 260 }),
        fc.constantFrom('x'.repeat(900), seq(300), '漢字😀 '.repeat(200)),
        fc.constantFrom('hint', 'none', 'count'),
        async (flag, most, input, notice) => {
          const { stdout } = await at([flag, String(most), '--notice', notice], input)
          const size = {
            bytes: Buffer.byteLength(stdout),
            chars: stdout.length,
            tokens: estimateTokens(stdout),
          }
          expect(size[flag.slice(6) as keyof typeof size]).toBeLessThanOrEqual(most)
          // A limit may leave room for nothing beside the newline.
          if (most > 12) expect(stdout.endsWith('\n')).toBe(true)
        },
      ),
      { numRuns: 120 },
    )
  })

  it('cleans with --clean', async () => {
    const input = '\x1b[32m  1%\r 50%\r100%\x1b[0m done\r\n'
    expect((await spillway(['clamp', '--clean'], { input })).stdout).toBe('100% done\n')
    expect((await spillway(['clamp', '--clean', '--no-clean'], { input })).stdout).toBe(input)
  })

  it('passes all of a text without limits straight through, well-formed', { tags: 'long' }, async () => {
    const input = Buffer.from('a\xff\xe6\xbcb 漢', 'latin1')
    const flags = ['--max-bytes', 'Infinity', '--max-lines', 'Infinity']
    expect((await spillway(['clamp', ...flags], { input })).stdout).toBe(input.toString())
    const long = await shell(
      `seq 1 3000000 | spillway clamp ${flags.join(' ')} | md5sum; seq 1 3000000 | md5sum`,
    )
    const [one, other] = long.stdout.split('\n')
    expect(one).toBe(other)
  })

  it('ends an endless input once nothing of it can matter', async () => {
    const { stdout, code } = await shell('yes | spillway clamp --keep head --notice none --max-lines 3')
    expect([stdout.trimEnd(), code]).toEqual(['y\ny\ny', 0])
  })

  it('ends quietly where nobody reads on', { tags: 'long' }, async () => {
    const status = `echo "\${PIPESTATUS[@]:1}"`
    const infinite = '--max-bytes Infinity --max-lines Infinity'
    for (const flags of ['', '--max-bytes 1000000 --max-lines Infinity', infinite]) {
      const { stdout, stderr } = await shell(`seq 1 1000000 | spillway clamp ${flags} | head -1; ${status}`)
      expect([stdout, stderr]).toEqual(['1\n0 0\n', ''])
    }
    const endless = await shell(`yes | spillway clamp ${infinite} | head -1; ${status}`)
    expect([endless.stdout, endless.stderr]).toEqual(['y\n0 0\n', ''])
    // Nobody may hear that there is a mistake either.
    expect((await shell(`spillway clamp --frob 2>&1 | true; echo "\${PIPESTATUS[0]}"`)).stdout).toBe('2\n')
  })

  it('says of a disk that is full, and of a directory', { tags: 'long' }, async () => {
    const closed = await shell('spillway clamp 0> /dev/null')
    expect([closed.code, closed.stderr]).toEqual([
      1,
      'spillway clamp: stdin cannot be read; pipe a command into it\n',
    ])
    const unwritable = await shell('echo hi | spillway clamp 1< /dev/null')
    expect(unwritable.stderr).toBe('spillway clamp: EBADF: bad file descriptor, write\n')
    const full = await shell('seq 1 100000 | spillway clamp > /dev/full')
    expect([full.code, full.stderr]).toEqual([
      1,
      expect.stringMatching(/^spillway clamp: no space left.*\n$/),
    ])
    const directory = await spillway(['clamp'], { stdio: [openSync(place, 'r'), 'pipe', 'pipe'] })
    expect([directory.code, directory.stderr]).toEqual([1, expect.stringMatching(/stdin is a directory/)])
  })

  it('leaves nothing when it is interrupted', async () => {
    const child = start(['clamp'])
    child.stdin?.on('error', () => {})
    // The pipe holds a part of this, so the command has read the rest.
    await new Promise((read) => child.stdin?.write(seq(100_000), read))
    child.kill('SIGINT')
    expect(await end(child)).toEqual({ code: null, signal: 'SIGINT', stdout: '', stderr: '' })
  })
})

describe('run', () => {
  it('shows both streams and the exit, and exits with it', async () => {
    const { code, stdout, stderr } = await spillway([
      'run',
      '--',
      'sh',
      '-c',
      'echo out; echo err >&2; exit 3',
    ])
    expect([code, stderr]).toEqual([3, ''])
    expect(stdout.split('\n').sort()).toEqual(['', '[exit code 3]', 'err', 'out'])
    expect(await spillway(['run', '--', 'true'])).toMatchObject({ code: 0, stdout: '[exit code 0]\n' })
  })

  it('gives the command its own flags, its stdin and its signals', async () => {
    const flags = await spillway([
      'run',
      '--max-lines',
      '3',
      '--',
      'printf',
      '%s|',
      '--',
      '--max-lines',
      '-n',
    ])
    expect(flags.stdout).toBe('--|--max-lines|-n|\n[exit code 0]\n')
    expect((await spillway(['run', '--', 'tr', 'a-z', 'A-Z'], { input: 'hello\n' })).stdout).toMatch(
      /^HELLO\n/,
    )
    for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
      const child = start([
        'run',
        '--',
        'sh',
        '-c',
        `trap 'echo got it; exit 7' ${signal.slice(3)}; echo ready >&2; echo up > up.${signal}; while :; do sleep 0.02; done`,
      ])
      await until(() => existsSync(join(place, `up.${signal}`)))
      child.kill(signal)
      expect(await end(child)).toMatchObject({
        code: 7,
        stdout: expect.stringContaining('got it\n[exit code 7]'),
      })
    }
  })

  it('gives the command pipes, which it can open by their names', async () => {
    const script = 'echo one > /dev/stdout; echo two | tee /dev/stderr > /dev/null; echo three >> /dev/stderr'
    const { code, stdout } = await spillway(['run', '--', 'sh', '-c', script])
    expect(code).toBe(0)
    expect(stdout.split('\n').sort()).toEqual(['', '[exit code 0]', 'one', 'three', 'two'])
  })

  it('passes on a signal that comes while the command is being started', async () => {
    const hook = write(
      'hook.cjs',
      `const processes = require('node:child_process')
      const { spawn } = processes
      processes.spawn = (...args) => {
        const child = spawn(...args)
        process.kill(process.pid, 'SIGTERM')
        return child
      }
      require('node:module').syncBuiltinESMExports()`,
    )
    const script = 'while :; do sleep 0.02; done'
    expect(
      await spillway(['run', '--', 'sh', '-c', script], { env: { NODE_OPTIONS: `--require="${hook}"` } }),
    ).toMatchObject({ code: 143, stdout: '[killed by SIGTERM]\n' })
  })

  it.each([
    ['the terminal', ''],
    ['a terminal that no stream tells of', ' < /dev/null > unread.txt 2>&1'],
  ])('lets %s interrupt the command, once', async (_, streams) => {
    const up = join(mkdtempSync(join(place, 'terminal-')), 'up')
    // A shell would take two that come at once for one. A SIGTERM to the command line, which is its
    // parent, arrives behind whatever the command line passes on of the first signal.
    const counting = `let times = 0
      process.on('SIGINT', () => ++times === 1 && process.kill(process.ppid, 'SIGTERM'))
      process.on('SIGTERM', () => process.exit(40 + times))
      require('node:fs').writeFileSync('${up}', '')
      setInterval(() => {}, 1000)`
    const child = terminal(`run -- ${process.execPath} ${write('counting.cjs', counting)}${streams}`)
    await until(() => existsSync(up))
    child.stdin?.write('\x03')
    expect(await end(child)).toMatchObject({ code: 41 })
  })

  it.each(['SIGINT', 'SIGQUIT'] as const)('leaves a %s to the terminal, and is not ended by one', {
    tags: 'long',
  }, async (signal) => {
    const up = join(place, `terminal.${signal}`)
    const script = `trap 'exit 9' ${signal.slice(3)}; trap 'exit 8' TERM; touch ${up}; while :; do sleep 0.02; done`
    const child = start(['run', '--', 'sh', '-c', script])
    await until(() => existsSync(up))
    child.kill(signal)
    // A signal that was passed on would come before this one, and its trap would run first.
    child.kill('SIGTERM')
    expect(await end(child)).toMatchObject({ code: 8, stdout: '[exit code 8]\n' })
  })

  it('leaves the stdin of the command as it is when a signal comes', async () => {
    const [up, got, copy] = ['up', 'got', 'copy'].map((name) => join(place, `stdin.${name}`))
    const script = `trap 'touch ${got}' TERM; touch ${up}; until [ -e ${got} ]; do sleep 0.02; done; cat > ${copy}; echo "cat: $?"; cat ${copy}`
    const child = start(['run', '--', 'sh', '-c', script])
    await until(() => existsSync(up as string))
    child.kill('SIGTERM')
    await until(() => existsSync(got as string))
    child.stdin?.write('early\n')
    await until(() => existsSync(copy as string) && statSync(copy as string).size > 0)
    // `cat` reads again, finds nothing, and waits for it.
    await turns()
    child.stdin?.end('late\n')
    expect(await end(child)).toMatchObject({ code: 0, stdout: 'cat: 0\nearly\nlate\n[exit code 0]\n' })
  })

  it.each([
    [['no-such-command-anywhere'], 127, /no-such-command-anywhere: command not found/],
    [['./no-such-file'], 127, /command not found/],
    [[''], 127, /command not found/],
    [['echo hi | cat'], 127, /for a shell command line, use: spillway run -- sh -c "echo hi \| cat"/],
    [['.'], 126, /permission denied/],
    [['./plain.txt'], 126, /permission denied/],
    [['./script'], 127, /the interpreter in its first line does not exist/],
  ])('%j exits with %i', async (command, exit, told) => {
    write('plain.txt', 'no program\n')
    chmodSync(write('script', '#!/no/such/interpreter\n'), 0o755)
    const { code, stdout, stderr } = await spillway(['run', '--', ...command])
    expect([code, stdout]).toEqual([exit, ''])
    expect(stderr).toMatch(told)
    expect(stderr).toMatch(ONE_LINE)
  })

  it.each(['SIGKILL', 'SIGTERM', 'SIGSEGV', 'SIGINT'] as const)('tells of %s by 128 + n', {
    tags: 'long',
  }, async (signal) => {
    const kill = `kill -${constants.signals[signal]} $$`
    expect(await spillway(['run', '--', 'sh', '-c', kill])).toMatchObject({
      code: 128 + constants.signals[signal],
      stdout: `[killed by ${signal}]\n`,
    })
  })

  it('keeps within the limits and saves the rest', async () => {
    const dir = join(place, 'outputs')
    const build =
      'seq 1 30000; echo "src/cart.ts:7:3 - error TS2304: Cannot find name total."; seq 1 30000; exit 2'
    const { code, stdout } = await spillway([
      'run',
      '--max-bytes',
      '900',
      '--dir',
      dir,
      '--',
      'sh',
      '-c',
      build,
    ])
    expect(code).toBe(2)
    expect(measureText(stdout).bytes).toBeLessThanOrEqual(900)
    expect(stdout).toContain('\nsrc/cart.ts:7:3 - error TS2304: Cannot find name total.\n')
    const savedIn = () => readdirSync(dir).filter((name) => name !== 'key')
    const [file = ''] = savedIn()
    expect(stdout).toContain(`full output saved as ${join(dir, file)}`)
    expect(readFileSync(join(dir, file), 'latin1')).toHaveLength(2 * seq(30_000).length + 56)
    await spillway(['run', '--dir', dir, '--', 'echo', 'little'])
    expect(savedIn()).toEqual([file])
  })

  it('that cannot save says so, and has the exit all the same', async () => {
    const dir = join(place, 'limited')
    const { code, stdout, stderr } = await spillway(
      ['run', '--max-lines', '9', '--dir', dir, '--', 'sh', '-c', 'seq 1 9999; exit 4'],
      { before: ['sh', '-c', 'ulimit -f 8; exec "$@"', 'sh'] },
    )
    expect(code).toBe(4)
    expect(stdout).toContain('the rest could not be saved')
    expect(stderr).toBe(
      `spillway run: the full output was not saved: ${dir}: the file would exceed the size limit of this process; raise that limit (ulimit -f)\n`,
    )
  })

  it('runs nothing where --dir is not a directory', async () => {
    const file = write('no-directory', '')
    const { code, stdout, stderr } = await spillway(['run', '--dir', file, '--', 'touch', 'was-run'])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toBe(`spillway run: outputs are not saved in ${file}, which is not a directory\n`)
    expect(existsSync(join(place, 'was-run'))).toBe(false)
  })

  it('leaves no half file when it is interrupted', async () => {
    const dir = join(place, 'interrupted')
    const child = start(['run', '--dir', dir, '--', 'sh', '-c', 'seq 1 100000; exec sleep 60'])
    const savedIn = () => readdirSync(dir).filter((name) => name !== 'key')
    await until(() => existsSync(dir) && savedIn().length > 0)
    child.kill('SIGTERM')
    expect(await end(child)).toMatchObject({
      code: 143,
      stdout: expect.stringMatching(/\[killed by SIGTERM\]\n$/),
    })
    expect(savedIn()).toEqual([expect.stringMatching(/^[0-9a-f]{16}\.sh\.\d+b\.\d+l\.txt$/)])
  })

  it('has the exit of the command where nobody reads on', async () => {
    const { stdout, stderr } = await shell(
      `spillway run -- sh -c "seq 1 9; exit 5" | true; echo "\${PIPESTATUS[0]}"`,
    )
    expect([stdout, stderr]).toEqual(['5\n', ''])
  })
})

describe('read and search', () => {
  const dir = join(place, 'saved')
  const saved = (async () => {
    await spillway([
      'run',
      '--max-lines',
      '9',
      '--dir',
      dir,
      '--',
      'sh',
      '-c',
      'seq 1 99999; printf "\\033[31mError\\033[0m: end"',
    ])
    const savedIn = () => readdirSync(dir).filter((name) => name !== 'key')
    const [file = ''] = savedIn()
    return { file, id: file.slice(0, 16) }
  })()

  it('reads pages in a row, which make the whole', async () => {
    const { file, id } = await saved
    const whole = readFileSync(join(dir, file), 'utf8')
    let text = ''
    let at: string[] = []
    for (let pages = 0; pages < 50; pages++) {
      const { code, stdout, stderr } = await spillway([
        'read',
        id,
        '--dir',
        dir,
        ...at,
        '--max-bytes',
        '100000',
      ])
      expect(code).toBe(0)
      expect(Buffer.byteLength(stdout)).toBeLessThanOrEqual(100_000)
      text += stdout
      const [, flag = '', place = ''] = /; more with (--\w+) (\d+)\]\n$/.exec(stderr) ?? []
      at = [flag, place]
      if (!flag) break
    }
    expect(text).toBe(whole)
  })

  it('say where an answer is not all that there is', async () => {
    const { id } = await saved
    // The answer is full before the most that was asked for has come.
    const many = await spillway(['search', id, '1', '--dir', dir, '--max', '99999'])
    const last = many.stdout.split('\n').at(-2)?.split(':')[0]
    expect(many.stderr).toMatch(
      new RegExp(`^\\[[\\d,]+ matches; more with --line ${Number(last) + 1}\\]\\n$`),
    )
    // The limits leave less than was found: line 13 stands within what comes after line 12.
    const flags = ['-C1', '--max-lines', '7', '--max', '20', '--notice', 'pi']
    const few = await spillway(['search', id, '1', '--dir', dir, ...flags])
    expect(few.stdout).toMatch(
      /^1:1\n2-2\n--\n9-9\n10:10\n11:11\n12:12\n?\[\.\.\. \d+ more characters truncated\]$/,
    )
    expect(few.stderr).toBe('[4 matches; more with --line 13]\n')
    const none = await spillway(['search', id, '1', '--dir', dir, '--max-bytes', '0'])
    expect([none.stdout, none.stderr]).toEqual(['', '[100 matches, none within the limits; raise them]\n'])
    const part = join(place, 'part')
    const { id: cut } = await createSpillStore({ dir: part, maxFileBytes: 4 }).save('one\ntwo\n')
    const { stdout, stderr } = await spillway(['read', cut, '--dir', part])
    expect([stdout, stderr]).toEqual([
      'one\n',
      `[${cut} holds 1 lines, 4 bytes; end of the saved part, not of the output]\n`,
    ])
  })

  it('finds an output by its path, as notices name it', async () => {
    const { file, id } = await saved
    const { stdout, stderr } = await spillway(['read', join(dir, file), '--line', '5', '--lines', '2'])
    expect([stdout, stderr]).toEqual([
      '5\n6\n',
      `[${id} holds 100,000 lines, 588,907 bytes; more with --line 7]\n`,
    ])
  })

  it('is cleaned for a terminal, also as a whole', async () => {
    const { id } = await saved
    for (const flags of ['--line 100000', '--keep tail --max-lines 2 --notice none']) {
      const { stdout } = await end(terminal(`read ${id} --dir ${dir} ${flags}`))
      expect(stdout).toContain('Error: end')
      expect(stdout).not.toContain('\x1b')
    }
    const full = await shell(`spillway read ${id} --dir ${dir} > /dev/full`)
    expect(full.stderr).toBe('spillway read: no space left on the device; free some and run this again\n')
  })

  it('on a terminal turns no order of chars around', { tags: 'long' }, async () => {
    const text = 'if (isAdmin\u202e \u2066// begins\u2069\u2066) {\n'
    const { id, path } = await createSpillStore({ dir: join(place, 'turned') }).save(text)
    for (const command of [
      `read ${id}`,
      `read --keep head ${id}`,
      `search ${id} isAdmin`,
      // Not the key beside it, whose bytes are random.
      `run -- cat ${path}`,
    ]) {
      const flags = command.startsWith('run') ? '' : ' --dir turned'
      const { stdout } = await end(terminal(command + flags))
      expect(stdout).toContain('if (isAdmin\\u202e \\u2066// begins\\u2069\\u2066) {')
    }
    expect((await spillway(['read', id, '--dir', 'turned', '--clean'])).stdout).toBe(text)
  })

  it('clamps the whole under a policy', async () => {
    const { file, id } = await saved
    const whole = readFileSync(join(dir, file), 'utf8')
    const flags = ['--keep', 'ends', '--max-lines', '8', '--notice', 'count']
    const { stdout } = await spillway(['read', id, '--dir', dir, ...flags])
    expect(stdout).toBe(clampText(whole, { maxBytes: 40_960, maxLines: 8, keep: 'ends', notice: 'count' }))
  })

  it('searches like grep', { tags: 'long' }, async () => {
    const { id } = await saved
    const search = (...args: string[]) => spillway(['search', id, '--dir', dir, ...args])
    expect(await search('4444', '-C1', '--max', '2')).toMatchObject({
      code: 0,
      stdout: '4443-4443\n4444:4444\n4445-4445\n--\n14443-14443\n14444:14444\n14445-14445\n',
      stderr: '[2 matches; more with --line 14445]\n',
    })
    expect((await search('^9{4,}$', '-E')).stdout).toBe('9999:9999\n99999:99999\n')
    expect((await search('ERROR', '-i', '--clean')).stdout).toBe('100000:Error: end\n')
    expect((await search('ERROR', '-i')).stdout).toBe('100000:\x1b[31mError\x1b[0m: end\n')
    expect((await search('7', '--max-lines', '4', '--notice', 'none')).stdout).toBe(
      '7:7\n17:17\n27:27\n37:37\n',
    )
    expect(await search('ERROR')).toMatchObject({ code: 1, stdout: '', stderr: '' })
    expect(await search('--', '-x')).toMatchObject({ code: 1, stdout: '', stderr: '' })
    expect(await search('(', '-E')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(ONE_LINE),
    })
  })

  it('shows a match without its secret', async () => {
    const line = `api_key = ${'sk-ant-api03-'}${'aB3dE6gH9j'.repeat(9)}AA`
    const script = `console.log('${line}'); for (let at = 0; at < 9_000; at++) console.log(at)`
    const store = join(place, 'secrets')
    const { stdout } = await spillway(['run', '--dir', store, '--', process.execPath, '-e', script])
    const path = /saved as (.+\.txt)[,;]/.exec(stdout)?.[1] ?? expect.fail(stdout)
    expect(await spillway(['search', path, 'api_key', '--redact'])).toMatchObject({
      code: 0,
      stdout: '1:api_key = [redacted: anthropic key]\n',
      stderr: '',
    })
  })

  it('says of an output that is not there', async () => {
    for (const where of [dir, join(place, 'nowhere')])
      for (const args of [
        ['read', '0123456789abcdef'],
        ['search', '0123456789abcdef', 'x'],
      ]) {
        const { code, stderr } = await spillway([...args, '--dir', where])
        expect([code, stderr]).toEqual([
          1,
          expect.stringMatching(/no output is saved under 0123456789abcdef/),
        ])
        expect(stderr).toMatch(ONE_LINE)
      }
  })
})

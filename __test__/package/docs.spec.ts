import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  type Block,
  blocksOf,
  compile,
  packagesOf,
  pages,
  run,
  runShell,
} from '../../scripts/docs/blocks.mjs'

/** Languages of blocks that are run, compiled or parsed, and of what only people read. */
const KNOWN = ['ts', 'sh', 'diff', 'json', 'text']
const root = join(__dirname, '../..')
const folder = join(root, 'target/docs')

/** Settings of bundlers, which `npm run test:projects` tries in integration/projects/. */
const BUNDLERS = 'docs/bundlers.md'
const projects = join(root, 'integration/projects')

const blocks = pages()
  .filter((page) => page !== BUNDLERS)
  .flatMap(blocksOf)
const inLanguage = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language))

/** Blocks that import a framework run in integration/frameworks/, where it is installed. */
const own = inLanguage('ts', 'diff').filter((block) => packagesOf(block).length === 0)

/** The tool of docs/bash-tool.md, and a command whose grandchild holds a pipe open until it is
 *  dead. The command is aborted once the pipe is open. */
const [bashTool] = blocksOf('docs/bash-tool.md')
const tree: Block = {
  place: 'docs/bash-tool.md, a tree',
  language: 'ts',
  code: `${bashTool?.code.split('\nconst noisy')[0]}
import { execFileSync } from 'node:child_process'
import { createReadStream } from 'node:fs'
execFileSync('mkfifo', ['gate'])
const stop = new AbortController()
const gate = createReadStream('gate').once('open', () => stop.abort())
const closed = gate.resume().toArray()
const { signal } = stop
await bash.execute({ command: '(exec 3>gate; sleep 3600) & wait', signal }).catch(() => {})
await closed
console.log('all ended', tools.length)
`,
  shown: 'all ended 2',
}
// Windows has no pipes with names in a folder.
if (process.platform !== 'win32') own.push(tree)

it('every block of code has a language that is run, and every output stands below its code', () => {
  const isSession = ({ language, code }: Block) => language === '' && code.startsWith('$ ')
  const unknown = blocks.filter((block) => !KNOWN.includes(block.language) && !isSession(block))
  expect(unknown.map(({ place }) => place)).toEqual([])
  expect(own.length).toBeGreaterThan(10)
})

it('docs/long-runs.md shows the program of examples/agent', () => {
  const [program] = blocksOf('docs/long-runs.md')
  expect(program?.code).toBe(readFileSync(join(root, 'examples/agent/agent.ts'), 'utf8'))
})

describe('TypeScript', () => {
  let complaints = 'not compiled'
  beforeAll(() => {
    complaints = compile(own, folder)
  })

  it('compiles strictly', () => {
    expect(complaints).toBe('')
  })

  it.each(own.filter(({ language }) => language === 'ts'))('$place runs and prints what it shows', {
    tags: 'long',
  }, (block) => {
    const { status, stderr, printed, shown } = run(block, folder)
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(printed).toBe(shown ?? '')
  })
})

it.each(inLanguage('sh'))('$place: every line of the shell runs', { tags: 'long' }, (block) => {
  const { status, stderr, printed, shown } = runShell(block)
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  if (shown !== undefined) expect(printed).toBe(shown)
})

it.each(inLanguage('json'))('$place is JSON', ({ code }) => {
  expect(() => JSON.parse(code)).not.toThrow()
})

it.each(blocksOf(BUNDLERS))('$place has the lines that a project runs', ({ code }) => {
  const files = readdirSync(projects, { recursive: true, encoding: 'utf8' })
  const tried = files.filter((file) => /package\.json$|\.config\.js$/.test(file))
  const texts = tried.map((file) => readFileSync(join(projects, file), 'utf8'))
  const lines = code.split('\n').filter((line) => line.trim() !== '')
  expect(texts.some((text) => lines.every((line) => text.includes(line)))).toBe(true)
})

describe('faults that were tried', () => {
  const [, table = ''] = readFileSync(join(root, 'docs/spill.md'), 'utf8').split('## Faults that were tried')
  const rows = [...table.matchAll(/^\| (.+?) \|.*\| `([^`]+)`: (.+) \|$/gm)]

  it('are many', () => {
    const lines = (table.split('\n## ')[0] ?? '').match(/^\| /gm) ?? []
    expect(rows.length).toBe(lines.length - 1)
    expect(rows.length).toBeGreaterThan(20)
  })

  it.each(
    rows.map(([, fault, file, name]) => [fault, file, name]),
  )('%s: is that of a test', (_, file = '', name) => {
    expect(readFileSync(join(root, file), 'utf8')).toContain(name)
  })
})

const documents = [...pages(), 'CONTRIBUTING.md', 'CHANGELOG.md', '.github/SECURITY.md']

/** Anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(file: string) {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, words = '']) =>
    words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Returns true if the installed package has a file of the project. */
const isPacked = (file: string) =>
  ['README.md', 'LICENSE', 'package.json', ...files].some(
    (packed) => file === join(root, packed) || file.startsWith(join(root, packed, '/')),
  )

it.each(documents)('%s links to files and headings that are there', (page) => {
  const links = readFileSync(join(root, page), 'utf8').matchAll(/(?:\]\(|src="|srcset=")([^)"\s]+)[)"]/g)
  const broken = [...links].flatMap(([, link = '']) => {
    const [path = '', anchor] = link.split('#')
    if (/^https?:/.test(path)) return []
    const file = path === '' ? join(root, page) : join(root, dirname(page), path)
    const isThere = existsSync(file) && (!isPacked(join(root, page)) || isPacked(file))
    return isThere && (anchor === undefined || anchorsOf(file).includes(anchor)) ? [] : [link]
  })
  expect(broken).toEqual([])
})

// The blocks of code in README.md and docs/: read, compiled strictly, and run as they stand.
//
//   ts     is compiled and run; the block without a language that follows it is what it prints
//   sh     is run line by line in a project that has spillway installed; what follows it is what it prints
//   diff   has its added lines compiled
//   json   is parsed
//   text   is read by people only
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const FENCE = /^```(\w*)\n([\s\S]*?)^```$/gm
const IMPORT = /(?:from|import) '((?:@[\w-]+\/)?[\w:-]+)/g

/** Pages whose code is run. */
export function pages() {
  const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  return ['README.md', ...docs.map((name) => `docs/${name}`)].sort()
}

/** Blocks of a page in order, each with the output that follows it, if one does. */
export function blocksOf(page) {
  const text = readFileSync(join(root, page), 'utf8').replaceAll('\r\n', '\n')
  const blocks = []
  let end = 0
  for (const { 0: whole, 1: language, 2: code, index } of text.matchAll(FENCE)) {
    const follows = blocks.length > 0 && text.slice(end, index).trim() === ''
    end = index + whole.length
    if (language === '' && follows) blocks.at(-1).shown = code
    else blocks.push({ place: `${page}:${text.slice(0, index).split('\n').length}`, language, code })
  }
  return blocks
}

/** Lines that a diff adds, or the code itself. */
const source = ({ language, code }) =>
  language === 'diff' ? [...code.matchAll(/^\+(.*)$/gm)].map(([, line]) => line).join('\n') : code

/** Packages that a block imports, without Node's and spillway itself. */
export const packagesOf = ({ code }) =>
  [...code.matchAll(IMPORT)].map(([, name]) => name).filter((name) => !/^(node:|spillway)/.test(name))

const OPTIONS = {
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  noEmitOnError: false,
}
const tsc = join(root, 'node_modules/typescript/bin/tsc')

/** File of a block's code, without its extension. */
const fileOf = (folder, { place }) => join(folder, place.replaceAll(/\W/g, '_'))

/** Compiles blocks in a folder, from which the packages that they import must be found. Returns
 *  what tsc complains of. */
export function compile(blocks, folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const block of blocks) writeFileSync(`${fileOf(folder, block)}.mts`, source(block))
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: OPTIONS, include: ['*.mts'] }),
  )
  return spawnSync(process.execPath, [tsc, '-p', folder], { cwd: folder, encoding: 'utf8' }).stdout
}

/** Makes a home for one block, and calls `use` with it. */
function atHome(use) {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'spillway-docs-')))
  try {
    return use(home)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Text with the home and the random ids of saved outputs as documents have them. */
const plain = (text, home = '/home/me') =>
  text
    .replaceAll(home, '/home/me')
    .replaceAll(sep, '/')
    .replaceAll(/[0-9a-f]{16}/g, '8386ef942ee3ac38')
    .trimEnd()

const ran = ({ shown }, home, { status, stdout, stderr }) => ({
  status,
  stderr,
  printed: plain(stdout, home),
  shown: shown === undefined ? undefined : plain(shown),
})

/** Runs a block that `compile` has compiled in this folder. */
export function run(block, folder) {
  return atHome((home) => {
    const env = { ...process.env, HOME: home, USERPROFILE: home, FORCE_COLOR: '0', NODE_NO_WARNINGS: '1' }
    const options = { cwd: home, encoding: 'utf8', env, timeout: 60_000 }
    return ran(block, home, spawnSync(process.execPath, [`${fileOf(folder, block)}.mjs`], options))
  })
}

const FAILING = `for (let id = 1; id <= 4000; id++) console.log('ok ' + id + ' - invoice ' + id + ' adds up')
console.log("not ok 4001 - AssertionError: expected 0.3, got 0.30000000000000004")
for (let id = 4002; id <= 9000; id++) console.log('ok ' + id + ' - invoice ' + id + ' adds up')
process.exitCode = 1
`
const ROWS = [
  { type: 'session', version: 3, id: 's1', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/home/me' },
  {
    type: 'message',
    id: 'm1',
    parentId: null,
    timestamp: '2026-01-01T00:00:01.000Z',
    message: {
      role: 'toolResult',
      toolCallId: 'c1',
      toolName: 'bash',
      content: [{ type: 'text', text: 'one more line\n'.repeat(100_000) }],
      isError: false,
    },
  },
]

/** Puts into a home what the lines of a shell name: a checkout, a project whose tests fail, a
 *  session that is too large, an output that was saved, and a module with a store. Returns the
 *  project. */
function furnish(home) {
  const checkout = join(home, 'spillway')
  mkdirSync(checkout)
  for (const name of ['package.json', 'index.d.ts', 'types', 'dist'])
    cpSync(join(root, name), join(checkout, name), { recursive: true })
  const project = join(home, 'my-agent')
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true })
  symlinkSync(root, join(project, 'node_modules/spillway'), 'junction')
  symlinkSync(join(root, 'node_modules/unstorage'), join(project, 'node_modules/unstorage'), 'junction')
  const module = blocksOf('docs/spill.md').find(({ code }) => code.startsWith('// store.mjs'))
  writeFileSync(join(project, 'store.mjs'), module.code)
  symlinkSync('../spillway/dist/cli.js', join(project, 'node_modules/.bin/spillway'))
  chmodSync(join(root, 'dist/cli.js'), 0o755)
  writeFileSync(join(project, 'package.json'), JSON.stringify({ scripts: { test: 'node test.js' } }))
  writeFileSync(join(project, 'test.js'), FAILING)
  writeFileSync(join(project, 'session.jsonl'), ROWS.map((row) => `${JSON.stringify(row)}\n`).join(''))
  mkdirSync(join(home, '.outputs'), { mode: 0o700 })
  const compiled = 'compiled one more file\n'.repeat(4_800)
  const saved = `${compiled}src/cart.ts:7 - error: Cannot find name 'total'\n`
  const size = `${Buffer.byteLength(saved)}b.4801l`
  writeFileSync(join(home, '.outputs', `8386ef942ee3ac38.npm.${size}.txt`), saved, { mode: 0o600 })
  return project
}

/** A line whose status is that of the tests in the project, which fail. */
const FAILS = /spillway run .*npm test/

/** Runs the lines of a shell. npm neither builds nor goes online. The status is that of the first
 *  line that fails. */
export function runShell(block) {
  return atHome((home) => {
    const project = furnish(home)
    const bin = join(project, 'node_modules/.bin')
    const env = {
      ...process.env,
      HOME: home,
      PATH: [bin, dirname(process.execPath), process.env.PATH].join(delimiter),
      npm_config_ignore_scripts: 'true',
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    }
    const result = { status: 0, stdout: '', stderr: '' }
    if (block.code.includes('.tgz')) spawnSync('npm', ['pack'], { cwd: join(home, 'spillway'), env })
    const lines = block.code.replaceAll(/\\\n/g, '').split('\n')
    let cwd = project
    for (const line of lines.filter((line) => line.trim() !== '')) {
      const script = `${line}\nstatus=$?\npwd > "$HOME/.cwd"\nexit $status`
      const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { cwd, encoding: 'utf8', env })
      cwd = readFileSync(join(home, '.cwd'), 'utf8').trimEnd()
      result.stdout += stdout
      if (status !== 0 && !FAILS.test(line))
        return ran(block, home, { ...result, status, stderr: `${line}: ${stderr}` })
    }
    return ran(block, home, result)
  })
}

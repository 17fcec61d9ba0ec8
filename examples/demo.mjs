// Runs real commands that print far too much, as tools of an agent, and shows what reaches the model.
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { measureText, wrapTools } from 'spillway'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const node = process.execPath
const bin = (name, script) => [node, join(root, 'node_modules', name, script)]

/** A tool as agents write them: it returns the whole output of a command, and marks a failure. */
const shell = (name, [command, ...args]) => ({
  name,
  async execute() {
    const { stdout, stderr, status } = spawnSync(command, args, {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 1 << 30,
    })
    raw.set(name, stdout + stderr)
    return { content: [{ type: 'text', text: stdout + stderr }], isError: status !== 0 }
  },
})
const raw = new Map()

const chat = `
  for (let i = 1; i <= 9000; i++) console.log(i + '. 全部のテストが通りました 👩‍👩‍👧‍👦🎉 тест ' + '漢字😀'.repeat(i % 7))`

const commands = {
  'recursive listing':
    process.platform === 'win32' ? ['cmd', '/c', 'dir /s node_modules'] : ['ls', '-lR', 'node_modules'],
  'verbose build log': [
    ...bin('typescript', 'bin/tsc'),
    '-p',
    '.',
    '--noEmit',
    '--noCheck',
    '--traceResolution',
  ],
  'failing test run': [node, '--test', '--test-reporter=spec', join(root, 'examples', 'failing.mjs')],
  'emoji and CJK': [node, '-e', chat],
}

const tools = wrapTools(
  Object.entries(commands).map(([name, command]) => shell(name, command)),
  (name) => (name === 'recursive listing' ? { keep: 'head' } : {}),
)

const grouped = (number) => number.toLocaleString('en-US').padStart(12)
const row = (label, { bytes, lines }) =>
  console.log(`  ${label}${grouped(bytes)} bytes${grouped(lines)} lines`)

let broken = 0
for (const tool of tools) {
  const { content } = await tool.execute()
  const text = content.map((block) => block.text).join('')
  const size = measureText(text)
  const [notice = '(it fits)'] = text.match(/\[tool output truncated:.*\]/) ?? []
  console.log(`\n${tool.name}`)
  row('the tool printed ', measureText(raw.get(tool.name)))
  row('the model reads  ', size)
  console.log(`  notice  ${notice}`)
  const last = text
    .trimEnd()
    .split('\n')
    .filter((line) => line && line !== notice)
    .slice(-3)
  for (const line of last) console.log(`  kept    ${line.trimEnd().slice(0, 100)}`)
  if (size.bytes > 51_200 || size.lines > 2_000 || !text.isWellFormed()) broken += 1
}
console.log('\nlive build, captured while it runs')
await import('./live.mjs')

console.log(
  broken
    ? `\n${broken} outputs are not within 51,200 bytes and 2,000 lines`
    : '\nAll within 51,200 bytes and 2,000 lines.',
)
if (broken) process.exitCode = 1

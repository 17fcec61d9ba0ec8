// Captures a noisy command while it runs. Shows the text that a model sees meanwhile and at the end, and how it reads
// the rest.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSpillStore, measureText, OutputCapture, spillTool } from 'spillway'

const noisy = `
  let line = 0
  const work = setInterval(() => {
    for (let i = 0; i < 4000; i++) {
      line += 1
      process.stdout.write('\\x1b[2m[' + line + ']\\x1b[0m compiled module ' + line + '\\n')
      if (line === 23457) process.stderr.write('src/cart.ts:7:12 - error TS2304: Cannot find name \\'total\\'.\\n')
    }
    if (line < 60000) return
    clearInterval(work)
    process.exitCode = 2
  }, 20)`

const dir = mkdtempSync(join(tmpdir(), 'spillway-demo-'))
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
const store = createSpillStore({ dir: join(dir, 'outputs'), reference: 'id' })

const capture = new OutputCapture({ maxLines: 12, spill: store, tool: 'build' })
const done = capture.attach(spawn(process.execPath, ['-e', noisy]))
const updates = setInterval(() => {
  const { total, text } = capture.snapshot()
  if (total.lines > 0)
    console.log(
      `  update      ${String(total.lines).padStart(6)} lines came, ${measureText(text).lines} are shown`,
    )
}, 80)
const { text, total, spill } = await done
clearInterval(updates)

const indent = (text) => text.trimEnd().replaceAll(/^/gm, '  | ')
console.log(
  `  the command printed ${total.bytes.toLocaleString('en-US')} bytes; the model reads\n${indent(text)}`,
)

const { execute } = spillTool(store)
const [found] = await store.search(spill.id, 'error')
console.log(
  `\n  read_output, a search\n${indent(await execute({ id: spill.id, pattern: 'error', lines: 1 }))}`,
)
console.log(
  `\n  read_output, a page\n${indent(await execute({ id: spill.id, line: found.line - 1, lines: 3 }))}`,
)

if (!text.includes("Cannot find name 'total'")) process.exitCode = 1

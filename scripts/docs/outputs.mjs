// Runs the TypeScript blocks of README.md and docs/, and writes below each what it prints now:
// after a change of what a cut keeps. `node scripts/docs/outputs.mjs [PAGE...]`; those of
// frameworks take `npm ci --prefix frameworks` before.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { blocksOf, compile, packagesOf, pages, run } from './blocks.mjs'

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const given = process.argv.slice(2)
const chosen = pages().filter((page) => given.length === 0 || given.includes(page))

/** Puts the new output in the place of the one below a block. */
function write(page, { code, shown }, printed) {
  const text = readFileSync(at(page), 'utf8')
  const output = text.indexOf(shown, text.indexOf(code) + code.length)
  writeFileSync(at(page), `${text.slice(0, output)}${printed}\n${text.slice(output + shown.length)}`)
}

const blocks = chosen.flatMap((page) => blocksOf(page).map((block) => ({ page, ...block })))
const folders = Object.entries({ 'target/docs': false, 'integration/frameworks/target/docs': true })
for (const [folder, isFramework] of folders) {
  const those = blocks.filter(
    (block) => block.language === 'ts' && packagesOf(block).length > 0 === isFramework,
  )
  const complaints = compile(those, at(folder))
  if (complaints) throw new Error(complaints)
  for (const block of those) {
    const { status, stderr, printed, shown } = run(block, at(folder))
    if (status !== 0) throw new Error(`${block.place}: ${stderr}`)
    if (shown === undefined || shown === printed) continue
    write(block.page, block, printed)
    console.log(`${block.place} prints something else now`)
  }
}

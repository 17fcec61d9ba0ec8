// Runs npm scripts one after another, all of them even if one fails: `node scripts/build/each.mjs test:types test:node`.
import { spawnSync } from 'node:child_process'

const script = process.env.npm_execpath
const [command, ...rest] = script ? [process.execPath, script] : ['npm']
const failed = process.argv
  .slice(2)
  .filter((name) => spawnSync(command, [...rest, 'run', name], { stdio: 'inherit' }).status !== 0)
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(', ')}`)
  process.exit(1)
}

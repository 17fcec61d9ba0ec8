// npm run test:hosts -- codex pi: the tests of these hosts, one at a time; of all if none is named.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { agents } from './agents/index.mjs'

const named = process.argv.slice(2)
const unknown = named.filter((name) => !(name in agents))
if (unknown.length > 0) {
  console.error(`no host is named ${unknown.join(', ')}; there are ${Object.keys(agents).join(', ')}`)
  process.exit(2)
}
const files = ['hosts.mjs', 'laws.mjs', ...(named.length > 0 ? [] : ['python_client.mjs'])]
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    '--test-reporter=tap',
    '--test-concurrency=1',
    ...files.map((file) => fileURLToPath(new URL(file, import.meta.url))),
  ],
  { stdio: 'inherit', env: { ...process.env, ...(named.length > 0 && { SPILLWAY_HOSTS: named.join(',') }) } },
)
process.exit(status ?? 1)

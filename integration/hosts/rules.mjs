// What providers reject in a request. The rules of calls and results are those of the package's own
// tests, which are TypeScript: they are bundled when a run starts.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { faultOf } from './media.mjs'

/** Characters of a window of 200,000 tokens, four to a token. */
const WINDOW = 800_000

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = join(root, 'target/hosts/rules')
mkdirSync(folder, { recursive: true })
const bundle = await rolldown({ input: join(root, '__test__/support/pair_rules.ts'), platform: 'node' })
const file = join(folder, `pair_rules-${process.pid}.mjs`)
await bundle.write({ file, format: 'esm' })
const { checks } = await import(file)

const ROLES = {
  anthropic: ['user', 'assistant', 'system'],
  'openai-chat': ['system', 'developer', 'user', 'assistant', 'tool'],
  gemini: ['user', 'model'],
}

/** Returns the faults for which a provider rejects a request. */
export function faultsOf({ api, body, entries }) {
  const history = api.historyOf(body)
  const pairs = checks[api.dialect](history)
  const roles = ROLES[api.dialect]
  const odd = roles ? history.find(({ role }) => !roles.includes(role)) : undefined
  const chars = entries.reduce((sum, { text }) => sum + text.length, 0)
  return [
    ...(pairs ? [pairs] : []),
    ...(odd ? [`the role ${odd.role}`] : []),
    ...entries.flatMap(({ media = [] }) => media.flatMap((one) => faultOf(one, api.dialect) ?? [])),
    ...entries.flatMap(({ kind, id, name }) => (kind === 'call' ? (namedWrong(id, name) ?? []) : [])),
    ...(chars > WINDOW ? ['the prompt is too long'] : []),
  ]
}

const namedWrong = (id, name) =>
  /^[\w.:-]{1,128}$/.test(name ?? '') && id ? undefined : `a call ${id} of ${JSON.stringify(name)}`

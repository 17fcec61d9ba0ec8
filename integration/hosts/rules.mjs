// What providers reject in a request. The rules of calls and results are those of the package's own
// tests, which are TypeScript: they are bundled when a run starts.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { faultOf } from './media.mjs'

/** Characters of a window of 200,000 tokens, four to a token. */
const WINDOW = 800_000

const input = fileURLToPath(new URL('../../__test__/support/provider_rules.ts', import.meta.url))
const bundle = await rolldown({ input, platform: 'node' })
const folder = mkdtempSync(join(tmpdir(), 'spillway-rules-'))
const file = join(folder, 'rules.mjs')
await bundle.write({ file, format: 'esm' })
const { refusal } = await import(file)
rmSync(folder, { recursive: true })

/** Returns the faults for which a provider rejects a request. */
export function faultsOf({ api, body, entries }) {
  const refused = refusal(api.dialect, api.historyOf(body))
  const chars = entries.reduce((sum, { text }) => sum + text.length, 0)
  return [
    ...(refused ? [refused] : []),
    ...entries.flatMap(({ media = [] }) =>
      media.flatMap((one) => faultOf(one, api.media ?? api.dialect) ?? []),
    ),
    ...entries.flatMap(({ kind, id, name }) => (kind === 'call' ? (namedWrong(id, name) ?? []) : [])),
    ...(chars > WINDOW ? ['the prompt is too long'] : []),
  ]
}

const namedWrong = (id, name) =>
  /^[\w.:-]{1,128}$/.test(name ?? '') && id ? undefined : `a call ${id} of ${JSON.stringify(name)}`

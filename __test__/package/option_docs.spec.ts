import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { expect, it } from 'vitest'
import type { Option } from '../../lib/option_table.js'
import { ALL, POLICY, RESULTS } from '../../lib/options.js'

const PAGE = join(__dirname, '../../docs/options.md')
const TABLE = /(?<=^\| option \|.*\n\|---.*\n)(?:\|.*\n)+/m

const code = (value: unknown) => `\`${typeof value === 'string' ? `'${value}'` : value}\``

/** Returns the default of an option: of a value in another form, the word for it. */
function presetOf({ kind, preset, unit }: Option<unknown>): string {
  if (preset === undefined && kind.rule.includes('true, false')) return code(false)
  const word = kind.choices?.find((choice) => isDeepStrictEqual(kind.take('', choice), preset))
  if (word !== undefined || typeof preset === 'string') return code(word ?? preset)
  if (typeof preset === 'number')
    return [preset.toLocaleString('en').replace('∞', 'Infinity'), preset < Number.POSITIVE_INFINITY && unit]
      .filter(Boolean)
      .join(' ')
  return typeof preset === 'boolean' ? code(preset) : ''
}

function reachOf(reaches: readonly string[]): string {
  for (const [word, all] of [['all', ALL] as const, ['results', RESULTS] as const]) {
    const left = all.filter((name) => !reaches.includes(name))
    if (all.length - left.length === reaches.length && left.length < 2)
      return [word, ...left.map((name) => `but \`${name}\``)].join(' ')
  }
  return reaches
    .map((name) => (isDeepStrictEqual(reaches, RESULTS) ? name : `\`${name}\``))
    .join(', ')
    .replace(RESULTS.map((name) => `\`${name}\``).join(', '), 'results')
}

function needsOf({ needs = {} }: Option<unknown>): string {
  return Object.entries(needs)
    .map(([option, values]) => `\`${option}\` ${values.map(code).join(', ')}`)
    .join('; ')
}

it('docs/options.md shows the options of a policy: `npx vitest run option_docs -u` writes them', async () => {
  const rows = Object.entries<Option<unknown>>(POLICY.rows).map(([name, row]) => {
    const cells = [
      code(name).replaceAll("'", ''),
      row.kind.rule,
      presetOf(row),
      needsOf(row),
      reachOf(row.reaches ?? []),
    ]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  })
  const page = readFileSync(PAGE, 'utf8')
  expect(page).toMatch(TABLE)
  await expect(page.replace(TABLE, () => rows.join(''))).toMatchFileSnapshot(PAGE)
})

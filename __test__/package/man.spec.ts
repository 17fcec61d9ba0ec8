import { describe, expect, it } from 'vitest'
import { SUMMARIES } from '../../cli/term/summaries.js'
import manifest from '../../package.json'
import { helps, manOf } from '../../scripts/build/man.mjs'

/** Returns the lines that a manual page shows as they are. */
function shown(page: string): string[] {
  const blocks = [...page.matchAll(/^\.nf\n([\s\S]*?)^\.fi$/gm)].map(([, block = '']) => block)
  return blocks.flatMap((block) =>
    block
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^\\&/, '').replaceAll('\\-', '-').replaceAll('\\e', '\\')),
  )
}

describe('the manual page', () => {
  const said = helps()
  const page = manOf(manifest.version, said)

  it('shows what the help of each command says, line for line', () => {
    expect(said.commands.map(([name]) => name)).toEqual(Object.keys(SUMMARIES))
    const [usage = '', ...rest] = said.all.trimEnd().split('\n').slice(2)
    const all = [usage.replace('Usage: ', ''), ...rest]
    expect(shown(page)).toEqual([...all, ...said.commands.flatMap(([, text]) => text.trimEnd().split('\n'))])
  })

  it('has sections, the version, and no request by accident', () => {
    expect(page).toContain(`.TH SPILLWAY 1 "" "spillway ${manifest.version}"`)
    for (const line of page.split('\n'))
      if (/^[.']/.test(line)) expect(line).toMatch(/^\.(?:TH|SH|SS|nf|fi)\b/)
    const odd = { all: 'spillway x.\n\nUsage: y', commands: [['z', ".dot\n'quote\n\\back-slash"]] as const }
    expect(shown(manOf('1', odd))).toEqual(['y', '.dot', "'quote", '\\back-slash'])
  })

  it('is part of the package', () => {
    expect(manifest.man).toBe('./dist/spillway.1')
    expect(manifest.files).toContain('dist')
    expect(manifest.scripts.build).toContain('build:man')
  })
})

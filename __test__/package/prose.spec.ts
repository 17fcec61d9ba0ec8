import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(__dirname, '../..')
const DIRS = [
  'src',
  'bindings',
  'lib',
  'cli',
  '__test__',
  'tests',
  'bench',
  'integration',
  'scripts',
  'types',
]

/** Returns the files of a folder, without those that others wrote or a run made. */
function files(dir: string, end: RegExp): string[] {
  return readdirSync(join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const name = join(dir, entry.name)
    if (entry.isDirectory()) return /^(?:node_modules|target)$/.test(entry.name) ? [] : files(name, end)
    return end.test(name) ? [name] : []
  })
}

// Sentences of providers are theirs.
const code = ['index.d.ts', ...DIRS.flatMap((dir) => files(dir, /\.(?:rs|ts|mts|mjs)$/))].filter(
  (name) => !name.includes('provider_errors') && !__filename.endsWith(name),
)
const pages = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...files('docs', /\.md$/)]

/** Returns the lines of files that a rule rejects, each with its place. */
function rejected(names: readonly string[], rule: (line: string) => boolean): string[] {
  return names.flatMap((name) =>
    readFileSync(join(root, name), 'utf8')
      .split('\n')
      .flatMap((line, at) => (rule(line) ? `${name}:${at + 1}: ${line}` : [])),
  )
}

it('prose in comments takes 100 columns', () => {
  // Rows of tables, commands, lists with columns, rules and words to a linter keep their line.
  const prose = /^\s*(?:\/\/[/!]?|\/\*\*|\*) (?! |\||─|biome-)/
  expect(rejected(code, (line) => line.length > 100 && prose.test(line))).toEqual([])
})

it.each([
  ['say is not a, rather than is no', /(?<!there )\b(?:is|are) no (?!longer|more|other|less|smaller)[a-z]/i],
  ['say is not one, rather than is none', /(?<!there )\b(?:is|are) none\b/i],
  ['name the owner, rather than ours', /\b(?:of|than) ours\b/i],
  ['name who says it, rather than that it is told', /\b(?:is|are) told\b/i],
  ['name what happens, rather than that it gives way', /\bgiv(?:es?|ing) way\b/i],
  ['repeat the noun, rather than of which', /\bof which\b/i],
  ['repeat the noun, rather than the one that', /\bthe one (?:that|who|which|of)\b/i],
])('comments, titles and pages %s', (_, phrase) => {
  expect(rejected([...code, ...pages], (line) => phrase.test(line))).toEqual([])
})

it('a doc comment begins with a verb or the noun of the thing', () => {
  const opening = /^\s*(?:\/\*\*|\/\/[/!]) (?:What|Where|Whether)\b/
  expect(rejected(code, (line) => opening.test(line))).toEqual([])
})

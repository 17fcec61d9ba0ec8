import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(__dirname, '../..')
/** Folders without packages that others wrote. */
const DIRS = ['src', 'lib', 'cli', '__test__', 'scripts', 'types']

const files = (dir: string, end: RegExp) =>
  readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
    .filter((name) => end.test(name))
    .map((name) => join(dir, name))

// Sentences of providers are theirs.
const code = DIRS.flatMap((dir) => files(dir, /\.(?:rs|ts|mts|mjs)$/)).filter(
  (name) => !name.includes('provider_errors'),
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

it('a thing is not a thing, rather than no thing', () => {
  const phrase = /(?<!there )\bis no (?!longer|more|other|less|smaller)[a-z]/i
  expect(rejected([...code, ...pages], (line) => phrase.test(line))).toEqual([])
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import bench from '../../bench/package.json'
import frameworks from '../../integration/frameworks/package.json'
import manifest from '../../package.json'
import { pages } from '../../scripts/docs/blocks.mjs'

// A page that names a package of nobody has its readers run whatever somebody registers under that
// name.

const root = join(__dirname, '../..')
const read = (page: string) => readFileSync(join(root, page), 'utf8')
const documents = [...pages(), 'CONTRIBUTING.md', '.github/SECURITY.md', 'CHANGELOG.md']

/** Packages that this project installs, each with the version or alias. Those of CONTRIBUTING run
 *  in a checkout. */
const installed: Record<string, string> = {
  ...manifest.devDependencies,
  ...bench.devDependencies,
  ...frameworks.devDependencies,
}

/** Packages that pages name and this project does not install, each looked up on npm. */
const KNOWN = ['tsx', 'esbuild', '@anthropic-ai/claude-agent-sdk', 'sharp']

/** Returns the name on npm of a package that is imported or run. */
const packageOf = (name: string) => /^(?:@[\w-]+\/)?[\w.-]+/.exec(name)?.[0] ?? name

/** Returns why a page may not name a package, if it may not. */
function fault(name: string, text: string): string[] {
  const version = installed[name]
  if (version?.startsWith('npm:'))
    return text.includes(`${name}@npm:`) ? [] : [`${name}: an alias that the page does not set`]
  return version !== undefined || KNOWN.includes(name) ? [] : [`${name}: not a package that we know`]
}

/** Returns the names that a text runs with npx, in a shell or in settings of a client. */
function ranBy(text: string): { flags: string; name: string }[] {
  const runs = text.matchAll(/\bnpx["',\s[]+(?:args": \[")?((?:-[\w-]+["',\s]+)*)([@\w][\w@/.-]*)/g)
  return [...runs].map(([, flags = '', name = '']) => ({ flags, name: packageOf(name) }))
}

it('the names that a page runs are found in a shell and in settings', () => {
  const names = (text: string) => ranBy(text).map(({ name }) => name)
  expect(names('run `npx tsx agent.mts`, then npx -y @a/b@2 x')).toEqual(['tsx', '@a/b'])
  expect(names('"command": "npx",\n "args": ["stranger", "mcp", "--", "npx", "@a/b", "/home"]')).toEqual([
    'stranger',
    '@a/b',
  ])
  expect(ranBy('npx --no-install spillway clamp')).toEqual([{ flags: '--no-install ', name: 'spillway' }])
})

it.each(documents)('%s runs no name of nobody', (page) => {
  const text = read(page)
  const faults = ranBy(text).flatMap(({ flags, name }) => {
    // Ours is on npm from the first release on. `--no-install` runs what is installed, and never
    // asks the registry.
    if (name === 'spillway') return flags.includes('--no-install ') ? [] : ['spillway: without --no-install']
    return fault(name, text)
  })
  expect(faults).toEqual([])
})

it.each(documents)('%s imports no name of nobody', (page) => {
  const text = read(page)
  const blocks = text.match(/^```[\s\S]*?^```/gm) ?? []
  const imports = blocks.flatMap((block) => [
    ...block.matchAll(
      /(?:^|\n|\/\/ |\+)(?:import|export)\b[^'\n]*(?:\{[^}]*\})?[^'\n]*'([^'.][^']*)'|\brequire\('([^'.][^']*)'\)/g,
    ),
  ])
  const names = imports
    .map(([, one, other]) => one ?? other ?? '')
    .filter((name) => !/^(?:node:|spillway(?:\/|$))/.test(name))
  expect(names.flatMap((name) => fault(packageOf(name), text))).toEqual([])
})

it('no page tells anybody to install an engine by hand', () => {
  const scoped = documents.filter((page) => /(?:npm (?:i|install)|npx) [^`\n]*@spillway\//.test(read(page)))
  expect(scoped).toEqual([])
  expect(readdirSync(join(root, 'docs')).length).toBeGreaterThan(20)
})

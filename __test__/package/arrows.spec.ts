import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect, it } from 'vitest'

const root = join(__dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')

function files(dir: string, end: string): string[] {
  return readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => join(dir, name))
}

/** Names that stand for any file. */
const EXAMPLES = /^src\/http\/parse\.rs$|\/NAME\./

const typescript = ['lib', 'cli'].flatMap((dir) => files(dir, '.ts'))
const rust = files('src', '.rs')
const shell = files('bindings/src', '.rs')

/** Returns the rooms of a folder in the order of their table in docs/architecture.md, from the
 *  ground up. */
function roomsIn(folder: string): string[] {
  const [, table = ''] = read('docs/architecture.md').split(
    `## The rooms of \`${folder}/\`, from the ground up`,
  )
  const cells = table.split('\n## ')[0]?.matchAll(/^\| (`[^|]+`) \|/gm) ?? []
  return [...cells].flatMap(([, cell = '']) => [...cell.matchAll(/`([^`]+)`/g)].map(([, room = '']) => room))
}

/** Returns the room of a file: a folder or a file of its own. */
const roomOf = (file: string) => file.split('/')[1] as string

/** Returns the rooms that a module of Rust names outside its tests. */
function cratesOf(file: string): string[] {
  const code = read(file)
    .replace(/^( *)#\[cfg\(test\)\]\n(?:\1[^\n]*;\n|[\s\S]*?^\1\}\n)/gm, '')
    .replace(/\/\/.*/g, '')
  const names = [...code.matchAll(/\bcrate::(\{|\w+)/g)].map(([, name = '']) => name)
  return names.map((name) => (existsSync(join(root, 'src', name)) ? name : `${name}.rs`))
}

/** Returns the rooms of lib/ that a module imports, for their types as well. */
function librariesOf(file: string): string[] {
  const paths = [...read(file).matchAll(/\bfrom '(\.[^']+)\.js'/g)].map(([, path = '']) => path)
  const files = paths.map((path) => normalize(join(dirname(file), `${path}.ts`)))
  return files.filter((path) => path.startsWith('lib/')).map(roomOf)
}

/** Files whose values a module of TypeScript imports at once. Types are erased, and `import()`
 *  waits. */
function importsOf(file: string): string[] {
  const all = read(file).matchAll(/^(?:import|export)\s(?!type\b)([^'"]*?)\bfrom '(\.[^']+)\.js'/gms)
  return [...all]
    .filter(([, names = '']) => !/^\{(?:\s*type\s[^,}]+,?)+\s*\}\s*$/.test(names))
    .map(([, , path = '']) => normalize(join(dirname(file), `${path}.ts`)))
}

/** Returns the cycles of a graph: for each, the nodes on a way from one of its nodes back to it. */
function cyclesOf(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const done = new Set<string>()
  const cycles: string[][] = []
  const visit = (node: string, way: string[]): void => {
    if (way.includes(node)) cycles.push([...way.slice(way.indexOf(node)), node])
    else if (!done.has(node)) {
      for (const next of graph.get(node) ?? []) visit(next, [...way, node])
      done.add(node)
    }
  }
  for (const node of graph.keys()) visit(node, [])
  return cycles
}

it('modules of TypeScript import each other in one direction', () => {
  const graph = new Map(typescript.map((file) => [file, importsOf(file)]))
  expect([...graph.values()].flat().length).toBeGreaterThan(500)
  expect(cyclesOf(graph)).toEqual([])
})

it.each([
  ['src', rust.filter((file) => file !== join('src', 'lib.rs')), cratesOf, 200],
  ['lib', typescript.filter((file) => file.startsWith('lib/')), librariesOf, 400],
])('rooms of %s import only rooms below them', (folder, modules, importsOf, least) => {
  const rooms = roomsIn(folder)
  expect([...rooms].sort()).toEqual([...new Set(modules.map(roomOf))].sort())
  const arrows = modules.flatMap((file) =>
    importsOf(file).map((room) => ({ file, from: roomOf(file), room })),
  )
  expect(arrows.length).toBeGreaterThan(least)
  const upward = arrows.filter(
    ({ from, room }) => room !== from && !rooms.slice(0, rooms.indexOf(from)).includes(room),
  )
  expect(upward.map(({ file, room }) => `${file} imports ${room}`)).toEqual([])
})

it('no call of the command line spreads a list, which may hold more than a stack takes', () => {
  const spread = /\b(?:push|unshift|concat|Math\.(?:max|min))\(\s*\.\.\./
  const found = typescript.filter((file) => file.startsWith('cli/') && spread.test(read(file)))
  expect(found).toEqual([])
  expect(spread.test('found.push(...all)') && spread.test('Math.max(...sizes)')).toBe(true)
})

it('nothing but its own entries imports the code for OpenClaw', () => {
  const isInside = (file: string) => file.startsWith('lib/compat/openclaw')
  const imported = (file: string) =>
    [...read(file).matchAll(/['"](\.[^'"]+)\.js['"]/g)].map(([, path = '']) =>
      normalize(join(dirname(file), `${path}.ts`)),
    )
  const outside = typescript.filter((file) => !isInside(file) && imported(file).some(isInside))
  expect(outside).toEqual(['lib/wings/openclaw.ts'])
})

it('no comment or page names a file that does not exist', () => {
  const pages = [...files('docs', '.md'), 'README.md', 'CONTRIBUTING.md', '.github/SECURITY.md', 'index.d.ts']
  const comments = (file: string) => (read(file).match(/(?:^|\s)(?:\/\/|\*|\/\*).*$/gm) ?? []).join('\n')
  const prose = (file: string) => read(file).replace(/^```[\s\S]*?^```/gm, '')
  const texts = [
    ...[...typescript, ...rust, ...shell].map((file) => [file, comments(file)] as const),
    ...pages.map((file) => [file, prose(file)] as const),
  ]
  const path =
    /(?<![\w./@-])(?:src|bindings|lib|cli|docs|bench|scripts|tests|types|__test__|integration)\/[\w./-]*\.(?:rs|ts|mts|mjs|json|md)\b/g
  const stale = texts.flatMap(([file, text]) =>
    (text.match(path) ?? [])
      .filter((name) => !existsSync(join(root, name)) && !EXAMPLES.test(name))
      .map((name) => `${file}: ${name}`),
  )
  expect(stale).toEqual([])
})

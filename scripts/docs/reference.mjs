// Makes a site of the pages of docs/ and of the typings, in HTML and in Markdown:
// target/reference/html and target/reference/markdown. Fails on any warning, and if a member of an
// interface or a class has no anchor.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Application, ReflectionKind } from 'typedoc'

const root = fileURLToPath(new URL('../..', import.meta.url))
const out = join(root, 'target/reference')

const app = await Application.bootstrapWithPlugins({
  name: 'spillway',
  entryPoints: ['index.d.ts', ...readdirSync(join(root, 'types')).map((file) => join('types', file))].map(
    (file) => join(root, file),
  ),
  tsconfig: join(root, 'scripts/docs/reference.tsconfig.json'),
  plugin: ['typedoc-plugin-markdown'],
  // The home page is the map of docs/ by task, and a search finds words of its pages.
  readme: join(root, 'docs/README.md'),
  projectDocuments: readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .map((name) => join(root, 'docs', name)),
  searchInDocuments: true,
  highlightLanguages: ['bash', 'console', 'diff', 'javascript', 'json', 'typescript'],
  sort: ['source-order'],
  disableSources: true,
  hideGenerator: true,
  validation: { notExported: true, invalidLink: true, invalidPath: true, notDocumented: false },
  intentionallyNotExported: ['OnlyOptions', 'StoredMessage'],
  treatWarningsAsErrors: true,
  outputs: [
    { name: 'html', path: join(out, 'html') },
    { name: 'markdown', path: join(out, 'markdown') },
  ],
})

/** Names of the members that have no anchor on the page of their interface or class. */
function withoutAnchor(project) {
  const owners = project.getReflectionsByKind(ReflectionKind.Interface | ReflectionKind.Class)
  return owners.flatMap((owner) => {
    const folder = owner.kind === ReflectionKind.Class ? 'classes' : 'interfaces'
    const page = join(out, 'html', folder, `${owner.getFullName().replaceAll('/', '_')}.html`)
    const html = existsSync(page) ? readFileSync(page, 'utf8') : ''
    return (owner.children ?? [])
      .filter(({ name }) => !html.includes(`id="${name.toLowerCase()}"`))
      .map((member) => member.getFullName())
  })
}

rmSync(out, { recursive: true, force: true })
const project = await app.convert()
if (project === undefined) process.exit(1)
app.validate(project)
await app.generateOutputs(project)
const missing = withoutAnchor(project)
if (missing.length > 0) console.error(`no anchor: ${missing.join(', ')}`)
if (app.logger.hasErrors() || app.logger.hasWarnings() || missing.length > 0) process.exitCode = 1

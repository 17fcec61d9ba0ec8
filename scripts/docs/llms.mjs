// Writes llms.txt (llmstxt.org), which tells a model where to read: the first lines of README.md,
// and the questions of docs/README.md with their pages.
//
//   node scripts/docs/llms.mjs           writes it
//   node scripts/docs/llms.mjs --check   fails if it says anything else
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path) => readFileSync(at(path), 'utf8')

/** Returns the path of a page that docs/ links, as seen from the root of the package. */
const fromRoot = (link) => new URL(link, 'file:///docs/').pathname.slice(1)

const [title, summary] = read('README.md').split('\n\n')

/** Sections of docs/README.md with their pages by title. A page is listed once, with the questions
 *  that docs/README.md answers with it first. */
const sections = []
const pages = new Map()
for (const line of read('docs/README.md').split('\n')) {
  if (line.startsWith('## ')) sections.push({ heading: line, listed: [] })
  const [, question, cell = ''] = line.match(/^\| (.*) \| (.*) \|$/) ?? []
  const paths = [...cell.matchAll(/\]\(([^)]*)\)/g)].map(([, link]) => fromRoot(link))
  for (const path of paths.filter((path) => !pages.has(path))) {
    const [title = ''] = read(path).match(/(?<=^# ).*/m) ?? []
    pages.set(path, { title, path, questions: [] })
    sections.at(-1).listed.push(pages.get(path))
  }
  pages.get(paths[0])?.questions.push(question)
}
const lines = sections.flatMap(({ heading, listed }) => [
  '',
  heading,
  '',
  ...listed.map(
    ({ title, path, questions }) =>
      `- [${title}](${path})${questions.length > 0 ? `: ${questions.join(' ')}` : ''}`,
  ),
])
const reference = ['', '## Reference', '', '- [index.d.ts](index.d.ts): each function, option and error']
const text = `${[title, '', `> ${summary.replaceAll('\n', ' ')}`, ...lines, ...reference].join('\n')}\n`

if (!process.argv.includes('--check')) writeFileSync(at('llms.txt'), text)
else if (read('llms.txt') !== text) throw new Error('llms.txt is old: node scripts/docs/llms.mjs')

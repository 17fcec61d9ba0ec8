// Writes llms.txt (llmstxt.org), which tells a model where to read: the first lines of README.md,
// and the questions of docs/README.md with their pages.
//
//   node scripts/docs/llms.mjs           writes it
//   node scripts/docs/llms.mjs --check   fails if it says anything else
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const read = (path) => readFileSync(at(path), 'utf8')

/** Returns the link of a page of docs/, as seen from the root of the package. */
const fromRoot = (link) => new URL(link, 'file:///docs/').pathname.slice(1) + new URL(link, 'file:///').hash

const [title, summary] = read('README.md').split('\n\n')
const lines = read('docs/README.md')
  .split('\n')
  .flatMap((line) => {
    if (line.startsWith('## ')) return ['', line, '']
    const [, question = '', pages = ''] = line.match(/^\| (.*) \| (.*) \|$/) ?? []
    const links = [...pages.matchAll(/\[`?([^\]`]*)`?\]\(([^)]*)\)/g)]
    return links.map(([, name, link]) => `- [${name}](${fromRoot(link)}): ${question}`)
  })
const reference = ['', '## Reference', '', '- [index.d.ts](index.d.ts): each function, option and error']
const text = `${[title, '', `> ${summary.replaceAll('\n', ' ')}`, ...lines, ...reference].join('\n')}\n`

if (!process.argv.includes('--check')) writeFileSync(at('llms.txt'), text)
else if (read('llms.txt') !== text) throw new Error('llms.txt is old: node scripts/docs/llms.mjs')

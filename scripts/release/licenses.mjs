// Writes THIRD_PARTY_LICENSES: the notices of all code of others in a release. `--check` compares
// it with what is linked now. Fails for a package that cannot be had under a licence that
// .ci/deny.toml allows, and for one without a notice.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { bundledModules, linkedCrates, root } from './linked.mjs'

const FILE = join(root, 'THIRD_PARTY_LICENSES')
const NOTICE = /^(?:licen[cs]e|copying|copyright|notice)/i
/** Choices of licences that include MIT, which this package takes. */
const OTHERS = /apache|llvm|unlicense/i

const MIT = (holder) => `Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

/** Every engine contains the standard library of Rust, which cargo does not list. */
const RUST = {
  title: 'the Rust standard library (MIT OR Apache-2.0)',
  texts: [MIT('The Rust Project contributors')],
}

/** Returns true if an SPDX expression can be met by the given licences alone. `/` is the older form
 *  of OR. */
export function isMet(expression, allowed) {
  const tokens = (expression ?? '').replaceAll('/', ' OR ').match(/[()]|[^\s()]+/g) ?? []
  const atom = () => {
    const name = tokens.shift()
    if (name !== '(') {
      const exception = tokens[0] === 'WITH' ? ` ${tokens.splice(0, 2).join(' ')}` : ''
      return allowed.includes(name + exception)
    }
    const inner = either()
    return tokens.shift() === ')' && inner
  }
  // Each side is read before it is judged, so that none of its words is left over.
  const joined = (word, part) => {
    const parts = [part()]
    while (tokens[0] === word) {
      tokens.shift()
      parts.push(part())
    }
    return parts
  }
  const all = () => joined('AND', atom).every(Boolean)
  const either = () => joined('OR', all).some(Boolean)
  return either() && tokens.length === 0
}

/** Returns the licences that a deny.toml allows. */
export function allowedLicenses(toml) {
  const [, list = ''] = /^allow = \[([^\]]*)\]/m.exec(toml) ?? []
  return [...list.matchAll(/"([^"]+)"/g)].map(([, name]) => name)
}

/** Returns the texts of the notices in the folder of a package, or of its licence and authors if it
 *  has no file. */
function noticesOf({ name, license, authors, folder }) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => NOTICE.test(file.split(/[\\/]/).at(-1)) && !/node_modules|\.rs$|\.html$/.test(file))
    .sort()
  const taken = files.some((file) => /mit/i.test(file)) ? files.filter((file) => !OTHERS.test(file)) : files
  if (taken.length > 0) return taken.map((file) => readFileSync(join(folder, file), 'utf8'))
  if (license === 'MIT' && authors?.length > 0) return [MIT(authors.join(', '))]
  throw new Error(`${name} has no notice; add its text to ${relative(root, fileURLToPath(import.meta.url))}`)
}

/** Formats the notices of packages: those with the same text share it. */
export function formatNotices(entries) {
  const groups = new Map()
  for (const { title, texts } of entries) {
    const text = texts
      .map((text) =>
        text
          .replaceAll('\r', '')
          .replace(/[ \t]+$/gm, '')
          .trim(),
      )
      .join('\n\n')
    groups.set(text, [...(groups.get(text) ?? []), title])
  }
  const rule = '-'.repeat(80)
  const parts = [...groups].map(([text, titles]) => `${titles.join('\n')}\n\n${text}\n`)
  const head = 'spillway contains code of the packages below, under these licences.\n'
  return [head, ...parts].join(`\n${rule}\n\n`)
}

function make() {
  const packages = [...linkedCrates(), ...bundledModules()]
  const allowed = allowedLicenses(readFileSync(join(root, '.ci/deny.toml'), 'utf8'))
  const refused = packages.filter(({ license }) => !isMet(license, allowed))
  if (refused.length > 0) {
    const said = refused.map(({ name, version, license }) => `${name} ${version}: ${license ?? 'no licence'}`)
    throw new Error(`.ci/deny.toml does not allow:\n${said.join('\n')}`)
  }
  const entries = packages.map((found) => ({
    title: `${found.name} ${found.version} (${found.license})`,
    texts: noticesOf(found),
  }))
  return formatNotices([RUST, ...entries])
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const text = make()
    if (!argv.includes('--check')) writeFileSync(FILE, text)
    else if (readFileSync(FILE, 'utf8') !== text)
      throw new Error(
        'THIRD_PARTY_LICENSES is stale; run `node scripts/release/licenses.mjs` and read the diff',
      )
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

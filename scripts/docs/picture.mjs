// Draws what `npm run demo` prints as docs/demo-light.svg and docs/demo-dark.svg.
//
//   node scripts/docs/picture.mjs           writes both
//   node scripts/docs/picture.mjs --check   fails if they show anything else
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const at = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
/** Parts of the demo that the picture has, by their first words. */
const PARTS = ['A build', 'A search', 'A session']
const [CELL, ROW, PAD] = [8, 19, 18]

/** Colours by the codes of the demo: none, bold, dim, red, green, yellow. */
const THEMES = {
  light: {
    paper: '#ffffff',
    edge: '#d0d7de',
    0: '#1f2328',
    1: '#1f2328',
    2: '#6e7781',
    31: '#cf222e',
    32: '#1a7f37',
    33: '#9a6700',
  },
  dark: {
    paper: '#0d1117',
    edge: '#30363d',
    0: '#e6edf3',
    1: '#ffffff',
    2: '#8b949e',
    31: '#ff7b72',
    32: '#3fb950',
    33: '#d29922',
  },
}

function printed() {
  const env = { ...process.env, FORCE_COLOR: '1' }
  const { status, stdout, stderr } = spawnSync(process.execPath, [at('scripts/docs/demo.mjs')], {
    encoding: 'utf8',
    env,
  })
  if (status !== 0) throw new Error(stderr || 'the demo has failed')
  const parts = stdout
    .replaceAll(/[0-9a-f]{16}/g, '8386ef942ee3ac38')
    .trimEnd()
    .split('\n\n')
  const isShown = (part) => PARTS.some((words) => part.replace('\x1b[1m', '').startsWith(words))
  return [parts[0], ...parts.filter(isShown)].join('\n\n').split('\n')
}

/** Runs of one colour in a line: the column where each begins, its code and its text. */
function runsOf(line) {
  let column = 0
  return `0m${line}`.split('\x1b[').map((run) => {
    const [code] = run.split('m', 1)
    const text = run.slice(code.length + 1)
    const start = column
    column += [...text].length
    return { column: start, code: Number(code), text }
  })
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function draw(lines, theme) {
  const columns = Math.max(...lines.map((line) => [...stripVTControlCharacters(line)].length))
  const [width, height] = [columns * CELL + 2 * PAD, lines.length * ROW + 2 * PAD]
  const rows = lines.flatMap((line, row) =>
    runsOf(line).map(({ column, code, text }) => {
      const indent = text.length - text.trimStart().length
      const words = text.trim()
      if (words === '') return ''
      const x = PAD + (column + indent) * CELL
      const long = [...words].length * CELL
      const weight = code === 1 ? ' font-weight="bold"' : ''
      return `<text x="${x}" y="${PAD + (row + 0.75) * ROW}" fill="${theme[code]}"${weight} textLength="${long}" lengthAdjust="spacingAndGlyphs">${escaped(words)}</text>\n`
    }),
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13" xml:space="preserve">
<title>npm run demo: what a model reads after slice, and after spillway</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${theme.paper}" stroke="${theme.edge}"/>
${rows.join('')}</svg>
`
}

const lines = printed()
for (const [name, theme] of Object.entries(THEMES)) {
  const file = at(`docs/demo-${name}.svg`)
  const picture = draw(lines, theme)
  if (!process.argv.includes('--check')) writeFileSync(file, picture)
  else if (readFileSync(file, 'utf8') !== picture)
    throw new Error(`${file} is old: node scripts/docs/picture.mjs`)
}

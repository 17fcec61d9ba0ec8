// Curves as a picture of small panels with common axes, both logarithmic: ours in full, a peer
// dashed, the floor dotted.

const COLUMNS = 3
const PANEL = { width: 280, height: 236 }
/** The plot within a panel: room for the title and the names above, for numbers at the left and
 *  below. */
const PLOT = { left: 52, top: 62, right: 12, bottom: 34 }

const THEME = `
svg{--back:#fff;--text:#1f2328;--grid:#e4e8ec;--dim:#59636e;--ours:#0969da;--peer:#bc4c00;--floor:#6e7781}
@media(prefers-color-scheme:dark){svg{--back:#0d1117;--text:#e6edf3;--grid:#262c34;--dim:#9198a1;--ours:#58a6ff;--peer:#f0883e;--floor:#9198a1}}
text{font:11px system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;fill:var(--dim)}
.back{fill:var(--back)}.title{font-size:12px;font-weight:600;fill:var(--text)}
.grid{stroke:var(--grid);fill:none}
.ours,.peer,.floor{fill:none;stroke-linejoin:round}
.ours{stroke:var(--ours);stroke-width:2.2}.peer{stroke:var(--peer);stroke-width:1.6;stroke-dasharray:6 3}
.floor{stroke:var(--floor);stroke-width:1.6;stroke-dasharray:1.5 3}
text.ours,text.peer,text.floor{stroke:none}text.ours{fill:var(--ours)}text.peer{fill:var(--peer)}text.floor{fill:var(--floor)}
.end{fill:var(--back);stroke-width:1.6;stroke-dasharray:none}`.replaceAll('\n', '')

/** Draws panels `{ title, lines: [name, kind, points][] }`. `say` writes a size. */
export function chart({ label, sizes, say, panels }) {
  const all = panels.flatMap(({ lines }) => lines.flatMap(([, , points]) => points.map(([, ms]) => ms)))
  const [low, high] = [Math.floor(Math.log10(Math.min(...all))), Math.ceil(Math.log10(Math.max(...all)))]
  const [first, last] = [sizes[0], sizes.at(-1)].map(Math.log10)
  const { width, height } = PANEL
  const [inner, outer] = [width - PLOT.left - PLOT.right, height - PLOT.top - PLOT.bottom]
  const x = (size) => round(PLOT.left + (inner * (Math.log10(size) - first)) / (last - first))
  const y = (ms) => round(PLOT.top + (outer * (high - Math.log10(ms))) / (high - low))

  const ticks = Array.from({ length: high - low + 1 }, (_, at) => low + at)
  const across = ticks.map((power) => `M${PLOT.left} ${y(10 ** power)}h${inner}`)
  const down = sizes.map((size) => `M${x(size)} ${PLOT.top}v${outer}`)
  // Every second decade has its number: all of them would touch.
  const times = ticks
    .filter((power) => power % 2 === 0)
    .map((power) => text(PLOT.left - 5, y(10 ** power) + 4, duration(10 ** power), '', 'end'))
  const below = sizes
    .filter((_, at) => sizes.length < 5 || (sizes.length - at) % 2 === 1)
    .map((size) => text(x(size), height - 18, say(size), '', size === sizes.at(-1) ? 'end' : 'middle'))
  const frame = `<g id="f"><path class="grid" d="${[...across, ...down].join('')}"/>${[...times, ...below].join('')}</g>`

  const drawn = panels.map(({ title, lines }, at) => {
    const names = lines.map(([name, kind], row) => [name, kind, row])
    const legend = names.map(([name, kind, row]) => {
      const [left, top] = [10 + (row % 2) * 92, 34 + (row >> 1) * 15]
      return `<path class="${kind}" d="M${left} ${top - 4}h20"/>${text(left + 25, top, name, kind)}`
    })
    // The floor is drawn first, and what is ours above all.
    const paths = [...lines].reverse().map(([, kind, points]) => {
      const [size, ms] = points.at(-1)
      const ended =
        size < sizes.at(-1) ? `<circle class="${kind} end" cx="${x(size)}" cy="${y(ms)}" r="2.8"/>` : ''
      return `<path class="${kind}" d="M${points.map(([size, ms]) => `${x(size)} ${y(ms)}`).join('L')}"/>${ended}`
    })
    const place = `translate(${(at % COLUMNS) * width} ${Math.floor(at / COLUMNS) * height})`
    return `<g transform="${place}"><use href="#f"/>${text(10, 18, title, 'title')}${legend.join('')}${paths.join('')}</g>`
  })
  const size = [COLUMNS * width, Math.ceil(panels.length / COLUMNS) * height]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" width="${size[0]}" height="${size[1]}" role="img" aria-label="${escaped(label)}">
<style>${THEME}</style><rect class="back" width="100%" height="100%"/><defs>${frame}</defs>
${drawn.join('\n')}
</svg>
`
}

/** Milliseconds in the unit that reads best. */
export function duration(ms) {
  const [unit, value] =
    ms < 0.9995e-3
      ? ['ns', ms * 1e6]
      : ms < 0.9995
        ? ['us', ms * 1e3]
        : ms < 999.5
          ? ['ms', ms]
          : ['s', ms / 1e3]
  return `${value < 9.95 ? Number(value.toFixed(1)) : Math.round(value)} ${unit}`
}

const round = (value) => Math.round(value * 10) / 10
const escaped = (value) => value.replace(/[&<>"]/g, (char) => `&#${char.codePointAt(0)};`)
function text(x, y, value, kind = '', anchor = 'start') {
  const attributes = `${kind && ` class="${kind}"`}${anchor === 'start' ? '' : ` text-anchor="${anchor}"`}`
  return `<text x="${x}" y="${y}"${attributes}>${escaped(value)}</text>`
}

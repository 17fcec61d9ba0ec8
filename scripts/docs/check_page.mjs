// Opens pages of `spillway inspect --html` in a headless Chromium: at two widths, light and dark,
// on a plain session and on a hostile one. Nothing of a page may run, request anything, or be wider
// than the screen. Leaves the screenshots in the folder that is given: npm run check:page --
// FOLDER. A browser elsewhere is CHROME_PATH, its flags CHROME_FLAGS.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { Browser, browserFound } from './browser.mjs'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const [shots] = process.argv.slice(2)

/** Markup that would set `owned`, ask for something or hide the page, if any of it were more than
 *  text. */
const HOSTILE = [
  '<script>window.owned = 1</script>',
  '<img src="http://127.0.0.1:9/img" onerror="window.owned = 2">',
  `"' onmouseover="window.owned = 3" autofocus onfocus="window.owned = 4" x="`,
  '</style><style>body { display: none; background: url(http://127.0.0.1:9/style) }</style>',
  '</title></pre></details></table><svg onload="window.owned = 5"><a href="javascript:window.owned = 6">a</a></svg>',
  '<iframe src="http://127.0.0.1:9/frame" srcdoc="<script>parent.owned = 7</script>"></iframe>',
  '<meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/refresh"><base href="http://127.0.0.1:9/">',
  '<link rel="stylesheet" href="http://127.0.0.1:9/link"><form action="http://127.0.0.1:9/form"><input autofocus>',
  '\u202eturned\u2066 \0 \x1b[2J \ud800 ]]> --> <!-- {{owned}}',
]

/** Makes a session of Pi from calls and their results. */
function sessionOf(results) {
  const messages = results.flatMap(([toolName, text, details], at) => {
    const toolCallId = `call_${at}`
    const call = { type: 'toolCall', id: toolCallId, name: toolName, arguments: { at } }
    const content = [{ type: 'text', text }]
    return [
      {
        role: 'assistant',
        content: [{ type: 'text', text: 'Let me look at that. '.repeat(20) }, call],
        stopReason: 'toolUse',
      },
      {
        role: 'toolResult',
        toolCallId,
        toolName,
        content,
        isError: at % 7 === 3,
        ...(details && { details }),
      },
    ]
  })
  const stamp = { timestamp: '2026-01-02T03:04:05.678Z' }
  const rows = messages.map((message, at) => ({
    type: 'message',
    id: `${at}`,
    parentId: at ? `${at - 1}` : null,
    ...stamp,
    message,
  }))
  return [{ type: 'session', version: 3, id: 'page', cwd: '/tmp', ...stamp }, ...rows]
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('')
}

/** A session that grows as those of coding agents do, with three results that are too large. */
function plain() {
  const tools = [
    'bash',
    'read',
    'bash',
    'grep',
    'read',
    'web_fetch',
    'bash',
    'edit',
    'mcp__tracker__search_issues',
  ]
  const sizes = { 34: 9_000, 61: 5_200, 70: 1_500 }
  const lines = (count) =>
    Array.from({ length: count }, (_, at) =>
      at === 700
        ? 'src/cart.ts:7:3 - error TS2304: Cannot find name total.\n'
        : `${at} src/module_${at % 37}.ts compiled in ${at % 91} ms\n`,
    ).join('')
  const results = Array.from({ length: 90 }, (_, at) => [
    tools[(at * 7) % 9],
    lines(sizes[at] ?? (at * 37) % 120),
  ])
  return sessionOf(results.map((result, at) => (at === 50 ? [...result, { output: lines(900) }] : result)))
}

function hostile() {
  const all = HOSTILE.join('\n')
  return sessionOf([
    ...HOSTILE.map((text) => [text, `${text}\n`.repeat(9)]),
    [all, `${all}\n`.repeat(200)],
    ['w'.repeat(3_000), 'x'.repeat(99_000)],
  ])
}

/** Waits until a condition holds in the page. */
async function until(tab, expression) {
  for (const start = Date.now(); ; await new Promise((resolve) => setTimeout(resolve, 20))) {
    if (await resultOf(tab, expression)) return
    assert.ok(Date.now() - start < 10_000, `the page is never so: ${expression}`)
  }
}

async function resultOf(tab, expression) {
  const { result, exceptionDetails } = await tab.send('Runtime.evaluate', { expression, returnByValue: true })
  assert.equal(exceptionDetails, undefined, expression)
  return result.value
}

async function check(browser, name, file, width, scheme) {
  const tab = await browser.tab()
  const requests = []
  const events = []
  browser.on(({ method, params, sessionId }) => {
    if (sessionId !== tab.sessionId) return
    if (method === 'Network.requestWillBeSent') requests.push(params.request.url)
    if (
      /^Page\.javascriptDialog|^Page\.frameRequestedNavigation|^Runtime\.exceptionThrown|^Log\.entryAdded/.test(
        method,
      )
    )
      events.push(`${method} ${JSON.stringify(params)}`)
  })
  for (const domain of ['Page', 'Network', 'Runtime', 'Log']) await tab.send(`${domain}.enable`)
  await tab.send('Emulation.setDeviceMetricsOverride', {
    width,
    height: 900,
    deviceScaleFactor: 1,
    mobile: width < 500,
  })
  await tab.send('Emulation.setEmulatedMedia', {
    features: [{ name: 'prefers-color-scheme', value: scheme }],
  })
  const url = pathToFileURL(file).href
  await tab.send('Page.navigate', { url })
  await until(tab, `location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`)
  await resultOf(tab, `document.querySelectorAll('details').forEach((details) => { details.open = true })`)
  // Events of the mouse and of the keyboard, for handlers that markup may have brought.
  for (let y = 20; y < 900; y += 40)
    await tab.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: width / 2, y })
  for (let times = 0; times < 9; times++)
    for (const type of ['keyDown', 'keyUp'])
      await tab.send('Input.dispatchKeyEvent', { type, key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 })
  const found = await resultOf(
    tab,
    `({
      owned: typeof window.owned,
      elements: [...new Set([...document.querySelectorAll('*')].map(({ localName }) => localName))].sort().join(' '),
      handlers: [...document.querySelectorAll('*')].flatMap(({ attributes }) => [...attributes]).filter(({ name }) => /^on|^src|^href|^style$/.test(name)).length,
      wide: document.documentElement.scrollWidth,
      dark: getComputedStyle(document.body).backgroundColor,
      sections: document.querySelectorAll('section').length,
      height: document.documentElement.scrollHeight,
    })`,
  )
  assert.equal(found.owned, 'undefined', 'something of the page ran')
  assert.doesNotMatch(found.elements, /script|iframe|img|object|embed|link|base|form|input|\ba\b/)
  assert.equal(found.handlers, 0)
  assert.ok(found.wide <= width, `the page is ${found.wide} wide on a screen of ${width}`)
  assert.equal(found.sections, 3)
  assert.equal(
    found.dark,
    scheme === 'dark' ? 'rgb(13, 17, 23)' : 'rgb(255, 255, 255)',
    'the style does not apply',
  )
  assert.deepEqual(requests, [url], 'the page asks for something')
  assert.deepEqual(events, [])
  if (shots === undefined) return
  await resultOf(
    tab,
    `document.querySelectorAll('details').forEach((details, at) => { details.open = at === 1 })`,
  )
  const height = Math.min(await resultOf(tab, 'document.documentElement.scrollHeight'), 4_000)
  await tab.send('Emulation.setDeviceMetricsOverride', {
    width,
    height,
    deviceScaleFactor: 1,
    mobile: width < 500,
  })
  const { data } = await tab.send('Page.captureScreenshot', { format: 'png' })
  mkdirSync(shots, { recursive: true })
  writeFileSync(join(shots, `${name}-${width}-${scheme}.png`), Buffer.from(data, 'base64'))
}

const command = browserFound()
if (command === undefined) {
  console.error('No browser is found, so nothing was checked. Install chromium, or set CHROME_PATH to one.')
  process.exit(1)
}
const place = mkdtempSync(join(tmpdir(), 'spillway-page-'))
const browser = new Browser(command)
try {
  for (const [name, session] of [
    ['plain', plain()],
    ['hostile', hostile()],
  ]) {
    writeFileSync(join(place, `${name}.jsonl`), session)
    const page = join(place, `${name}.html`)
    const { status, stderr } = spawnSync(
      process.execPath,
      [cli, 'inspect', join(place, `${name}.jsonl`), '--html', page],
      { encoding: 'utf8' },
    )
    assert.equal(status, 0, stderr)
    for (const width of [390, 1280])
      for (const scheme of ['light', 'dark']) {
        await check(browser, name, page, width, scheme)
        console.log(`ok: ${name}, ${width} wide, ${scheme}`)
      }
  }
} finally {
  await browser.close()
  rmSync(place, { recursive: true, force: true })
}

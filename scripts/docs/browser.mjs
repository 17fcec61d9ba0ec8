// A headless Chromium, driven over a pipe by its DevTools protocol.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
  'chrome',
  'headless_shell',
]

/** Returns the command of a browser: that of CHROME_PATH, or the first that is installed. */
export function browserFound() {
  const names = process.env.CHROME_PATH ? [process.env.CHROME_PATH] : NAMES
  return names.find((name) => spawnSync(name, ['--version']).status === 0)
}

export class Browser {
  #child
  #home = mkdtempSync(join(tmpdir(), 'spillway-browser-'))
  #id = 0
  #waiting = new Map()
  #listeners = new Set()

  constructor(command) {
    const args = ['--headless', '--remote-debugging-pipe', `--user-data-dir=${this.#home}`, '--disable-gpu']
    args.push('--no-first-run', '--hide-scrollbars', '--disable-dev-shm-usage')
    // Chromium has no sandbox for root.
    if (process.getuid?.() === 0) args.push('--no-sandbox')
    args.push(...(process.env.CHROME_FLAGS?.split(' ') ?? []))
    this.#child = spawn(command, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] })
    let text = ''
    this.#child.stdio[4].setEncoding('utf8').on('data', (chunk) => {
      const parts = (text + chunk).split('\0')
      text = parts.pop()
      for (const part of parts) this.#take(JSON.parse(part))
    })
    this.#child.once('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the browser has ended'))
    })
    this.#child.stdio[3].on('error', () => {})
  }

  #take({ id, error, result, ...event }) {
    if (id === undefined) {
      for (const listener of this.#listeners) listener(event)
      return
    }
    const { resolve, reject } = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (error) reject(new Error(error.message))
    else resolve(result)
  }

  /** Calls `listener` with each event: its method, its params and the session. */
  on(listener) {
    this.#listeners.add(listener)
  }

  send(method, params = {}, sessionId = undefined) {
    const id = ++this.#id
    this.#child.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`)
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }))
  }

  /** Opens an empty tab, and returns its `send`. */
  async tab() {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true })
    return { sessionId, send: (method, params) => this.send(method, params, sessionId) }
  }

  async close() {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await ended
    rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 })
  }
}

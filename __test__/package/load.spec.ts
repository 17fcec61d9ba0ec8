import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as spillway from 'spillway'
import * as openclaw from 'spillway/openclaw'
import { describe, expect, it } from 'vitest'

const root = join(__dirname, '../..')

/** Runs a script in a process of its own and returns the JSON that it prints. */
function run(script: string, type: 'commonjs' | 'module' = 'commonjs'): unknown {
  const args = [`--input-type=${type}`, '-e', script]
  return JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: 'utf8' }))
}

/** Statements that print the files of dist/ that are loaded. */
const printFiles = `
  const files = Object.keys(require.cache).map((file) => file.replaceAll('\\\\', '/').split('/dist/')[1])
  console.log(JSON.stringify(files.filter((file) => !file.endsWith('.node')).sort()))`

const AT_ONCE = ['index.js', 'text.js']

describe('loading the package', () => {
  it('loads what clamps texts, and no more of Node than that takes', () => {
    expect(run(`require('spillway'); ${printFiles}`)).toEqual(AT_ONCE)
    const modules = run(`
      const before = new Set(process.moduleLoadList)
      const { clampText } = require('spillway')
      clampText('x'.repeat(100_000))
      console.log(JSON.stringify(process.moduleLoadList.filter((name) => !before.has(name))))`)
    const others = ['stream', 'fs/promises', 'timers/promises', 'worker_threads', 'child_process']
    for (const name of [...others, 'diagnostics_channel'])
      expect(modules).not.toContain(`NativeModule ${name}`)
  })

  it('loads a file that V8 reads fast: one byte a char, and exports without getters', () => {
    const file = join(root, 'dist/text.js')
    expect(readFileSync(file, 'utf8')).toMatch(/^\p{ASCII}*$/u)
    const getters = `
      const members = Object.entries(Object.getOwnPropertyDescriptors(require(${JSON.stringify(file)})))
      console.log(JSON.stringify(members.filter(([, { get }]) => get).map(([name]) => name)))`
    expect(run(getters)).toEqual([])
  })

  it.each([
    ["definePolicy({ dialect: 'mcp', clean: true })", []],
    ["cleanText('x')", []],
    ["clampTextWithReport('x'.repeat(1e6))", []],
    ["clampResult('x')", ['result.js', 'spill.js', 'wings/result.js']],
    ['repairToolPairs([])', ['result.js', 'spill.js', 'wings/pairs.js']],
    ["createSpillStore({ dir: '.' })", ['spill.js', 'wings/spill.js']],
    ['new OutputCapture()', ['spill.js', 'wings/capture.js']],
    ["classifyProviderError('x')", ['context.js', 'result.js', 'spill.js', 'wings/context.js']],
    ['guardSession({ appendMessage() {} })', ['result.js', 'session.js', 'spill.js', 'wings/session.js']],
  ])('loads what %s takes when it is called', { tags: 'long' }, (call, files) => {
    const names = Object.keys(spillway).filter((name) => /^\w+$/.test(name) && name !== 'default')
    const loaded = run(`const { ${names.join()} } = require('spillway'); ${call}; ${printFiles}`)
    expect(loaded).toEqual([...AT_ONCE, ...files].sort())
  })

  it('is the same for an import by names', () => {
    const names = Object.keys(spillway).filter((name) => /^\w+$/.test(name) && name !== 'default')
    expect(names.length).toBeGreaterThan(20)
    const script = `
      import { createRequire } from 'node:module'
      import { ${names.join()} } from 'spillway'
      const require = createRequire(import.meta.url)
      for (const [name, value] of Object.entries({ ${names.join()} }))
        if (typeof value !== 'function' || value.name !== name) throw new Error(name)`
    expect(run(`${script}; ${printFiles}`, 'module')).toEqual(AT_ONCE)
  })

  it('loads the names of OpenClaw without what they do', () => {
    const atOnce = ['mid_turn_signal.js', 'openclaw.js', 'text.js']
    const wing = ['context.js', 'result.js', 'session.js', 'spill.js', 'wings/openclaw.js']
    const names = Object.keys(openclaw).filter((name) => /^\w+$/.test(name) && name !== 'default')
    const imported = `
      import { createRequire } from 'node:module'
      import { ${names.join()} } from 'spillway/openclaw'
      const require = createRequire(import.meta.url)
      for (const [name, value] of Object.entries({ ${names.join()} }))
        if (typeof value === 'function' && value.name !== name) throw new Error(name)`
    expect(run(`${imported}; ${printFiles}`, 'module')).toEqual(atOnce)
    const called = "require('spillway/openclaw').truncateToolResultText('x', 5)"
    expect(run(`${called}; ${printFiles}`)).toEqual([...atOnce, ...wing].sort())
  })

  it('gives a class that is loaded later the behaviour of one that is there', () => {
    const script = `
      const { OutputCapture } = require('spillway')
      class Mine extends OutputCapture { mine() { return this.snapshot() } }
      const capture = new OutputCapture(), mine = new Mine()
      mine.stdout.write('one')
      console.log(JSON.stringify([
        capture instanceof OutputCapture, capture instanceof Mine, capture.constructor === OutputCapture,
        mine instanceof OutputCapture, mine instanceof Mine, mine.constructor === Mine,
        mine.mine().text, Object.keys(capture),
      ]))`
    expect(run(script)).toEqual([true, false, true, true, true, true, 'one', ['stdout', 'stderr']])
  })
})

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import * as spillway from 'spillway'
import * as aiSdk from 'spillway/ai-sdk'
import * as claudeAgent from 'spillway/claude-agent'
import * as daycare from 'spillway/daycare'
import * as langchain from 'spillway/langchain'
import * as mastra from 'spillway/mastra'
import * as mcp from 'spillway/mcp'
import * as openaiAgents from 'spillway/openai-agents'
import * as openclaw from 'spillway/openclaw'
import * as otel from 'spillway/otel'
import * as pi from 'spillway/pi'
import * as piExtension from 'spillway/pi-extension'
import * as remote from 'spillway/remote'
import * as testing from 'spillway/testing'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const root = join(__dirname, '../..')

/** Runs a script in a process of its own and returns what it prints. */
function run(script: string, ...flags: string[]): string {
  return execFileSync(process.execPath, [...flags, '-e', script], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

describe('the package', () => {
  it.each([
    ['index.d.ts', spillway],
    ['types/pi.d.ts', pi],
    ['types/pi-extension.d.ts', piExtension],
    ['types/daycare.d.ts', daycare],
    ['types/openclaw.d.ts', openclaw],
    ['types/ai-sdk.d.ts', aiSdk],
    ['types/claude-agent.d.ts', claudeAgent],
    ['types/langchain.d.ts', langchain],
    ['types/mastra.d.ts', mastra],
    ['types/openai-agents.d.ts', openaiAgents],
    ['types/mcp.d.ts', mcp],
    ['types/otel.d.ts', otel],
    ['types/remote.d.ts', remote],
    ['types/testing.d.ts', testing],
  ])('exports exactly the values that %s declares', (file, module) => {
    const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest)
    const declared = source.statements.flatMap((statement) => {
      if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement))
        return statement.name?.text ?? []
      if (!ts.isVariableStatement(statement)) return []
      return statement.declarationList.declarations.map(({ name }) => name.getText(source))
    })
    const exported = Object.keys(module).filter((key) => key !== 'default' && key !== 'module.exports')
    // A function that is declared for several forms of its arguments is one value.
    expect(exported.sort()).toEqual([...new Set(declared)].sort())
  })

  it('is one implementation for import and require', () => {
    const both = `import('spillway').then((all) => console.log(all.clampText === require('spillway').clampText))`
    expect(run(both)).toBe('true\n')
  })

  it('has no runtime dependency', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const kind of ['dependencies', 'optionalDependencies']) expect(manifest[kind]).toBeUndefined()
    for (const peer of Object.keys(manifest.peerDependencies))
      expect(manifest.peerDependenciesMeta[peer]).toEqual({ optional: true })
  })

  it('loads nothing of the command line where it is imported', () => {
    const loaded = run(`require('spillway'); console.log(Object.keys(require.cache).join())`)
    expect(loaded).toMatch(/dist.index\.js/)
    expect(loaded).not.toMatch(/cli\.js/)
  })

  it('serves worker threads', async () => {
    const work = `
      const { parentPort } = require('node:worker_threads')
      const { clampText } = require('spillway')
      parentPort.postMessage(clampText('x'.repeat(60_000), { maxChars: 100 }))`
    const answers = Array.from({ length: 3 }, () => {
      const worker = new Worker(work, { eval: true })
      return new Promise<string>((resolve, reject) => worker.once('message', resolve).once('error', reject))
    })
    for (const answer of await Promise.all(answers)) expect(answer).toHaveLength(100)
  })

  it('turns a panic into an error, and lives', () => {
    // No call of the package passes a number of options other than five; this one panics.
    const script = `
      const native = require('./dist/spillway.node')
      try { native.searchSaved('', '', '', new Float64Array(0)) } catch (error) { console.log(error instanceof Error, error.message) }
      console.log(require('spillway').clampText('still here'))`
    expect(run(script)).toMatch(/^true .*length.*\nstill here\n$/)
  })

  it('catches panics in every export', () => {
    const bindings = join(root, 'bindings/src')
    const sources = readdirSync(bindings).map((file) => readFileSync(join(bindings, file), 'utf8'))
    const exports = sources.flatMap(
      (source) => source.match(/#\[napi[^\]]*\]\s+pub (?:async )?fn \w+/g) ?? [],
    )
    expect(exports.length).toBeGreaterThan(8)
    for (const shell of exports) expect(shell).toContain('catch_unwind')
  })

  it('does not keep a large input alive through a small result (G9)', () => {
    const script = `
      const { clampError, clampText, clampResult, sanitizeForDisplay } = require('spillway')
      const kept = []
      const used = () => { global.gc(); global.gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external }
      const make = (i) => 'line ' + i + ' of a log\\n' + String.fromCharCode(97 + i).repeat(1e7)
      const keep = (i) => {
        const policy = { keep: ['head', 'tail', 'ends'][i % 3], notice: i % 2 ? false : 'hint' }
        if (i % 4) return clampText(make(i), policy)
        return clampResult({ content: [{ type: 'text', text: make(i) }] }, policy)
      }
      const fail = (i) => {
        // From Node 24 on an error keeps the message that it was made with, whatever becomes of it.
        const error = new Error(+process.versions.node.split('.')[0] < 24 ? make(i) : '')
        if (error.message === '') error.message = make(i)
        if (i % 2) return sanitizeForDisplay(error)
        error.stack = 'AnErrorWithALongName: ' + error.message
        return clampError(error)
      }
      // Modules that the first calls load do not keep their texts.
      keep(0), keep(1), fail(0), fail(1)
      const before = used()
      for (let i = 0; i < 4; i++) kept.push(fail(i))
      for (let i = 0; i < 24; i++) kept.push(keep(i))
      console.log((used() - before) / kept.length)`
    expect(Number(run(script, '--expose-gc'))).toBeLessThan(100_000)
  })
})

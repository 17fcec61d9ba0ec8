// The program of the projects without a framework: a result, a process and a saved output, each
// with its decisive line.
import { spawn } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { createSpillStore, OutputCapture, wrapTool } from 'spillway'

const DECISIVE = 'Error: listen EADDRINUSE: address already in use :::3000'
const lines = (from) => Array.from({ length: 9_000 }, (_, i) => `GET /orders/${from + i} 200`).join('\n')
const log = `${lines(0)}\n${DECISIVE}\n${lines(9_000)}\n`
const print = `for (let i = 0; i < 18_000; i++) console.log(i === 9_000 ? '${DECISIVE}' : 'GET /orders/' + i)`

async function main() {
  const dir = await mkdtemp('outputs-')
  const spill = createSpillStore({ dir })
  const tool = { execute: async () => log }
  const result = await wrapTool(tool, { keep: 'findings', spill }).execute()
  const { text, exit } = await new OutputCapture({ spill }).attach(spawn('node', ['-e', print]))
  const saved = await spill.list()

  for (const kept of [result, text])
    if (kept.length > 51_200 || !kept.includes(DECISIVE))
      throw new Error(`kept ${kept.length} chars of the log`)
  if (exit.exitCode !== 0 || saved.length !== 2)
    throw new Error(`exit code ${exit.exitCode}, ${saved.length} saved`)
  console.log('the decisive line is kept, the rest is saved')
}

main()

// What a model is shown of a result, by several ways to limit it, and how it reads the rest. Each
// policy is made anew for a task.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSpillStore, spillTool, wrapTool } from '../../dist/index.js'
import { truncateHead, truncateTail } from '../../dist/pi.js'

/** The default limit of spillway, for all that people write by hand. */
const LIMIT = 51_200

/** Matches and context lines of a search in a file, and chars of a line. */
const MATCHES = 20
const CONTEXT = 2
const LINE = 500

/** A policy that shows a text of each result, and nothing else. */
const showing = (show) => (task) => ({ call: async ({ tool }) => show(task.run(tool), task.typeOf(tool)) })

/** A policy that leaves whole outputs in files, which the agent searches with a tool such as
 *  grep. `show` returns the text of a result, and true if the whole is in a file. */
const filing = (show) => (task) => ({
  async call({ tool }) {
    return show(task.run(tool), task.typeOf(tool), `/outputs/${tool}.txt`).text
  },
  async search(_shown, { tool }, pattern, from) {
    const path = `/outputs/${tool}.txt`
    const { isFiled } = show(task.run(tool), task.typeOf(tool), path)
    if (!isFiled) return undefined
    const call = { tool: 'grep', args: { path, pattern, from } }
    return { call, ...grep(task.run(tool), pattern, from) }
  },
})

/** Returns matching lines with context, as grep writes them, and the line to search on from. */
function grep(whole, pattern, from) {
  const lines = whole.split('\n')
  const rows = new Map()
  let [count, next] = [0, undefined]
  for (let at = from - 1; at < lines.length; at++) {
    if (!lines[at].includes(pattern)) continue
    if (count === MATCHES) {
      next = at + 1
      break
    }
    count += 1
    for (let near = Math.max(at - CONTEXT, 0); near <= Math.min(at + CONTEXT, lines.length - 1); near++)
      if (near === at || !rows.has(near))
        rows.set(near, `${near + 1}${near === at ? ':' : '-'} ${lines[near].slice(0, LINE)}`)
  }
  const text = [...rows].sort(([one], [other]) => one - other).map(([, row]) => row)
  return { text: text.join('\n') || 'no matches', next }
}

/** As Pi: 50 KB or 2,000 lines, the tail of a command and the head of a file. Tools of others are
 *  not limited. */
function pi(whole, type, path) {
  if (type === 'server') return { text: whole }
  const cut = type === 'file' ? truncateHead(whole) : truncateTail(whole)
  if (!cut.truncated) return { text: whole }
  const shown = `${cut.outputLines} of ${cut.totalLines} lines shown`
  return { text: `${cut.content}\n\n[${shown}. Full output: ${path}]`, isFiled: true }
}

/** As Claude Code: a preview of 2 KB and a file, over 30,000 chars of a command and 50,000 of an
 *  MCP tool. A file over 25,000 tokens is an error that says how to read it. */
function claudeCode(whole, type, path) {
  if (type === 'file')
    return whole.length / 4 > 25_000
      ? { text: `The file exceeds 25000 tokens. Use offset and limit, or search ${path}.`, isFiled: true }
      : { text: whole }
  if (whole.length <= (type === 'command' ? 30_000 : 50_000)) return { text: whole }
  return {
    text: `Output too large. Full output saved to: ${path}\n\n${whole.slice(0, 2_000)}\n...`,
    isFiled: true,
  }
}

/** As deepagents: over 20,000 tokens the first lines, and a file. */
function deepagents(whole, _type, path) {
  if (whole.length <= 80_000) return { text: whole }
  const head = whole.split('\n').slice(0, 10).join('\n')
  return { text: `Tool result too large, saved at ${path}. Read it in parts.\n\n${head}`, isFiled: true }
}

const NEXT = /\[more: search from line (\d+) on\]/

/** Tools as `wrapTools` bounds them, by its defaults or with limits, and `read_output` beside them
 *  if it saves. */
function ours({ isSaving = true, ...limits } = {}) {
  return (task) => {
    const dir = mkdtempSync(join(tmpdir(), 'spillway-agents-'))
    // With a secret ids are the same each time, and so are the tokens that they take.
    const store = createSpillStore({ dir, reference: 'id', secret: 'a scripted agent' })
    const reader = spillTool(store)
    return {
      call: ({ tool, args }) => {
        const execute = async (_) => task.run(tool)
        return wrapTool({ name: tool, execute }, { ...limits, ...(isSaving && { spill: store }) }).execute(
          args,
        )
      },
      async search(shown, _call, pattern, line) {
        const id = /saved as ([0-9a-f]{16})/.exec(shown)?.[1]
        if (id === undefined) return undefined
        const input = { id, pattern, line }
        const text = await reader.execute(input)
        const next = NEXT.exec(text)?.[1]
        return { call: { tool: reader.name, args: input }, text, next: next && Number(next) }
      },
      done: () => rmSync(dir, { recursive: true, force: true }),
    }
  }
}

const bytes = (text) => Buffer.from(text)
const MARK = '\n[... truncated ...]\n'

/** Ways to limit results, by what the table calls them. */
export const POLICIES = {
  none: showing((whole) => whole),
  'head, 50 KB': showing((whole) => bytes(whole).subarray(0, LIMIT).toString() + MARK),
  'tail, 50 KB': showing((whole) => MARK + bytes(whole).subarray(-LIMIT).toString()),
  'both ends, 50 KB': showing((whole) => {
    const all = bytes(whole)
    if (all.length <= LIMIT) return whole
    return all.subarray(0, LIMIT / 2).toString() + MARK + all.subarray(-LIMIT / 2).toString()
  }),
  'as Pi': filing(pi),
  'as Claude Code': filing(claudeCode),
  'as deepagents': filing(deepagents),
  'spillway, 50 KB, nothing saved': ours({ isSaving: false }),
  'spillway, 50 KB (default)': ours(),
  'spillway, 16 KB (of its hooks)': ours({ maxBytes: 16_384 }),
  'spillway, 4 KB': ours({ maxBytes: 4_096 }),
}

// Texts as tools print them. Strings are made from bytes, as those of a child process are, so that
// they are flat.
import { readdirSync, readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

const LOG = 'some log line with text and number 12345 of the usual kind here..\n'
const CJK = '漢字かな交じり文のログ行であります。エラーはありません😀。\n'

/** Lines of 66 chars. */
export const ascii = (chars) => flat(LOG, chars)

/** Lines of 30 chars, nearly all of three bytes. */
export const cjk = (chars) => flat(CJK, chars)

/** ASCII with one check mark at the end, which makes the whole string two bytes a char in
 *  memory. */
export const mixed = (chars) => Buffer.from(`${flat(LOG, chars - 2)}✓\n`).toString()

const SERVICE = [
  (n) => `2026-01-02T10:00:00.${n % 1000}Z INFO  server: GET /api/items/${n} took ${n % 90} ms`,
  (n) => `2026-01-02T10:00:00.${n % 1000}Z DEBUG pool: connection ${n % 64} returned, ${n % 12} idle`,
  (n) => `10.0.0.${n % 256} - - "GET /static/app.${n}.js HTTP/1.1" 200 ${n % 9000}`,
  (n) => `   Compiling some-crate-${n % 400} v1.${n % 30}.0`,
  (n) => `    at handler (src/routes/items.ts:${n % 500}:12)`,
]

/** Logs of several kinds in which one line in 1,000 states a failure. */
export function logs(bytes) {
  const lines = []
  for (let n = 0, size = 0; size < bytes; n++) {
    const failed = `error: request ${n} failed: connect ECONNREFUSED 10.0.0.${n % 256}:5432`
    const line = n % 1000 === 500 ? failed : SERVICE[(n * 7 + (n >> 3)) % SERVICE.length](n)
    lines.push(line)
    size += line.length + 1
  }
  return Buffer.from(lines.join('\n')).toString()
}

const OUTPUTS = new URL('../__test__/outputs/', import.meta.url)

/** A session of an agent: outputs of real tools, each with the call and a thought before it, as Pi
 *  stores them. */
export function session(messages, chars = 6_000) {
  const names = readdirSync(OUTPUTS).filter((name) => /\.txt(?:\.gz)?$/.test(name))
  const outputs = names.map((name) => {
    const bytes = readFileSync(new URL(name, OUTPUTS))
    return (name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().slice(0, chars)
  })
  return Array.from({ length: messages }, (_, at) => {
    const [turn, id] = [Math.floor(at / 2), `toolu_${Math.floor(at / 2)}`]
    // Each in memory of its own, as what comes from a provider or a process is.
    const text = Buffer.from(outputs[(turn * 7) % outputs.length]).toString()
    if (at % 2)
      return {
        role: 'toolResult',
        toolCallId: id,
        toolName: 'bash',
        content: [{ type: 'text', text }],
        isError: false,
        timestamp: turn,
      }
    const thinking = `The last command says ${turn}. I look at the next file, and run the tests again.`
    return {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking, thinkingSignature: 'reasoning' },
        { type: 'text', text: `Next I look at file ${turn}.` },
        { type: 'toolCall', id, name: 'bash', arguments: { command: `npm test -- --filter part${turn}` } },
      ],
      api: 'messages',
      provider: 'faux',
      model: 'faux-1',
      usage: {
        input: turn,
        output: 12,
        cacheRead: 9_000,
        cacheWrite: 0,
        totalTokens: 9_012,
        cost: { total: 0 },
      },
      stopReason: 'toolUse',
      timestamp: turn,
    }
  })
}

const DIFF =
  '\x1b[36m@@ -1,2 +1,2 @@\x1b[m\n\x1b[31m-  const total = sum(before)\x1b[m\n\x1b[32m+\x1b[m  \x1b[32mconst total = sum(after)\x1b[m\n'

/** Lines that all differ. */
export const counted = (kind, chars) => {
  const line = kind === 'CJK' ? CJK : LOG
  const lines = Array.from({ length: Math.ceil(chars / line.length) }, (_, at) => at + line)
  return Buffer.from(lines.join('').slice(0, chars)).toString()
}

/** A diff in colour: a sequence every 14 chars. */
export const diff = (chars) => flat(DIFF, chars)

function flat(line, chars) {
  return Buffer.from(line.repeat(Math.ceil(chars / line.length)).slice(0, chars)).toString()
}

// A smoke test of the public API, for runtimes that do not run vitest.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import {
  clampError,
  clampResult,
  clampText,
  clampTextWithReport,
  definePolicy,
  estimateTokens,
  measureText,
  OutputCapture,
  wrapTool,
} from 'spillway'
import { stringTruncateTail } from 'spillway/daycare'
import { truncateTextByLinesAndBytesUtf8 } from 'spillway/openclaw'
import { truncateTail } from 'spillway/pi'

const big = 'a line of output, 漢字 😀\n'.repeat(100_000)
const within = (text) => {
  const { bytes, lines } = measureText(text)
  assert.ok(bytes <= 51_200 && lines <= 2_000 && text.isWellFormed())
}

const checks = [
  () => within(clampText(big)),
  () => within(clampText(new TextEncoder().encode(big), { keep: 'tail' })),
  () => assert.equal(clampText('ok'), 'ok'),
  () => assert.equal(clampText('a\ud800'), 'a\ufffd'),
  () => within(clampText('x'.repeat(500_000), definePolicy({ keep: 'ends' }))),
  () =>
    assert.deepEqual(clampTextWithReport('a\nb\nc\n', { maxLines: 2, keep: 'head', notice: false }).kept, {
      bytes: 4,
      chars: 4,
      lines: 2,
    }),
  () => assert.equal(estimateTokens(''), 0),
  () => within(clampResult({ content: [{ type: 'text', text: big }] }).content[0].text),
  () => within(clampError(new Error(big)).message),
  () => assert.throws(() => clampText('', { maxBytes: -1 }), { code: 'ERR_SPILLWAY_OPTION' }),
  () => assert.equal(truncateTail('a\nb\n', { maxLines: 1 }).content, 'b'),
  () => assert.equal(stringTruncateTail(big, 100, 'output', { noticeInside: true }).length <= 100, true),
  () => within(truncateTextByLinesAndBytesUtf8(big)),
  async () => {
    const script = 'for i in $(seq 20000); do echo a line of output $i; done; exit 3'
    const { text, total, exit } = await new OutputCapture().attach(spawn('sh', ['-c', script]))
    within(text)
    assert.deepEqual([total.lines, exit.exitCode, text.slice(-13)], [20_000, 3, '[exit code 3]'])
  },
  async () => within(await wrapTool({ execute: async () => big }).execute()),
  async () =>
    assert.rejects(
      wrapTool({
        async execute() {
          throw new Error(big)
        },
      }).execute(),
      /tool output truncated/,
    ),
]
for (const check of checks) await check()
console.log(`${checks.length} checks passed`)

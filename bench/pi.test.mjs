// Pi beside us: the same result, field by field, for texts in which both count lines alike (not
// empty, no newline at the end, well-formed), and Pi's known faults, which ours must not have.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clampResult, clampText, measureText } from 'spillway'
import * as ours from 'spillway/pi'
import { createBashTool } from './node_modules/@earendil-works/pi-coding-agent/dist/core/tools/bash.js'
import { OutputAccumulator } from './node_modules/@earendil-works/pi-coding-agent/dist/core/tools/output-accumulator.js'
import * as pi from './node_modules/@earendil-works/pi-coding-agent/dist/core/tools/truncate.js'

/** A small generator of our own, so that a failure can be run again. */
function random(seed) {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const PIECES = ['a', 'word ', '\n', '\n', '\n\n', '漢字', '😀', 'é', '\r\n', 'x'.repeat(40), '\0', '👩‍👩‍👧']

function text(next) {
  let all = ''
  for (let count = next(60); count >= 0; count--) all += PIECES[next(PIECES.length)]
  return all.endsWith('\n') ? `${all}.` : all
}

test('every field of 20,000 random cuts', () => {
  const next = random(7)
  let cut = 0
  for (let round = 0; round < 10_000; round++) {
    const content = text(next)
    const options = { maxLines: next(13) - 1, maxBytes: next(5) ? next(200) : next(8) }
    for (const name of ['truncateHead', 'truncateTail']) {
      const theirs = pi[name](content, options)
      // Pi calls an empty end of a long line a line.
      if (theirs.lastLinePartial && theirs.content === '')
        Object.assign(theirs, { outputLines: 0, truncatedBy: 'bytes' })
      assert.deepEqual(ours[name](content, options), theirs, JSON.stringify({ name, content, options }))
      cut += theirs.truncated ? 1 : 0
    }
  }
  assert.ok(cut > 10_000)
})

test('defaults, constants, sizes and lines', () => {
  const long = 'some line of a log\n'.repeat(5_000).trimEnd()
  assert.deepEqual(ours.truncateHead(long), pi.truncateHead(long))
  assert.deepEqual(ours.truncateTail(long), pi.truncateTail(long))
  for (const name of ['DEFAULT_MAX_LINES', 'DEFAULT_MAX_BYTES', 'GREP_MAX_LINE_LENGTH'])
    assert.equal(ours[name], pi[name])
  for (const bytes of [0, 1, 1_023, 1_024, 51_200, 1_048_575, 1_048_576, 5e9]) {
    assert.equal(ours.formatSize(bytes), pi.formatSize(bytes))
  }
  for (const line of ['', 'short', 'y'.repeat(500), 'y'.repeat(501)]) {
    assert.deepEqual(ours.truncateLine(line), pi.truncateLine(line))
  }
})

test('a long line with a newline behind it is not lost (Pi gives nothing)', () => {
  const content = `${'x'.repeat(60_000)}\n`
  assert.equal(pi.truncateTail(content).content, '')
  assert.equal(ours.truncateTail(content).content, 'x'.repeat(51_200))
  assert.equal(ours.truncateTail(content).lastLinePartial, true)
})

test('exactly 2,000 lines fit (Pi counts 2,001)', () => {
  const content = 'line\n'.repeat(2_000)
  assert.equal(pi.truncateTail(content).truncated, true)
  assert.equal(ours.truncateTail(content).truncated, false)
  assert.equal(ours.truncateHead(content).totalLines, 2_000)
  assert.equal(ours.truncateHead('').totalLines, 0)
})

test('a tail of 200,000 lines is whole (Pi takes seconds for it: see the bench)', () => {
  const content = 'ab\n'.repeat(400_000)
  const tail = ours.truncateTail(content, { maxLines: 200_000, maxBytes: 1e9 })
  assert.equal(tail.outputLines, 200_000)
  assert.equal(tail.content, content.slice(600_000, -1))
})

test('no half of a pair comes out (Pi leaves one)', () => {
  const line = `${'a'.repeat(499)}😀b`
  assert.equal(pi.truncateLine(line).text.isWellFormed(), false)
  assert.equal(ours.truncateLine(line).text, `${'a'.repeat(499)}... [truncated]`)
  assert.equal(ours.truncateHead('lone \ud83d').content, 'lone \ufffd')
  assert.equal(ours.truncateTail('lone \ud83d\nb'.repeat(9), { maxLines: 2 }).content, 'blone \ufffd\nb')
})

test('wrong limits are refused (Pi drops everything)', () => {
  for (const wrong of [{ maxLines: Number.NaN }, { maxBytes: 0.5 }]) {
    assert.equal(pi.truncateHead('a\nb', wrong).content, '')
    assert.throws(() => ours.truncateHead('a\nb', wrong), { code: 'ERR_SPILLWAY_OPTION' })
  }
  assert.equal(ours.truncateTail('abc', { maxBytes: 0 }).outputLines, 0)
})

test('a result is within its limits with its notice (that of Pi is past them)', async () => {
  const script = `for (let n = 0; n < 9_000; n++) console.log('line', n, '-'.repeat(20))`
  const command = `'${process.execPath}' -e "${script}"`
  const result = await createBashTool(process.cwd()).execute('call', { command })
  const bytes = (from) => Buffer.byteLength(from.content[0].text)
  assert.ok(bytes(result) > 51_200)
  const within = clampResult(result)
  assert.ok(bytes(within) <= 51_200)
  assert.deepEqual(within.details, result.details)
})

test('bytes are counted as they came, and a byte order mark stays (Pi counts what they decode to, and drops it)', () => {
  const raw = Buffer.from([
    0xef, 0xbb, 0xbf, 0x61, 0xff, 0xfe, 0x62, 0xc0, 0x80, 0x63, 0xf0, 0x9f, 0x98, 0x0a,
  ])
  const theirs = new OutputAccumulator()
  theirs.append(raw)
  theirs.finish()
  const { content, truncation } = theirs.snapshot()
  assert.notEqual(truncation.totalBytes, raw.length)
  assert.equal(content.startsWith('\ufeff'), false)
  assert.deepEqual(measureText(raw), { bytes: raw.length, chars: 10, lines: 1 })
  assert.equal(clampText(raw), '\ufeffa\ufffd\ufffdb\ufffd\ufffdc\ufffd\n')
})

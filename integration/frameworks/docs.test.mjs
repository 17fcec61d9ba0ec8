// The blocks of code in README.md and docs/ that import a framework, compiled strictly and run as
// they stand.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { blocksOf, compile, packagesOf, pages, run } from '../../scripts/docs/blocks.mjs'

/** Differences between the versions of the AI SDK: the mock, its usage, its reasons and the
 *  middleware. */
const VERSIONS = {
  ai5: [
    [/MockLanguageModelV3/g, 'MockLanguageModelV2'],
    [/\{ total: (\w+), [^}]*\}/g, '$1'],
    [/(outputTokens: \w+),/g, '$1, totalTokens: 2,'],
    [/\{ unified: ('[\w-]+' as const), raw: '[\w-]+' \}/g, '$1'],
    [/specificationVersion: 'v3'/g, "middlewareVersion: 'v2'"],
  ],
  ai7: [
    [/MockLanguageModelV3/g, 'MockLanguageModelV4'],
    [/specificationVersion: 'v3'/g, "specificationVersion: 'v4'"],
  ],
}

const blocks = pages()
  .flatMap(blocksOf)
  .filter((block) => block.language === 'ts' && packagesOf(block).length > 0)

/** The same program for another version of the AI SDK. */
function adapted(block, [name, changes]) {
  const code = changes.reduce((code, [pattern, text]) => code.replaceAll(pattern, text), block.code)
  const packages = /'ai(\/test)?'/g
  return { ...block, place: `${block.place} (${name})`, code: code.replaceAll(packages, `'${name}$1'`) }
}

const ofAiSdk = blocks.filter((block) => packagesOf(block).includes('ai'))
const all = [
  ...blocks,
  ...ofAiSdk.flatMap((block) => Object.entries(VERSIONS).map((to) => adapted(block, to))),
]
const folder = fileURLToPath(new URL('target/docs', import.meta.url))

test('the blocks that import a framework compile strictly', () => {
  assert.equal(compile(all, folder), '')
  const used = new Set(all.flatMap(packagesOf))
  for (const name of [
    'ai',
    'ai5',
    'ai7',
    'langchain',
    '@openai/agents',
    '@mastra/core',
    '@earendil-works/pi-ai',
  ])
    assert.ok(used.has(name), name)
})

for (const block of all) {
  test(`${block.place} runs and prints what it shows`, () => {
    const { status, stderr, printed, shown } = run(block, folder)
    assert.deepEqual({ status, stderr, printed }, { status: 0, stderr: '', printed: shown ?? '' })
  })
}

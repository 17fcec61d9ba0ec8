import { createRequire } from 'node:module'
import * as fc from 'fast-check'
import { clearToolResults } from 'spillway'
import { expect, it } from 'vitest'
import type * as Sent from '../../cli/page/sent_session.js'
import type * as Uses from '../../lib/context/tool_uses.js'
import { jsonLines, scratch } from '../support/scratch.js'

const built = createRequire(__filename)
const { sentOf } = built('../../dist/sent_session.js') as typeof Sent
const { readUses, tokensIn } = built('../../dist/context.js') as typeof Uses

const { write } = scratch()

const PRICES = { write: 1.25, read: 0.1 }

const CLEARING = {
  trigger: { type: 'input_tokens', value: 0 },
  dedupe: 'near',
  prices: PRICES,
} as const

/** A turn of a session: calls with the number of their command, and the texts of their results. */
const turns = fc.array(
  fc.record({
    words: fc.option(fc.nat(3_000), { nil: undefined }),
    calls: fc.array(
      fc.record({
        command: fc.nat(2),
        // Few texts, so that results repeat each other, some with one line changed.
        text: fc.nat(3),
        lines: fc.constantFrom(5, 40, 400),
        edit: fc.option(fc.nat(3), { nil: undefined }),
        sameId: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
  }),
  { minLength: 1, maxLength: 30 },
)

type Turns = typeof turns extends fc.Arbitrary<infer T> ? T : never

function messagesOf(all: Turns): object[] {
  let next = 0
  return all.flatMap(({ words, calls }, turn) => {
    const made = calls.map((call) => ({ ...call, id: call.sameId ? 'c' : `c${next++}` }))
    const text = ({ text, lines, edit }: Turns[number]['calls'][number]) =>
      Array.from(
        { length: lines },
        (_, at) => `line ${at} of ${text}${at === edit ? ` in ${turn}` : ''}`,
      ).join('\n')
    return [
      ...(words === undefined ? [] : [{ role: 'user', content: 'word '.repeat(words) }]),
      {
        role: 'assistant',
        content: 'I see.',
        tool_calls: made.map(({ id, command }) => ({
          type: 'function',
          id,
          function: { name: 'bash', arguments: JSON.stringify({ command }) },
        })),
      },
      ...made.map((call) => ({ role: 'tool', tool_call_id: call.id, content: text(call) })),
    ]
  })
}

/** Clears the history of each request anew, or none. */
function priceOfEach(messages: readonly object[], answers: readonly number[], clears = true): number {
  let price = 0
  let before: readonly number[] = []
  let state: ReturnType<typeof clearToolResults>['state'] | undefined
  for (const end of answers) {
    const sent = messages.slice(0, end)
    const made = clears ? clearToolResults(sent, { ...CLEARING, state }) : undefined
    state = made?.state
    const tokens = tokensIn(made?.messages ?? sent)
    const changed = before.findIndex((one, at) => one !== tokens[at])
    const known = changed < 0 ? before.length : changed
    for (const [at, one] of tokens.entries()) price += one * (at < known ? PRICES.read : PRICES.write)
    before = tokens
  }
  return price
}

it('the price of cleared requests is that of clearing each by itself', async () => {
  let cleared = 0
  await fc.assert(
    fc.asyncProperty(turns, async (all) => {
      const messages = messagesOf(all)
      const uses = readUses(messages)
      const { clearedPrice: price } = await sentOf(write(jsonLines(messages)), 'messages', 5)
      expect(Math.abs(price - priceOfEach(messages, uses.answers))).toBeLessThanOrEqual(1)
      cleared += Number(price < priceOfEach(messages, uses.answers, false))
    }),
    { numRuns: 1_000 },
  )
  expect(cleared).toBeGreaterThan(0)
})

it('a request looks at the results that it may clear, not at the history', async () => {
  const native = built('../../dist/spillway.node') as { estimateEach: (...of: unknown[]) => unknown }
  const { estimateEach } = native
  const looks = async (count: number) => {
    const call = { text: 0, lines: 40 as const, edit: undefined, sameId: false }
    const all = Array.from({ length: count }, (_, at) => ({
      words: undefined,
      calls: [{ ...call, command: at, text: at }],
    }))
    let looks = 0
    native.estimateEach = (...of) => {
      looks += 1
      return estimateEach(...of)
    }
    await sentOf(write(jsonLines(messagesOf(all))), 'messages', 5).finally(() => {
      native.estimateEach = estimateEach
    })
    return looks
  }
  const few = await looks(100)
  expect(few).toBeGreaterThan(0)
  expect(await looks(200)).toBeLessThan(3 * few)
})

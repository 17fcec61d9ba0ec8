import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { statSync } from 'node:fs'
import * as fc from 'fast-check'
import {
  type ClampEvent,
  clampMessages,
  inspectSession,
  type PlanStep,
  precheck,
  repairSession,
} from 'spillway'
import { describe, expect, it } from 'vitest'
import { gif, jpeg, pdf, png } from '../support/images.js'
import { mediaSamples } from '../support/media_samples.js'
import { jsonLines, readRows, scratch } from '../support/scratch.js'

const all = Number.POSITIVE_INFINITY
const open = { maxBytes: all, maxLines: all, sideData: 'whole' as const, notice: 'pi' as const }
const base64 = (bytes: Buffer) => bytes.toString('base64')

const { write } = scratch()
const session = (rows: readonly object[]) => write(jsonLines(rows))
const read: (file: string) => object[] = readRows

type MediaCount = NonNullable<ClampEvent['media']>
const none: MediaCount = { items: 0, bytes: 0 }
const less = (a: MediaCount, b: MediaCount) => ({ items: a.items - b.items, bytes: a.bytes - b.bytes })
const mediaIn = async (file: string) => (await inspectSession(file)).media ?? none

/** Runs a function, and adds up the payloads that went by its events. */
function heard<T>(run: () => T): [T, MediaCount] {
  const told = { ...none }
  const listen = (event: unknown) => {
    const { media, exceeded } = event as ClampEvent
    if (!media) return
    expect(exceeded).toEqual([])
    told.items += media.items
    told.bytes += media.bytes
  }
  subscribe('spillway:clamp', listen)
  try {
    return [run(), told]
  } finally {
    unsubscribe('spillway:clamp', listen)
  }
}

describe.each(
  mediaSamples.map((sample) => [`${sample.dialect}: ${sample.name}`, sample] as const),
)('stored media of %s', (_, { make }) => {
  it('become what they become in a history', { tags: 'long' }, async () => {
    const file = fc.constantFrom(png, gif, jpeg, pdf)
    const payload = fc.tuple(file, fc.nat(4_000)).map(([kind, bytes]) => base64(kind(bytes, 9, bytes)))
    const said = fc.oneof(
      fc.constant('a text'),
      payload,
      payload.map((data) => `data:image/png;base64,${data} é`),
    )
    const law = fc.asyncProperty(
      fc.array(fc.tuple(said, fc.array(payload, { maxLength: 3 })), { minLength: 1, maxLength: 4 }),
      fc.nat(9_000),
      fc.nat(6),
      fc.constantFrom('oldest' as const, 'newest' as const),
      async (results, maxBytes, maxItems, order) => {
        const history = results.map(([said, payloads], at) => make(`c${at}`, said, payloads))
        const policy = { ...open, media: { maxBytes, maxItems, order } }
        const stored = session(history)
        const held = await mediaIn(stored)
        const { changed, clamped, media = none } = await repairSession(stored, { ...policy, backup: false })
        const [live, told] = heard(() => clampMessages(history, policy))
        expect(media).toEqual(told)
        expect(media).toEqual(less(held, await mediaIn(stored)))
        expect(read(stored)).toEqual(live.messages)
        expect(clamped).toBe(live.clamped)
        expect(changed).toBe(live.clamped > 0)
        expect(await repairSession(stored, policy)).toMatchObject({ changed: false })
      },
    )
    await fc.assert(law, { numRuns: 30 })
  })
})

describe('a session of screenshots', () => {
  const MB = 1_000_000
  const screens = Array.from({ length: 60 }, (_, at) => base64(png(1_280, 720 + at, MB)))
  const rows = () => [
    { type: 'session', version: 3, id: 's', cwd: '/' },
    ...screens.map((data, at) => ({
      type: 'message',
      id: `m${at}`,
      parentId: at === 0 ? null : `m${at - 1}`,
      message: {
        role: 'toolResult',
        toolCallId: `c${at}`,
        toolName: 'screenshot',
        content: [
          { type: 'text', text: `page ${at}` },
          { type: 'image', data, mimeType: 'image/png' },
        ],
      },
    })),
  ]
  const messagesIn = (file: string) =>
    read(file).flatMap((row) => ('message' in row ? [row.message as object] : []))
  const asked = { contextTokens: 1_000_000, reserveTokens: 0, maxRequestBytes: 20 * MB }

  it('opens again under the limit of a request, with the latest of them', { tags: 'long' }, async () => {
    const file = session(rows())
    expect(precheck({ ...asked, messages: messagesIn(file) }).route).not.toBe('fits')
    const { clamped } = await repairSession(file, { media: { maxBytes: 14 * MB }, backup: false })
    expect(clamped).toBe(46)
    expect(statSync(file).size).toBeLessThan(20 * MB)
    const left = messagesIn(file) as { content: { type: string }[] }[]
    expect(left.map(({ content }) => content[1]?.type)).toEqual([
      ...Array.from({ length: 46 }, () => 'text'),
      ...Array.from({ length: 14 }, () => 'image'),
    ])
    expect(left[0]?.content[1]).toEqual({
      type: 'text',
      text: '[... 1,000,000 bytes of image/png 1280x720 omitted]',
    })
    expect(precheck({ ...asked, messages: left }).route).toBe('fits')
  })

  it('keeps all rows off the active branch as they are', async () => {
    const aside = { ...(rows()[1] as object), id: 'x', parentId: 'nowhere' }
    const file = session([
      ...rows()
        .slice(0, 4)
        .flatMap((row, at) => (at === 2 ? [aside, row] : [row])),
    ])
    const before = read(file)
    await repairSession(file, { media: { maxItems: 1 }, backup: false })
    const left = read(file)
    expect(left[2]).toEqual(before[2])
    expect(left[4]).toEqual(before[4])
    expect(left[1]).not.toEqual(before[1])
  })

  it('takes a plan, which counts instead of the policy', async () => {
    const file = session(rows().slice(0, 4))
    const plan: PlanStep[] = [{ index: 0, callId: 'c1', chars: 6, maxChars: 6, media: 0 }]
    const report = await repairSession(file, { plan, media: { maxItems: 0 }, backup: false })
    expect(report).toMatchObject({ clamped: 1, unmatched: 0, media: { items: 1, bytes: MB } })
    const kinds = messagesIn(file).map(
      (message) => (message as { content: { type: string }[] }).content[1]?.type,
    )
    expect(kinds).toEqual(['image', 'text', 'image'])
  })
})

it('redacts before payloads are counted, as clampMessages does: a secret may be one', async () => {
  const bytes = base64(Buffer.concat([png(40, 30), Buffer.alloc(6_000, 'AbCd0123')]))
  const content = [
    { type: 'text', text: `secret="${bytes}"` },
    { type: 'image', data: bytes, mimeType: 'image/png' },
  ]
  const message = { role: 'toolResult', toolCallId: 'c', toolName: 't', content, isError: false }
  const policy = { ...open, media: { maxItems: 0 }, redact: true }
  const file = session([message])
  await repairSession(file, { ...policy, backup: false })
  const [made] = clampMessages([message], policy).messages
  expect(made?.content[0]?.text).toMatch(/^secret="\[redacted/)
  expect(made?.content[1]?.text).toMatch(/image\/png 40x30 omitted\]$/)
  expect(read(file)).toEqual([made])
})

describe('a session that agents reported as bricked by images', () => {
  const limits = { ...open, backup: false }
  const source = (bytes: Buffer) => ({ type: 'base64', media_type: 'image/png', data: base64(bytes) })
  const image = (bytes: Buffer) => ({ type: 'image', source: source(bytes) })
  const claude = (content: object[], at = 0) => ({
    type: 'user',
    uuid: `u${at}`,
    parentUuid: at === 0 ? null : `u${at - 1}`,
    message: { role: 'user', content },
  })
  const pi = (content: object[]) => ({
    type: 'message',
    id: 'a',
    parentId: null,
    message: { role: 'toolResult', toolCallId: 'c', toolName: 'read', content, isError: false },
  })
  const large = png(9, 9, 3_932_161)
  const cases: [name: string, rows: object[]][] = [
    ['Claude Code, 5 MB of base64 that the user pasted', [claude([image(large)])]],
    ['Claude Code, 8,001 pixels that the user pasted', [claude([image(png(8_001, 9))])]],
    [
      'Claude Code, 5 MB that a tool returned',
      [claude([{ type: 'tool_result', tool_use_id: 't', content: [image(large)] }])],
    ],
    [
      'Claude Code, 2,001 pixels among more than twenty',
      Array.from({ length: 21 }, (_, at) => claude([image(png(2_001, 9))], at)),
    ],
    [
      'Pi, 5 MB that a tool read',
      [
        { type: 'session', version: 3, id: 's' },
        pi([{ type: 'image', data: base64(large), mimeType: 'image/png' }]),
      ],
    ],
    ['Cline, 8,001 pixels', [{ role: 'user', content: [image(png(8_001, 9))] }]],
  ]
  it.each(cases)('is within the limits again: %s', async (_, rows) => {
    const file = session(rows)
    const media = { provider: 'anthropic' as const }
    expect((await inspectSession(file, { media })).refused?.length).toBeGreaterThan(0)
    expect(await repairSession(file, { ...limits, media })).toMatchObject({ changed: true })
    expect((await inspectSession(file, { media })).refused).toBeUndefined()
    expect(read(file)).toHaveLength(rows.length)
    expect(await repairSession(file, { ...limits, media })).toMatchObject({ changed: false })
  })

  it('is within a budget again: Codex CLI, 19 MB in one output', { tags: 'long' }, async () => {
    const output = Array.from({ length: 5 }, () => ({
      type: 'input_image',
      image_url: `data:image/png;base64,${base64(png(900, 900, 2_850_000))}`,
    }))
    const file = session([
      { type: 'session_meta', payload: { id: 's' } },
      { type: 'response_item', payload: { type: 'function_call_output', call_id: 'c', output } },
    ])
    expect(statSync(file).size).toBeGreaterThan(19_000_000)
    const { size } = statSync(file)
    const { padded = 0 } = await repairSession(file, { ...limits, media: { maxBytes: 8_000_000 } })
    // Blanks keep the length of the row.
    expect(statSync(file).size).toBe(size)
    expect(size - padded).toBeLessThan(8_001_000)
    const [, row] = read(file) as { payload: { output: { type: string }[] } }[]
    expect(row?.payload.output.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 3 }, () => 'input_text'),
      ...Array.from({ length: 2 }, () => 'input_image'),
    ])
  })
})

describe('a JPEG whose frame stands behind other segments', () => {
  it.each([0, 60_000, 192_000, 900_000, 3_000_000])('is seen behind %d bytes of them', {
    tags: 'long',
  }, async (before) => {
    const policy = { ...open, media: { provider: 'anthropic' as const } }
    for (const width of [100, 9_000]) {
      const bytes = jpeg(width, 90, before + 400_000, before)
      const source = { type: 'base64', media_type: 'image/jpeg', data: base64(bytes) }
      const message = {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c', content: [{ type: 'image', source }] }],
      }
      const file = session([message])
      const { media } = await repairSession(file, policy)
      expect(media?.items ?? 0).toBe(width > 8_000 ? 1 : 0)
      expect(read(file)).toEqual(clampMessages([message], policy).messages)
    }
  })
})

import type { WrapPolicy } from 'spillway'
import { emitClamp, savedFor } from '../clamp_event.js'
import { clampTextWithReport, wrapTool } from '../index.js'
import { mayBeContainer } from '../json.js'
import { isObject } from '../mcp/message.js'
import { compile, rehearsed } from '../policy.js'
import { type Block, type HookPolicy, isPlain, textsOf } from './blocks.js'
import { clampCallText } from './clamp_call_text.js'

interface HookQuery {
  readonly name: string
  readonly input: unknown
  /** Parameters that page a file. */
  readonly pages: readonly string[] | undefined
}

/** Returns blocks that together are within the limits: the same array if they already are. */
export async function clampBlocks(
  blocks: readonly Block[],
  { name, input, pages }: HookQuery,
  policy: HookPolicy,
): Promise<readonly Block[]> {
  const [text] = textsOf(blocks)
  const isText = text !== undefined && !mayBeContainer(text) && isPlain(blocks[0])
  if (isText && blocks.length === 1 && !policy.clean && !policy.redact) {
    const { storing, ...others } = policy
    const isPaged = pages?.some((page) => page === 'offset' || page === 'limit') ?? false
    const kept = await clampCallText(text, { name, input, isPaged }, others, storing)
    if (kept === text) return blocks
    tellCut(text, kept, name, others)
    return [{ ...(blocks[0] as object), text: kept }]
  }
  const { isError, storing, ...others } = policy
  const content = blocks.map(withPayload)
  const given = { content, ...(isError && { isError }) }
  const execute = async (..._args: unknown[]) => given
  const parameters = { properties: Object.fromEntries((pages ?? []).map((page) => [page, {}])) }
  // If all blocks have unknown kinds, they become one text.
  const sent: string | { content: readonly Block[] } = await wrapTool(
    { name, execute, parameters },
    rehearsed({ ...others, ...(storing && { spill: storing() }), dialect: 'mcp' }),
  ).execute(input)
  if (typeof sent === 'string') return [{ type: 'text', text: sent }]
  if (sent.content === content) return blocks
  const own = new Map(content.map((block, at) => [block, blocks[at]]))
  return sent.content.map((block) => own.get(block) ?? block)
}

/** Tells listeners of a text that was cut. */
function tellCut(text: string, left: string, tool: string, policy: WrapPolicy): void {
  const compiled = compile(policy)
  const { mode, onClamp } = compiled
  emitClamp({ phase: 'result', tool, onClamp, isObserved: mode !== 'on' }, () => {
    const { total, kept, exceeded } = clampTextWithReport(text, policy)
    return { total, kept, exceeded, ...savedFor([left], compiled) }
  })
}

/** Returns an image in the form of MCP. Claude Code passes it to a hook in the form of its
 *  provider. */
function withPayload(block: Block): Block {
  const source = isObject(block) && block['type'] === 'image' ? block['source'] : undefined
  if (!isObject(source) || source['type'] !== 'base64') return block
  return { type: 'image', data: source['data'], mimeType: source['media_type'] }
}

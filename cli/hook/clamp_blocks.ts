import { wrapTool } from '../../index.js'
import { asks, type Compiled, paged, saved } from '../../lib/compiled.js'
import { compile } from '../../lib/policy.js'
import { decoded, once, stringsIn } from '../../lib/query.js'
import { save } from '../../lib/spill/call_spill.js'
import { SEARCHED } from '../../lib/text/pieces.js'
import { clamp } from '../../lib/text/text.js'
import { type Block, type HookPolicy, textsOf } from './blocks.js'

interface Asked {
  readonly name: string
  readonly input: unknown
  /** Parameters that page a file. */
  readonly pages: readonly string[] | undefined
}

/** Returns blocks within the limits together, the same ones if they are. */
export async function clampBlocks(
  blocks: readonly Block[],
  { name, input, pages }: Asked,
  policy: HookPolicy,
): Promise<readonly Block[]> {
  const [text] = textsOf(blocks)
  if (text !== undefined && blocks.length === 1 && !policy.clean && !policy.redact) {
    const kept = await clampOne(text, { name, input, pages }, policy)
    return kept === text ? blocks : [{ ...(blocks[0] as object), text: kept }]
  }
  const { isError, storing, ...others } = policy
  const given = { content: blocks, ...(isError && { isError }) }
  const execute = async (..._args: unknown[]) => given
  const parameters = { properties: Object.fromEntries((pages ?? []).map((page) => [page, {}])) }
  return (
    await wrapTool(
      { name, execute, parameters },
      { ...others, ...(storing && { spill: storing() }), dialect: 'mcp' },
    ).execute(input)
  ).content
}

/** Clamps one text as a wrapped tool does, without the code for results of any shape: loading it takes 10 ms. */
async function clampOne(text: string, { name, input, pages }: Asked, { storing, ...policy }: HookPolicy) {
  const isPaged = pages?.some((page) => page === 'offset' || page === 'limit')
  const compiled = isPaged ? paged(compile(policy)) : compile(policy)
  const ask = asks(compiled) ? once(() => stringsIn([decoded(input)])) : undefined
  const clampAs = (policy: Compiled) => clamp(text, policy, SEARCHED, ask)
  const kept = clampAs(compiled)
  if (kept === text || !storing) return kept
  const { whole } = await save(storing(), text, { tool: name })
  return clampAs(saved(compiled, ...whole))
}

// Answers that carry blocks in another form than results of tools: the contents of a resource, and
// the messages of a prompt. They are dressed as a result, and undressed once that is bounded.
import { isObject, type Members } from './message.js'

/** The member of an answer that holds its parts, by the method of the request. */
const LISTS: Readonly<Record<string, string>> = { 'resources/read': 'contents', 'prompts/get': 'messages' }

/** The place of a part among those of its answer. Its block keeps it, so that a part is found again
 *  after others were omitted. */
const PLACE = 'spillway/place'

/** Returns true for a method whose answers have parts in a form of their own. */
export function isDressed(method: string): boolean {
  return Object.hasOwn(LISTS, method)
}

/** Bounds an answer as a result of a tool. Returns the same object if nothing changes. */
export async function boundAsResult(
  method: string,
  body: Members,
  bound: (body: Members) => Promise<Members>,
): Promise<Members> {
  const list = LISTS[method] as string
  const given = body['result']
  const parts = isObject(given) ? given[list] : undefined
  if (!isObject(given) || !Array.isArray(parts) || !parts.every(isObject)) return bound(body)
  const content = parts.map((part, at) => {
    const block = method === 'prompts/get' ? part['content'] : { type: 'resource', resource: part }
    return isObject(block) ? { ...block, [PLACE]: at } : block
  })
  const { [list]: _, ...others } = given
  const dressed = { ...body, result: { ...others, content } }
  const sent = await bound(dressed)
  if (sent === dressed) return body
  const { result } = sent
  if (!isObject(result)) return sent
  const { content: left, isError: __, ...rest } = result
  const blocks = Array.isArray(left) ? left.filter(isObject) : []
  // A block without a place is the engine's own, and tells of the part before it.
  let last = 0
  const made = blocks.map(({ [PLACE]: place = last, ...block }) => {
    last = place as number
    return partOf(method, block, parts[last] ?? {})
  })
  return { ...sent, result: { ...rest, [list]: made } }
}

function partOf(method: string, block: Members, part: Members): Members {
  if (method === 'prompts/get') return { ...part, content: block }
  const { resource } = block
  return isObject(resource) ? resource : { uri: part['uri'], mimeType: 'text/plain', text: block['text'] }
}

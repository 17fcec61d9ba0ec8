// Answers that carry blocks in another form than results of tools: the contents of a resource, and
// the messages of a prompt. They are dressed as a result, and undressed once that is bounded.
import { isList } from '../untrusted.js'
import { isObject, type Members } from './message.js'

/** The member of an answer that holds its parts, by the method of the request. */
const LISTS: Readonly<Record<string, string>> = { 'resources/read': 'contents', 'prompts/get': 'messages' }

/** The member of a block that says which part it comes from, with what that part has beside it. So
 *  that counts within the limits, and a part is found again after others were omitted. */
const ORIGIN = 'spillway/origin'

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
  if (!isObject(given) || !isList(parts)) return bound(body)
  const content = parts.map((part) => blockOf(method, part))
  if (!content.every(isObject)) return bound(body)
  const { [list]: _, ...others } = given
  const dressed = { ...body, result: { ...others, content } }
  const sent = await bound(dressed)
  if (sent === dressed) return body
  const { result } = sent
  if (!isObject(result)) return sent
  const { content: left, isError: __, ...rest } = result
  const blocks = isList(left) ? left.filter(isObject) : []
  // The engine adds a block without an origin, which describes the part before it.
  let last = content[0]?.[ORIGIN]
  const made = blocks.map(({ [ORIGIN]: origin = last, ...block }) => {
    last = origin
    return partOf(method, block, origin as Members | undefined)
  })
  return { ...sent, result: { ...rest, [list]: made } }
}

function blockOf(method: string, part: unknown): Members | undefined {
  if (!isObject(part)) return undefined
  if (method === 'resources/read') return { type: 'resource', resource: part, [ORIGIN]: { uri: part['uri'] } }
  const { content, ...beside } = part
  return isObject(content) ? { ...content, [ORIGIN]: beside } : undefined
}

function partOf(method: string, block: Members, origin: Members = {}): Members {
  if (method === 'prompts/get') return { ...origin, content: block }
  const { resource } = block
  return isObject(resource) ? resource : { ...origin, mimeType: 'text/plain', text: block['text'] }
}

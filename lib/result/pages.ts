import { get, isObject } from '../reading.js'

/** Where tools keep what they can be asked with. */
const SCHEMAS = ['parameters', 'inputSchema', 'schema']

/** Tells whether a tool can be asked for a part of its output: it has a parameter `offset` or `limit`. */
export function givesPages(tool: object): boolean {
  return SCHEMAS.some((name) => {
    const schema = get(tool, name)
    return membersOf(schema).some((members) => isObject(members.offset) || isObject(members.limit))
  })
}

/** What may hold the members of a schema: zod has them in a `shape`, MCP's server takes a shape as it is, JSON schema has
 *  `properties`, which the AI SDK has in a `jsonSchema`. */
function membersOf(schema: unknown): { offset: unknown; limit: unknown }[] {
  const member = (value: unknown, name: string) => (isObject(value) ? get(value, name) : undefined)
  const json = member(schema, 'jsonSchema')
  const all = [schema, member(schema, 'shape'), member(schema, 'properties'), member(json, 'properties')]
  return all
    .filter(isObject)
    .map((members) => ({ offset: get(members, 'offset'), limit: get(members, 'limit') }))
}

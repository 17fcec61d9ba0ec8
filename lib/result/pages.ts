import { get, isObject } from '../untrusted.js'

/** Members of a tool with the schema of its input. */
const SCHEMAS = ['parameters', 'inputSchema', 'schema']

/** Returns true if a tool can return a part of its output: it has a parameter `offset` or
 *  `limit`. */
export function givesPages(tool: object): boolean {
  return SCHEMAS.some((name) => {
    const schema = get(tool, name)
    return schemaMembers(schema).some((members) => isObject(members.offset) || isObject(members.limit))
  })
}

/**
 * Returns the members of a schema in any form. Zod has them in a `shape`, MCP's server takes a
 * shape as it is, JSON schema has `properties`, and the AI SDK has JSON schema in a `jsonSchema`.
 */
function schemaMembers(schema: unknown): { offset: unknown; limit: unknown }[] {
  const member = (value: unknown, name: string) => (isObject(value) ? get(value, name) : undefined)
  const json = member(schema, 'jsonSchema')
  const all = [schema, member(schema, 'shape'), member(schema, 'properties'), member(json, 'properties')]
  return all
    .filter(isObject)
    .map((members) => ({ offset: get(members, 'offset'), limit: get(members, 'limit') }))
}

import { isList, isObject, tryRead } from './untrusted.js'
import { optionError } from './validate.js'

/** Returns the JSON of a schema. A schema of a validation library is not a JSON schema. */
function jsonIn(schema: object): string | undefined {
  if (!isObject(schema) || isList(schema) || '~standard' in schema) return undefined
  const json = tryRead(() => JSON.stringify(schema))
  return json?.startsWith('{') ? json : undefined
}

/** A JSON schema, as JSON. */
export const SCHEMA = {
  rule: 'a JSON schema, as an object that has JSON',
  take(field: string, value: unknown): string {
    const json = jsonIn(value as object)
    if (json !== undefined) return json
    throw optionError(TypeError, field, SCHEMA.rule, value)
  },
}

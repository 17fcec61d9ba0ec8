import { isList, tryRead } from './untrusted.js'
import { optionError } from './validate.js'

/** Returns the JSON of the option `schema`. A schema of a validation library is not a JSON
 *  schema. */
export function checkSchema(schema: object | undefined): string | undefined {
  if (schema === undefined) return undefined
  const isPlain = typeof schema === 'object' && schema !== null && !isList(schema)
  const json = isPlain && !('~standard' in schema) ? tryRead(() => JSON.stringify(schema)) : undefined
  if (json === undefined || !json.startsWith('{'))
    throw optionError(TypeError, 'schema', 'a JSON schema, as an object that has JSON', schema)
  return json
}

import { nests } from './answer.js'
import { isObject } from './message.js'

/** Levels to which a schema is read. */
const DEEPEST = 256

/** The tools that a server has listed, with their output schemas. */
export class Schemas {
  /** Schemas of the last complete list, and of later pages. */
  #known = new Map<string, unknown>()
  /** Schemas of the list that is being read. A tool of a later page keeps its schema until the last
   *  page. */
  #read = new Map<string, unknown>()
  /** True once a list was read to its last page. */
  isComplete = false

  /** Records the tools of a page. */
  add(tools: readonly unknown[], { isFirst, isLast }: { isFirst: boolean; isLast: boolean }): void {
    if (isFirst) this.#read = new Map()
    for (const { name, outputSchema } of tools.filter(isObject)) {
      if (typeof name !== 'string') continue
      // A server in this process may hand over the schema of a library, with members that no
      // client gets.
      const json = isObject(outputSchema) ? JSON.parse(JSON.stringify(outputSchema)) : outputSchema
      this.#read.set(name, json)
      this.#known.set(name, json)
    }
    if (!isLast) return
    this.#known = this.#read
    this.isComplete = true
  }

  has(tool: string): boolean {
    return this.#known.has(tool)
  }

  /** Returns the schema of a tool. Servers without a schema may write null. A schema that nothing
   *  matches replaces an unreadable schema. */
  of(tool: string): Readonly<Record<string, unknown>> | undefined {
    const schema = this.#known.get(tool)
    if (!isObject(schema)) return undefined
    return '~standard' in schema || nests(schema, DEEPEST) ? { not: {} } : schema
  }
}

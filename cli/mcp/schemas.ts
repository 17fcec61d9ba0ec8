import { nests } from './answer.js'
import { isObject } from './message.js'

/** Levels to which a schema is read. */
const DEEPEST = 256

/** The tools that a server has listed, with their output schemas. */
export class Schemas {
  /** Those of the last whole list, and of the pages that came since. */
  #known = new Map<string, unknown>()
  /** Those of the list that is being read. A tool of a later page keeps its schema until the last
   *  one. */
  #read = new Map<string, unknown>()

  /** Notes the tools of a page. */
  add(tools: readonly unknown[], { isFirst, isLast }: { isFirst: boolean; isLast: boolean }): void {
    if (isFirst) this.#read = new Map()
    for (const { name, outputSchema } of tools.filter(isObject)) {
      if (typeof name !== 'string') continue
      this.#read.set(name, outputSchema)
      this.#known.set(name, outputSchema)
    }
    if (isLast) this.#known = this.#read
  }

  has(tool: string): boolean {
    return this.#known.has(tool)
  }

  /** Returns the schema of a tool. Servers without one may write null. A schema that cannot be read
   *  is replaced by one that nothing matches. */
  of(tool: string): Readonly<Record<string, unknown>> | undefined {
    const schema = this.#known.get(tool)
    if (!isObject(schema)) return undefined
    return '~standard' in schema || nests(schema, DEEPEST) ? { not: {} } : schema
  }
}

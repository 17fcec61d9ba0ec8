import { databases } from '../src/layouts.json'

/** A database of an agent, which this package does not read. */
export interface Database {
  readonly path: string
  readonly agent: string
  /** The way to a session that opens again. */
  readonly advice: string
}

/** Returns the database that a file is by its name. */
export function databaseNamed(name: string): Omit<Database, 'path'> | undefined {
  const is = (file: string) => {
    const [start = '', end] = file.split('*')
    return end === undefined ? file === name : name.startsWith(start) && name.endsWith(end)
  }
  const found = databases.find(({ files }) => files.some(is))
  return found && { agent: found.agent, advice: found.advice }
}

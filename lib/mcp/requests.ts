/** Requests without an answer, by the JSON of their ids. 1 and "1" are two ids, unless only one of
 *  them is open. */
export class Requests<T> {
  readonly #open = new Map<string, T>()

  get size(): number {
    return this.#open.size
  }

  add(id: string, request: T): void {
    this.#open.set(id, request)
  }

  has(id: string): boolean {
    return this.#open.has(id)
  }

  /** Returns the id, as the client spelled it, of the request that an answer belongs to. Clients
   *  read the text of an id as a number, so "2" or "2.0" answers 2. */
  find(id: string | undefined): string | undefined {
    if (id === undefined || this.#open.has(id)) return id
    const number = numberOf(id)
    return [...this.#open.keys()].find((open) => numberOf(open) === number)
  }

  /** Closes the request that an answer is for, and returns it. */
  take(id: string | undefined): T | undefined {
    const open = this.find(id)
    const request = open === undefined ? undefined : this.#open.get(open)
    if (open !== undefined) this.#open.delete(open)
    return request
  }

  /** Returns the open requests with their ids. */
  entries(): [id: string, request: T][] {
    return [...this.#open]
  }
}

/** Returns an id as a number, as clients read it. NaN matches no id. */
function numberOf(id: string): number {
  const value: unknown = JSON.parse(id)
  return typeof value === 'string' || typeof value === 'number' ? Number(value) : Number.NaN
}

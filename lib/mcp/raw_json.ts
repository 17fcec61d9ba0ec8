/** JSON that is written unchanged. */
export class Raw {
  constructor(readonly json: string) {}

  /** Never called by a proxy, which writes the text itself. */
  toJSON(): unknown {
    return JSON.parse(this.json)
  }
}

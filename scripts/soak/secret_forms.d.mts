export interface Form {
  readonly make: (name: string, value: string) => string
  /** The names that a form can have. */
  readonly takes?: RegExp
  readonly isJson?: true
}
export const forms: Readonly<Record<string, Form>>

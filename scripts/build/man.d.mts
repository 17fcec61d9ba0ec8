interface Helps {
  readonly all: string
  readonly commands: readonly (readonly [name: string, text: string])[]
}
export function helps(): Helps
export function manOf(version: string, helps: Helps): string

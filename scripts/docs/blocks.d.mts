export interface Block {
  /** Page and line. */
  readonly place: string
  readonly language: string
  readonly code: string
  /** Its output, as the page shows it. */
  readonly shown?: string
}
export interface Ran {
  readonly status: number | null
  readonly stderr: string
  readonly printed: string
  readonly shown: string | undefined
}
export function pages(): string[]
export function blocksOf(page: string): Block[]
export function packagesOf(block: Block): string[]
export function compile(blocks: readonly Block[], folder: string): string
export function run(block: Block, folder: string): Ran
export function runShell(block: Block): Ran

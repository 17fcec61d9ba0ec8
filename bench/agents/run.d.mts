/** The figures of one task with one policy. */
export interface Figures {
  readonly kind: 'test' | 'import' | 'table' | 'path'
  readonly solved: boolean
  /** True for an answer that is not the expected one. */
  readonly wrong: boolean
  /** True if the provider refused a prompt. */
  readonly refused: boolean
  readonly steps: number
  readonly tokens: number
}

export function playAll(
  number: number,
  range?: readonly [least: number, most: number],
): Promise<Record<string, Figures>>
export function tableOf(runs: readonly Record<string, Figures>[]): string

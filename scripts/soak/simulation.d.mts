export type Pool = ReadonlyMap<string, string>
export interface Run {
  readonly number: number
  readonly sends: number
  readonly answered: boolean
}
export interface Figures {
  readonly sessions: number
  readonly overflowed: number
  readonly savable: number
  readonly savableOverflowed: number
  readonly saved: number
  readonly savedOfOverflowed: number
  readonly lost: readonly number[]
  readonly upsideDown: readonly number[]
  readonly loops: readonly number[]
  readonly sends: readonly number[]
  readonly thrown: number
}
export function poolOf(samples: readonly (readonly [kind: string, ...texts: string[]])[]): Pool
export function run(number: number, pool: Pool, count: (text: string) => number): Promise<Run>
export function summary(runs: readonly Run[]): Figures
export function isMet(figures: Figures): boolean

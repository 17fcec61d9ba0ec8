interface Package {
  readonly kind: 'cargo' | 'npm'
  readonly name: string
  readonly version: string
  readonly license: string
  readonly hash: { readonly alg: string; readonly content: string }
}
export const root: string
export function linkedCrates(): Package[]
export function bundledModules(): Package[]

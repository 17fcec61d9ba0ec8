interface Target {
  readonly name: string
  readonly os: string
  readonly cpu: string
  readonly libc?: string
}
type Manifest = Record<string, unknown>
export function platformManifest(target: Target, scope: string, manifest: Manifest, slug: string): Manifest
export function packedManifest(manifest: Manifest): Manifest
export function mainManifest(
  manifest: Manifest,
  scope: string,
  targets: readonly Target[],
  slug: string,
): Manifest

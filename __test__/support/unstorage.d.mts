// The types of unstorage name those of all engines, which are not installed here.
// integration/engines/types.ts compares the whole.
import type { RemoteStorage } from 'spillway/remote'

type Driver = { readonly name?: string }
export function createStorage(options?: { driver?: Driver }): RemoteStorage & {
  setItem(key: string, value: string): Promise<void>
}
export function fsDriver(options: { base: string }): Driver

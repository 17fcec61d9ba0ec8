/** Holds the storage of unstorage and that of spillway/remote to each other: `tsc --noEmit` is the
 *  test. */
import type { RemoteStorage } from 'spillway/remote'
import type { Storage } from 'unstorage'

export const storageIsTaken: RemoteStorage = {} as Storage

/** Holds the storage of unstorage and the one that spillway/remote takes to each other: `tsc
 *  --noEmit` is the test. */
import type { RemoteStorage } from 'spillway/remote'
import type { Storage } from 'unstorage'

export const storageIsTaken: RemoteStorage = {} as Storage

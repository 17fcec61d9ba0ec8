import { closeSync, openSync, readSync } from 'node:fs'

/** Names of npm, in the field `libc` of a manifest. */
export type Libc = 'glibc' | 'musl'

/** Bytes of a program that hold the name of its loader, unless a tool has moved it. */
const HEAD = 4096

/** Returns the C library that a program of Linux is linked to, by the name of its dynamic loader,
 *  or undefined if the program does not tell. This takes microseconds; a report of Node takes
 *  milliseconds. */
export function libcOfProgram(path: string): Libc | undefined {
  const head = headOf(path)
  if (head.includes('/ld-musl-')) return 'musl'
  return /\/ld(?:-linux[\w-]*|64)\.so/.test(head) ? 'glibc' : undefined
}

function headOf(path: string): string {
  try {
    const file = openSync(path, 'r')
    try {
      const bytes = Buffer.alloc(HEAD)
      return bytes.toString('latin1', 0, readSync(file, bytes, 0, HEAD, 0))
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

/** Returns the version of glibc that this process runs on, or undefined without one. */
export function glibcVersion(): string | undefined {
  const report = process.report as (NodeJS.ProcessReport & { excludeNetwork?: boolean }) | undefined
  if (typeof report?.getReport !== 'function') return undefined
  const { excludeNetwork = false } = report
  // Names of network interfaces may take seconds to look up.
  report.excludeNetwork = true
  try {
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } }
    return header?.glibcVersionRuntime
  } finally {
    report.excludeNetwork = excludeNetwork
  }
}

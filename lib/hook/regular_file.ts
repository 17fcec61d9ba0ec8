import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** Reads a file of at most `most` bytes. Rejects pipes and devices, which might never end. */
export function readRegular(file: string, most: number): Buffer {
  // Opening a pipe to read would wait for a writer.
  const fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile() && !stat.isDirectory())
      throw new Error(`${file} is a pipe or a device; give a regular file`)
    if (stat.size > most) throw new Error(`${file} has ${stat.size} bytes; at most ${most} are read`)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

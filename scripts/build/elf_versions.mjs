// Reads which versions of symbols an ELF file asks for, of 64 bits and little-endian as all of our
// targets.

/** Type of the section that lists needed versions (LSB, "Symbol Versioning"). */
const VERNEED = 0x6ffffffe

/** Returns the versions that a shared library asks for, such as `GLIBC_2.17`, each once. */
export function neededVersions(file) {
  if (file.toString('latin1', 0, 6) !== '\x7fELF\x02\x01')
    throw new Error('not an ELF file of 64 bits, little-endian')
  const section = (index) => {
    const at = Number(file.readBigUInt64LE(0x28)) + index * file.readUInt16LE(0x3a)
    const [offset, link, entries] = [
      file.readBigUInt64LE(at + 0x18),
      file.readUInt32LE(at + 0x28),
      file.readUInt32LE(at + 0x2c),
    ]
    return { type: file.readUInt32LE(at + 4), offset: Number(offset), link, entries }
  }
  const versions = new Set()
  for (let index = 0; index < file.readUInt16LE(0x3c); index += 1) {
    const { type, offset, link, entries } = section(index)
    if (type !== VERNEED) continue
    const names = section(link).offset
    for (let library = 0, at = offset; library < entries; library += 1) {
      const count = file.readUInt16LE(at + 2)
      for (let version = 0, aux = at + file.readUInt32LE(at + 8); version < count; version += 1) {
        const name = names + file.readUInt32LE(aux + 8)
        versions.add(file.toString('latin1', name, file.indexOf(0, name)))
        aux += file.readUInt32LE(aux + 12)
      }
      at += file.readUInt32LE(at + 12)
    }
  }
  return [...versions]
}

/** Returns the versions of glibc above a limit such as `2.17`. */
export function versionsAbove(versions, limit) {
  const numbers = (text) => text.split('.').map(Number)
  const [major, minor] = numbers(limit)
  return versions.filter((version) => {
    const [, found] = /^GLIBC_([\d.]+)$/.exec(version) ?? []
    if (found === undefined) return false
    const [itsMajor, itsMinor] = numbers(found)
    return itsMajor > major || (itsMajor === major && itsMinor > minor)
  })
}

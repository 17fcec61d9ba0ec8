import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { neededVersions, versionsAbove } from '../../scripts/build/elf_versions.mjs'

/** Makes an ELF file of a null section, a section of names, and one of the versions that each
 *  library is asked for. */
function elf(libraries: readonly (readonly string[])[]): Buffer {
  const [HEADER, SECTION, NEED, AUX] = [64, 64, 16, 16]
  const names = Buffer.from(`\0${libraries.flat().join('\0')}\0`, 'latin1')
  const needs = Buffer.alloc(libraries.reduce((sum, versions) => sum + NEED + versions.length * AUX, 0))
  let at = 0
  for (const [number, versions] of libraries.entries()) {
    const size = NEED + versions.length * AUX
    needs.writeUInt16LE(versions.length, at + 2)
    needs.writeUInt32LE(NEED, at + 8)
    needs.writeUInt32LE(number + 1 < libraries.length ? size : 0, at + 12)
    for (const [index, version] of versions.entries()) {
      const aux = at + NEED + index * AUX
      needs.writeUInt32LE(names.indexOf(`\0${version}\0`) + 1, aux + 8)
      needs.writeUInt32LE(index + 1 < versions.length ? AUX : 0, aux + 12)
    }
    at += size
  }
  const header = Buffer.alloc(HEADER)
  header.write('\x7fELF\x02\x01', 'latin1')
  header.writeBigUInt64LE(BigInt(HEADER), 0x28)
  header.writeUInt16LE(SECTION, 0x3a)
  header.writeUInt16LE(3, 0x3c)
  const section = (type: number, offset: number, link: number, entries: number) => {
    const bytes = Buffer.alloc(SECTION)
    bytes.writeUInt32LE(type, 4)
    bytes.writeBigUInt64LE(BigInt(offset), 0x18)
    bytes.writeUInt32LE(link, 0x28)
    bytes.writeUInt32LE(entries, 0x2c)
    return bytes
  }
  const start = HEADER + 3 * SECTION
  const sections = [
    section(0, 0, 0, 0),
    section(3, start, 0, 0),
    section(0x6ffffffe, start + names.length, 1, libraries.length),
  ]
  return Buffer.concat([header, ...sections, names, needs])
}

describe('versions of symbols that an engine asks for', () => {
  it('reads those of every library, each once', () => {
    const file = elf([['GLIBC_2.2.5', 'GLIBC_2.17'], ['GCC_3.0'], ['GLIBC_2.34', 'GLIBC_2.17']])
    expect(neededVersions(file)).toEqual(['GLIBC_2.2.5', 'GLIBC_2.17', 'GCC_3.0', 'GLIBC_2.34'])
    expect(neededVersions(elf([]))).toEqual([])
  })

  it('compares them as versions', () => {
    const versions = [
      'GLIBC_2.2.5',
      'GLIBC_2.17',
      'GLIBC_2.18',
      'GLIBC_2.4',
      'GLIBC_3.0',
      'GCC_3.0',
      'GLIBC_PRIVATE',
    ]
    expect(versionsAbove(versions, '2.17')).toEqual(['GLIBC_2.18', 'GLIBC_3.0'])
    expect(versionsAbove(versions, '2.3')).toEqual(['GLIBC_2.17', 'GLIBC_2.18', 'GLIBC_2.4', 'GLIBC_3.0'])
  })

  it('rejects a file of another kind', () => {
    expect(() => neededVersions(Buffer.from('MZ'))).toThrow('not an ELF file')
  })

  it.runIf(process.platform === 'linux')('reads those of the engine that is built', () => {
    const versions = neededVersions(readFileSync(join(__dirname, '../../dist/spillway.node')))
    if (
      (process.report.getReport() as { header?: { glibcVersionRuntime?: string } }).header
        ?.glibcVersionRuntime
    )
      expect(versions.some((version) => version.startsWith('GLIBC_'))).toBe(true)
    else expect(versionsAbove(versions, '0.0')).toEqual([])
  })
})

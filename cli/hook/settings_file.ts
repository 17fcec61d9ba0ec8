import { randomBytes } from 'node:crypto'
import { mkdir, open, readlink, realpath, rename, rm, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { readRegular } from '../../lib/hook/regular_file.js'
import { explain, naming, UsageError } from '../term/usage_error.js'

/** Maximum bytes of settings. */
const LONGEST = 64 * 1024 * 1024
/** Maximum links to a file. */
const HOPS = 40

/** Resolves the links of a path to a file, which need not exist, so that a link stays a link. */
export async function targetOf(path: string): Promise<string> {
  let file = path
  for (let hops = 0; hops < HOPS; hops++) {
    const dir = await realpath(dirname(file)).catch(() => dirname(file))
    const to = await readlink(file).catch(() => undefined)
    if (to === undefined) return realpath(file).catch(() => file)
    file = resolve(dir, to)
  }
  throw new UsageError(explain({ code: 'ELOOP' }, path), 1)
}

/** Returns the text of a file, or undefined without one. */
export function textOf(file: string): string | undefined {
  try {
    const bytes = readRegular(file, LONGEST)
    const text = bytes.toString()
    if (!bytes.equals(Buffer.from(text))) throw new UsageError(`${file} is not UTF-8; save it as UTF-8`, 1)
    return text
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error instanceof UsageError ? error : new UsageError(explain(error, file), 1)
  }
}

/** Replaces a file by a new file with its mode, unless its text is no longer `before`. */
export async function replace(file: string, text: string, before: string | undefined): Promise<void> {
  const isSame = () => textOf(file) === before
  await write(file, text, await modeOf(file), isSame)
}

/** Writes the backup of a file beside it. */
export async function backUp(file: string, text: string): Promise<void> {
  await write(backupOf(file), text, await modeOf(file), () => true)
}

export function backupOf(file: string): string {
  return `${file}.spillway.bak`
}

async function modeOf(file: string): Promise<number> {
  return stat(file)
    .then(({ mode }) => mode & 0o777)
    .catch(() => 0o600)
}

function write(file: string, text: string, mode: number, isSame: () => boolean): Promise<void> {
  const temporary = `${file}.spillway.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  const work = async () => {
    await mkdir(dirname(file), { recursive: true })
    // Fails if anything has this name, even a link.
    const handle = await open(temporary, 'wx', 0o600)
    try {
      try {
        await handle.writeFile(text)
        await handle.chmod(mode)
        await handle.sync()
      } finally {
        await handle.close()
      }
      if (!isSame()) throw new UsageError(`${file} has changed since it was read; run this again`, 1)
      await rename(temporary, file)
    } catch (error) {
      await rm(temporary, { force: true })
      throw error
    }
  }
  return naming(file, work())
}

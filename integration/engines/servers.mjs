// Servers on free ports of the loopback, and storages over them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AwsClient } from 'aws4fetch'
import { createStorage } from 'unstorage'
import redisDriver from 'unstorage/drivers/redis'
import s3Driver from 'unstorage/drivers/s3'
import { inPath, redisServer } from './redis_server.mjs'

const HOST = '127.0.0.1'
const KEYS = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER-secret' }

async function freePort() {
  const server = createServer().listen(0, HOST)
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function answers(port) {
  const socket = connect(port, HOST)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

/** A server with data of its own. It is started, killed and stopped by its id, and keeps its port
 *  and its data. */
class Server {
  #child
  constructor(command, dir, port) {
    Object.assign(this, { command, dir, port })
  }

  async start() {
    const [program, args, env] = this.command
    const child = spawn(program, args, { cwd: this.dir, env: { ...process.env, ...env }, stdio: 'ignore' })
    child.on('error', () => {})
    process.once('exit', () => child.kill('SIGKILL'))
    this.#child = child
    while (!(await answers(this.port))) {
      if (child.exitCode !== null || child.pid === undefined) throw new Error(`${program} did not start`)
      await new Promise((done) => setTimeout(done, 20))
    }
    return this
  }

  signal(name) {
    this.#child.kill(name)
  }

  async kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  async remove() {
    await this.kill()
    rmSync(this.dir, { recursive: true, force: true })
  }
}

async function prepared(commandOf) {
  const [dir, port] = [mkdtempSync(join(tmpdir(), 'spillway-engine-')), await freePort()]
  return new Server(commandOf(dir, `${port}`), dir, port)
}

/** A Redis server that keeps its data when it is killed. */
export const redis = {
  name: 'Redis',
  async server(...options) {
    const keeps = ['--save', '', '--appendonly', 'yes', '--appendfsync', 'always', '--dir']
    const program = await redisServer()
    const args = (dir, port) => ['--bind', HOST, '--port', port, ...keeps, dir, ...options]
    return (await prepared((dir, port) => [program, args(dir, port)])).start()
  },
  async storage({ port }) {
    const driver = redisDriver({ host: HOST, port, maxRetriesPerRequest: 2 })
    driver.getInstance().on('error', () => {})
    return createStorage({ driver })
  },
}

/** An S3 server: minio in PATH, or s3rver. */
export const s3 = {
  name: 'S3',
  async server() {
    const minio = inPath('minio')
    const s3rver = fileURLToPath(import.meta.resolve('s3rver/bin/s3rver.js'))
    const env = { MINIO_ROOT_USER: KEYS.accessKeyId, MINIO_ROOT_PASSWORD: KEYS.secretAccessKey }
    const command = (dir, port) =>
      minio
        ? [minio, ['server', dir, '--address', `${HOST}:${port}`], env]
        : [process.execPath, [s3rver, '-d', dir, '-a', HOST, '-p', port, '--silent']]
    return (await prepared(command)).start()
  },
  async storage({ port }, bucket = 'outputs') {
    const endpoint = `http://${HOST}:${port}`
    const keys = inPath('minio') ? KEYS : { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
    const client = new AwsClient({ ...keys, region: 'us-east-1', service: 's3', retries: 0 })
    // It exists already, or cannot be made as long as the server is away.
    await client.fetch(`${endpoint}/${bucket}`, { method: 'PUT' }).catch(() => {})
    return createStorage({ driver: s3Driver({ ...keys, endpoint, bucket, region: 'us-east-1' }) })
  },
}

// A bucket quota in front of an S3 server: the server of the tests has none. Requests pass as they
// are, signature and all. A PUT beyond the quota is answered as Ceph does: 403 and QuotaExceeded. A
// limit on the server's own files, such as ulimit -f, would bound one object, and not all of them.
import { once } from 'node:events'
import { createServer, request } from 'node:http'

const HOST = '127.0.0.1'
const FULL = `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>QuotaExceeded</Code><BucketName>outputs</BucketName></Error>`

/** Starts a gateway to a port. `quota`: bytes of all objects together; it may be raised. */
export async function bucketQuota(port, quota) {
  const sizes = new Map()
  const gateway = {
    quota,
    refused: 0,
    stored: () => Array.from(sizes.values()).reduce((sum, size) => sum + size, 0),
  }
  const server = createServer((asked, answer) => {
    const { method, url, headers } = asked
    const size = Number(headers['content-length'] ?? 0)
    const before = sizes.get(url) ?? 0
    if (method === 'PUT' && gateway.stored() - before + size > gateway.quota) {
      gateway.refused += 1
      asked.resume().on('end', () => answer.writeHead(403, { 'content-type': 'application/xml' }).end(FULL))
      return
    }
    if (method === 'PUT') sizes.set(url, size)
    if (method === 'DELETE') sizes.delete(url)
    const passed = request({ host: HOST, port, method, path: url, headers }, (said) => {
      answer.writeHead(said.statusCode, said.headers)
      said.pipe(answer)
    })
    passed.on('error', () => answer.destroy())
    asked.pipe(passed)
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return Object.assign(gateway, { port: server.address().port, close })
}

// Asks the built application, on a port of the system's choice, and reads which files a deployment
// of it would have.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import next from 'next'

const app = next({ dev: false, dir: import.meta.dirname })
await app.prepare()
const server = createServer(app.getRequestHandler()).listen(0)
const answer = await fetch(`http://localhost:${server.address().port}/clamp`)
const { text, result } = await answer.json()
console.log(`${answer.status}: a text of ${text} chars, a result of ${result}`)
const traced = JSON.parse(readFileSync('.next/server/app/clamp/route.js.nft.json', 'utf8')).files
const hasEngine = traced.some((file) => /node_modules\/.*spillway.*\.node$/.test(file))
if (!hasEngine) console.error('the native file is not among the files to deploy')
process.exit(text <= 51_200 && result <= 51_200 && hasEngine ? 0 : 1)

// Asks the built application, on a port of the system's choice.
import { createServer } from 'node:http'
import next from 'next'

const app = next({ dev: false, dir: import.meta.dirname })
await app.prepare()
const server = createServer(app.getRequestHandler()).listen(0)
const answer = await fetch(`http://localhost:${server.address().port}/clamp`)
const { text, result } = await answer.json()
console.log(`${answer.status}: a text of ${text} chars, a result of ${result}`)
process.exit(text <= 51_200 && result <= 51_200 ? 0 : 1)

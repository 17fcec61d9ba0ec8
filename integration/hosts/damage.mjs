// What crashes, disks and other tools do to the files of hosts.
import { readFileSync, writeFileSync } from 'node:fs'
import { SMALL } from './homes.mjs'
import { lines } from './logs.mjs'

const LARGE = JSON.stringify(`${SMALL}\n${lines(5_000_000)}`).slice(1, -1)

const text = (path) => readFileSync(path, 'utf8')
const rows = (edit) => (path) => writeFileSync(path, `${edit(text(path).trimEnd().split('\n')).join('\n')}\n`)
/** Chars of a torn row that are missing. */
const TAIL = 45

/** A result of 5 MB where a small one was, with its copies. */
export const large = (path) => writeFileSync(path, text(path).replaceAll(SMALL, LARGE))
const MARKS = {
  result:
    /"tool_result"|"function_call_output"|"functionResponse"|"tool\.execution_complete"|"role":"tool"|"toolResult"|"tool\.result"/,
  call: /"tool_use"|"type":"function_call"|"functionCall"|"assistant\.message"|"tool_calls":|"toolCalls":\[\{|"toolCall"|"tool\.call"/,
}

/** Edits the last row with a result, or the end of a document. */
const lastResult =
  (edit) =>
  (path, { isDocument, unsent }) => {
    if (isDocument) return writeFileSync(path, edit([text(path)], 0).join('\n'))
    const all = text(path).trimEnd().split('\n')
    const at = all.findLastIndex((row) => MARKS.result.test(row) && !unsent?.test(row))
    writeFileSync(path, edit(all, at).join('\n'))
  }
/** The write of a result was cut off, and all behind it is lost. */
export const tornAtEnd = lastResult((all, at) => [...all.slice(0, at), all[at].slice(0, -TAIL)])
/** The write of a result was cut off, and done again. */
export const tornInMiddle = lastResult((all, at) =>
  all.with(at, all[at].slice(0, all[at].length / 3) + all[at]).concat(''),
)
/** The newline behind a result is lost. */
export const glued = lastResult((all, at) => [...all.toSpliced(at, 2, all[at] + (all[at + 1] ?? '')), ''])
export const zeros = (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(300)]))

/** Takes the first call or the first result out. Rows that name the row name the one before it. */
export const without =
  (what) =>
  (path, { isDocument, unsent }) => {
    const isIt = (row) => MARKS[what].test(row) && !unsent?.test(row)
    if (isDocument) {
      const document = JSON.parse(text(path))
      const list = document.messages ?? document
      list.splice(
        list.findIndex((message) => isIt(JSON.stringify(message))),
        1,
      )
      return writeFileSync(path, JSON.stringify(document))
    }
    rows((all) => {
      const at = all.findIndex(isIt)
      if (at < 0) throw new Error(`no ${what} in ${path}`)
      const gone = JSON.parse(all[at])
      return all.toSpliced(at, 1).map((row) => {
        const value = JSON.parse(row)
        for (const [id, parent] of [
          ['uuid', 'parentUuid'],
          ['id', 'parentId'],
        ])
          if (gone[id] && value[parent] === gone[id])
            return JSON.stringify({ ...value, [parent]: gone[parent] })
        return row
      })
    })(path)
  }

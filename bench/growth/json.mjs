// Growth with the size of JSON: 1 KB to 100 MB.
import {
  clampError,
  clampJson,
  clampJsonWithReport,
  clampResult,
  clampText,
  definePolicy,
  wrapTool,
} from 'spillway'
import { ascii } from '../texts.mjs'
import { repeat } from './texts.mjs'

const KEPT = 51_200
const head = definePolicy({ keep: 'head' })
const schema = {
  type: 'array',
  items: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id', 'state'] },
}
const notes = ascii(60)
const listOf = (size) =>
  Array.from({ length: Math.ceil(size / 118) }, (_, id) => ({
    id,
    name: `row ${id}`,
    state: id % 97 ? 'ok' : 'failed',
    notes,
  }))
const rows = (size) => JSON.stringify(listOf(size))
const parse = { 'JSON.parse': (json) => JSON.parse(json) }
const byHand = { 'parse, halve, stringify': halved }
const stringify = { 'JSON.stringify': (value) => JSON.stringify(value) }

/** JSON cut by hand: the first and the last rows, fewer until they fit. */
function halved(json) {
  const all = JSON.parse(json)
  for (let kept = all.length; ; kept >>= 1) {
    const some = JSON.stringify([...all.slice(0, kept >> 1), ...all.slice(-(kept >> 1))])
    if (some.length <= KEPT || kept === 0) return some
  }
}
/** The result of a command whose output is long. */
const command = (size) => {
  const line = (at) =>
    at === 900 ? 'src/a.ts:3 - error TS2304: no total' : `compiled module ${at} of the app`
  return { exitCode: 1, stdout: Array.from({ length: Math.ceil(size / 32) }, (_, at) => line(at)).join('\n') }
}
/** Work that no cut of data can spare: its JSON is written and read, and its texts are searched. */
const searched = {
  'JSON and a search': (value) => {
    JSON.parse(JSON.stringify(value))
    return clampText(value.stdout, { maxChars: 8_000, isError: true })
  },
}
const members = (size) => {
  let json = '{'
  for (let at = 0; json.length < size; at++) json += `"k${at}":"abc",`
  return repeat(`${json}"z":0}`)(json.length + 6)
}

export const json = {
  what: 'JSON',
  unit: 'B',
  sizes: [1e3, 1e4, 1e5, 1e6, 1e7, 1e8],
  floor: parse,
  drawn: [
    ['clampJson, rows', rows, (json) => clampJson(json, head), byHand],
    ['clampJson with a schema', rows, (json) => clampJson(json, { schema, keep: 'head' }), byHand],
    [
      'clampResult, keep-shape',
      rows,
      (text) => clampResult({ content: [{ type: 'text', text }] }, { json: 'keep-shape' }),
      byHand,
    ],
    ['clampJson, one object', members, (json) => clampJson(json)],
    [
      'clampJson, numbers',
      repeat('1,'),
      (list) => clampJson(`[${list}1]`),
      {},
      { 'JSON.parse': (list) => JSON.parse(`[${list}1]`) },
    ],
    [
      'clampJson, lists in lists',
      (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
      (json) => clampJson(json, { maxBytes: json.length >> 1, maxLines: Infinity }),
    ],
  ],
  listed: [
    ['clampJsonWithReport, rows', rows, (json) => clampJsonWithReport(json, head)],
    ['clampJson, one string', (size) => JSON.stringify(ascii(size)), (json) => clampJson(json)],
    [
      'clampJson, all of it stays',
      rows,
      (json) => clampJson(json, { maxBytes: Infinity, maxLines: Infinity }),
    ],
    ['clampJson, a value', listOf, (value) => clampJson(value), {}, stringify],
    [
      'clampError, data',
      listOf,
      (data) => clampError(Object.assign(new Error('no'), { data })),
      {},
      stringify,
    ],
    [
      'clampResult, side data',
      (size) => ({
        role: 'toolResult',
        content: [{ type: 'text', text: 'ok' }],
        details: { rows: listOf(size) },
      }),
      (value) => clampResult(value, { sideData: 'cap' }),
      {},
      stringify,
    ],
    [
      "clampResult, structured 'text'",
      (size) => ({
        content: [{ type: 'text', text: rows(size) }],
        structuredContent: { result: listOf(size) },
      }),
      (value) => clampResult(value, { structured: 'text' }),
      {},
      stringify,
    ],
    ['clampResult, a log in data', command, (value) => clampResult(value, { maxChars: 8_000 }), {}, searched],
    [
      'wrapTool, data',
      listOf,
      (data) => wrapTool({ execute: () => data }, { maxChars: 8_000 }).execute(),
      {},
      stringify,
    ],
  ],
}

// Growth with what is looked for: 1 to 1,000 needles, words, patterns and members of a schema.
import { clampJson, clampText, classifyProviderError, definePolicy, redactText } from 'spillway'
import { logs } from '../texts.mjs'

const log = logs(1e6)
const some = { maxChars: 8_000 }
const message = log.slice(0, 2_000)
const times = (count, make) => Array.from({ length: count }, (_, at) => make(at))
const rows = JSON.stringify(times(20_000, (id) => ({ id, name: 'row', state: 'ok' })))

const needles = (count) => times(count, (at) => `items/${at * 7} took`)
const words = (count) => times(count, (at) => `word${at}`).join(' ')
const secrets = (count) => times(count, (at) => ({ kind: `kind ${at}`, pattern: `acme${at}_[a-z]{8}` }))
const errors = (count) => times(count, (at) => ({ pattern: new RegExp(`no such word ${at}`), kind: 'other' }))
const each = (patterns) =>
  patterns.reduce((text, { pattern }) => text.replace(new RegExp(pattern, 'g'), ''), log)
const members = (count) => ({
  type: 'array',
  items: {
    type: 'object',
    properties: Object.fromEntries(times(count, (at) => [`k${at}`, { type: 'string' }])),
  },
})
const alternatives = (count) => ({
  type: 'array',
  items: { anyOf: times(count, (at) => ({ type: 'object', required: [`k${at}`] })) },
})
const references = (count) => ({
  $ref: '#/$defs/r0',
  $defs: Object.fromEntries(times(count, (at) => [`r${at}`, { $ref: `#/$defs/r${at + 1}` }])),
})
const required = (count) => ({
  schema: { type: 'object', required: times(count, (at) => `k${at}`) },
  json: JSON.stringify(Object.fromEntries(times(2_000, (at) => [`k${at}`, message.slice(0, 100)]))),
})

export const needlesOf = {
  what: 'a list of needles',
  unit: '',
  sizes: [1, 10, 100, 1_000],
  floor: { 'a pass over the text': () => log.indexOf('no such text') },
  drawn: [
    [
      'clampText, needles',
      needles,
      (needles) => clampText(log, { ...some, keep: 'findings', needles }),
      {
        'includes, line by line': (all) =>
          log.split('\n').filter((line) => all.some((one) => line.includes(one))),
      },
    ],
    ['clampText, words of a query', words, (query) => clampText(log, { ...some, keep: 'relevant', query })],
    ['redactText, patterns', secrets, (patterns) => redactText(log, { patterns }), { 'a RegExp each': each }],
    ['clampJson, needles', needles, (needles) => clampJson(rows, { ...some, needles })],
    ['clampJson, members of a schema', members, (schema) => clampJson(rows, { ...some, schema })],
    [
      'classifyProviderError, patterns',
      errors,
      (patterns) => classifyProviderError({ status: 400, message }, { patterns }),
      { 'a RegExp each': (patterns) => patterns.some(({ pattern }) => pattern.test(message)) },
      { 'one pass': () => Buffer.byteLength(message) },
    ],
  ],
  listed: [
    ['clampText, queries', needles, (query) => clampText(log, { ...some, keep: 'relevant', query })],
    ['definePolicy, needles', needles, (needles) => definePolicy({ needles }), {}, {}],
    ['clampJson, alternatives of a schema', alternatives, (schema) => clampJson(rows, { ...some, schema })],
    ['clampJson, references of a schema', references, (schema) => clampJson(rows, { ...some, schema })],
    ['clampJson, required members', required, ({ json, schema }) => clampJson(json, { schema })],
  ],
}

// Texts with named secrets, and texts that only look so: each name, form and value with each other.
import * as fc from 'fast-check'
import { type Form, forms } from '../../scripts/soak/secret_forms.mjs'

const styles: Record<string, (words: readonly string[]) => string> = {
  snake: (words) => words.join('_'),
  loud: (words) => words.join('_').toUpperCase(),
  kebab: (words) => words.join('-'),
  camel: (words) => words.map((word, at) => (at > 0 ? capital(word) : word)).join(''),
  pascal: (words) => words.map(capital).join(''),
  dotted: (words) => words.join('.'),
}
const capital = (word: string) => word.replace(/^./, (first) => first.toUpperCase())

/** The words of names of secrets, and those that may stand before them. */
const secretWords = [
  ['password'],
  ['passphrase'],
  ['secret'],
  ['credentials'],
  ['api', 'key'],
  ['access', 'key'],
  ['private', 'key'],
  ['signing', 'key'],
  ['client', 'secret'],
  ['access', 'token'],
  ['refresh', 'token'],
  ['auth', 'token'],
  ['db', 'pass'],
]
const owners = [[], ['ferry'], ['pier', 'seven'], ['my'], ['x'], ['lamp', 'post']]

/** The words of names that have a word of a secret and name none. */
const openWords = [
  ['token', 'count'],
  ['max', 'tokens'],
  ['public', 'key'],
  ['primary', 'key'],
  ['cache', 'key'],
  ['sort', 'key'],
  ['partition', 'key'],
  ['idempotency', 'key'],
  ['page', 'token'],
  ['next', 'token'],
  ['continuation', 'token'],
  ['foreign', 'key'],
  ['password', 'file'],
  ['token', 'url'],
  ['secret', 'name'],
  ['access', 'key', 'id'],
  ['token', 'type'],
  ['auth', 'method'],
]

const named = (words: readonly (readonly string[])[], before: readonly (readonly string[])[]) =>
  fc
    .tuple(fc.constantFrom(...before), fc.constantFrom(...words), fc.constantFrom(...Object.keys(styles)))
    .map(([lead, rest, style]) => styles[style]?.([...lead, ...rest]) ?? '')

export const secretName = named(secretWords, owners)
export const openName = named(openWords, [[], ['ferry'], ['lamp', 'post']])

/** A form, made with a name that can stand so. */
const shaped = (name: fc.Arbitrary<string>, value: fc.Arbitrary<string>, among = Object.keys(forms)) =>
  fc
    .tuple(fc.constantFrom(...among), name, value)
    .map(([form, name, value]) => ({ form, name, value, ...forms[form] }) as Shaped)
    .filter(({ name, takes }) => takes?.test(name) ?? true)
    .map((shape) => ({ ...shape, text: shape.make(shape.name, shape.value) }))
type Shaped = Form & { form: string; name: string; value: string }

const drawn = (from: string, minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...from), minLength, maxLength })
const LOWER = 'abcdefghijklmnopqrstuvwxyz'
const DIGITS = '0123456789'
export const hex = (length: number) => drawn(`${DIGITS}abcdef`, length, length)
/** Values as services draw them: a shrunk one would be a word. */
export const secretValue = fc
  .oneof(
    drawn(LOWER + LOWER.toUpperCase() + DIGITS, 28, 44),
    drawn(LOWER + DIGITS, 28, 44),
    hex(40),
    drawn(`${LOWER}${LOWER.toUpperCase()}${DIGITS}_`, 36, 60),
  )
  .filter((value) => new Set(value).size > 9 && (value.match(/\d(?=[a-z])/gi) ?? []).length > 1)
export const uuid = fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((parts) => parts.join('-'))

export const secretText = shaped(secretName, secretValue)

const references = [
  '$FERRY_TOKEN',
  ['$', '{FERRY_TOKEN}'].join(''),
  ['$', '{{ secrets.PIER7 }}'].join(''),
  '$(pass show pier7)',
  '<your-key-1>',
  '********',
  '{{ pier7 }}',
  '%PIER_7%',
  'process.env.PIER7',
  'string',
  'null',
  'true',
  'undefined',
  '4096',
  '/run/secrets/pier7',
  './pier/key7.pem',
  'https://pier.example/v2/token7',
  '^4.17.2',
  '[redacted: api key]',
  'required',
  'none',
  'sha256:0f1e2d',
  '***',
  'Option<String>',
]

const words = fc.constantFrom(
  'pier',
  'lamp',
  'the',
  'ferry',
  'is',
  'late',
  'token',
  'key',
  'of',
  'password',
  'secret',
  'auth',
)
const prose = fc.array(words, { minLength: 3, maxLength: 12 }).map((list) => list.join(' '))
const plain = Object.keys(forms).filter((form) => !/cutOff|yamlBlock|yamlIndented/.test(form))

/** Texts without a secret. */
export const openText = fc.oneof(
  shaped(openName, fc.oneof(secretValue, uuid, hex(64)), plain).map(({ text }) => text),
  shaped(secretName, fc.constantFrom(...references), plain).map(({ text }) => text),
  fc
    .tuple(fc.constantFrom('commit ', 'etag: ', 'sha256:', 'cache ', 'REF=', 'md5 '), hex(40))
    .map((parts) => parts.join('')),
  hex(64).map((digest) => `docker-pullable://pier/lamp:1.25.3@sha256:${digest}`),
  secretValue.map((value) => `"integrity": "sha512-${value}=="`),
  uuid.map((id) => `request ${id} took 7 ms`),
  prose,
  fc
    .tuple(secretName, fc.constantFrom('read', 'load', 'find'))
    .map(([name, verb]) => `const ${name} = ${verb}Value7(name)`),
  fc.tuple(secretName, secretName).map(([name, other]) => `${name}: options.${other}`),
)

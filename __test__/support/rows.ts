/** Reads and writes JSON by its source, without the engine: bytes as a string of one char each. */

export interface Part {
  /** Names and indexes on the way to a value; of members of one name only the last has it, the
   *  others '!' before it. */
  readonly path: readonly string[]
  readonly start: number
  readonly end: number
}

/** All values of a row that is JSON, each with where its source stands. */
export function partsOf(row: string): Part[] {
  const parts: Part[] = []
  let at = 0
  const space = () => {
    while (' \t\r\n'.includes(row[at] ?? '\0')) at += 1
  }
  const text = () => {
    for (at += 1; row[at] !== '"'; at += row[at] === '\\' ? 2 : 1)
      if (at > row.length) throw new Error('open')
    at += 1
  }
  const value = (path: readonly string[]): void => {
    space()
    const start = at
    const own = parts.push({ path, start, end: start }) - 1
    const bracket = row[at] as string
    if (bracket === '{' || bracket === '[') {
      const known = new Map<string, [from: number, to: number]>()
      at += 1
      for (let index = 0; ; index++) {
        space()
        if (row[at] === '}' || row[at] === ']') break
        let name = String(index)
        if (bracket === '{') {
          const from = at
          text()
          name = JSON.parse(Buffer.from(row.slice(from, at), 'latin1').toString()) as string
          space()
          at += 1
        }
        const from = parts.length
        value([...path, name])
        const last = known.get(name)
        for (let earlier = last?.[0] ?? 0; earlier < (last?.[1] ?? 0); earlier++) {
          const part = parts[earlier] as Part
          parts[earlier] = { ...part, path: part.path.with(path.length, `!${name}`) }
        }
        known.set(name, [from, parts.length])
        space()
        if (row[at] === ',') at += 1
      }
      at += 1
    } else if (bracket === '"') text()
    else while (/[-+.\w]/.test(row[at] ?? '')) at += 1
    if (at === start) throw new Error(`no value at ${at}`)
    parts[own] = { path, start, end: at }
  }
  value([])
  return parts
}

/** A row with what stands at some places taken out. */
export function without(row: string, isOut: (path: string) => boolean): string {
  let out = ''
  let at = 0
  for (const { path, start, end } of partsOf(row)) {
    if (start < at || !isOut(path.join('.'))) continue
    out += `${row.slice(at, start)}#`
    at = end
  }
  return out + row.slice(at)
}

/** Numbers that come again for the same seed. */
export function chance(seed: number) {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (count: number) => Math.floor(next() * count)
  return {
    below,
    one: <T>(of: readonly T[]): T => of[below(of.length)] as T,
    is: (share: number) => next() < share,
  }
}

type Chance = ReturnType<typeof chance>

/** A value as some other writer would spell it: white space, escapes, numbers, members that come
 *  twice. */
export function spelled(value: unknown, by: Chance): string {
  const space = () => (by.is(0.06) ? by.one([' ', '\t', '  ']) : '')
  const around = (source: string) => `${space()}${source}${space()}`
  if (typeof value === 'string') return around(spelledText(value, by))
  if (typeof value === 'number')
    return around(
      /^-?\d+$/.test(`${value}`) && by.is(0.4)
        ? `${value}${by.one(['.0', 'e0', 'E+0', '.00e-0'])}`
        : `${value}`,
    )
  if (typeof value !== 'object' || value === null) return around(JSON.stringify(value))
  if (Array.isArray(value)) return around(`[${value.map((item) => spelled(item, by)).join(',')}]`)
  const members = Object.entries(value).map(([name, item]) => {
    const twice = by.is(0.05)
      ? `${around(spelledText(name, by))}:${spelled(by.one([1e9, 'x', null, ['y']]), by)},`
      : ''
    return `${twice}${around(spelledText(name, by))}:${spelled(item, by)}`
  })
  return around(`{${members.join(',')}}`)
}

function spelledText(text: string, by: Chance): string {
  const escaping = by.one([0, 0, 0.02, 0.5])
  const chars = Array.from({ length: text.length }, (_, at) => {
    const unit = text.charCodeAt(at)
    const char = text[at] as string
    const isLone =
      !char.isWellFormed() &&
      !/^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at, at + 2)) &&
      !/^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(at - 1, at + 1))
    if (unit < 0x20 || char === '"' || char === '\\' || isLone) return JSON.stringify(char).slice(1, -1)
    if (char === '/' && by.is(0.5)) return '\\/'
    const isPair = unit >= 0xd800 && unit < 0xe000
    if (isPair || !by.is(escaping)) return char
    const digits = unit.toString(16).padStart(4, '0')
    return `\\u${by.is(0.5) ? digits.toUpperCase() : digits}`
  })
  return `"${chars.join('')}"`
}

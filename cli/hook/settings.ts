import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Host } from './hosts.js'
import { insertFirst, member, type Node, parse, remove } from './jsonc.js'

/** Lists and objects in the settings of a host that lead to our entry, and the place in each. */
type Place = readonly [container: Node, at: number]

/** Returns what stands for a hook in the list of a host: a plugin of ours with the command, or the command alone. */
function entryOf({ takes }: Host, command: string): unknown {
  if (takes === 'tool_response') return [pathToFileURL(join(__dirname, 'opencode.js')).href, { command }]
  return { matcher: '*', hooks: [{ type: 'command', command }] }
}

/** Adds a hook to settings. All other bytes stay. Returns the same text if it has one. */
export function withHook(text: string, name: string, host: Host, command: string): string {
  if (commandIn(text, name, host) !== undefined) return text
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /\n([ \t]+)/.exec(text)?.[1] ?? '  '
  let node = parse(text)
  if (node.isArray !== false) throw new SyntaxError('no object')
  for (const [depth, key] of host.list.entries()) {
    const inner = member(node, key)
    const isList = depth === host.list.length - 1
    if (!inner) {
      const rest = host.list.slice(depth + 1)
      const value = rest.reduceRight<unknown>((value, key) => ({ [key]: value }), [entryOf(host, command)])
      return insert(node, depth, `"${key}": ${JSON.stringify(value, null, unit)}`)
    }
    if (inner.isArray !== isList) throw new SyntaxError(`"${key}" is no ${isList ? 'list' : 'object'}`)
    node = inner
  }
  return insert(node, host.list.length, JSON.stringify(entryOf(host, command), null, unit))

  function insert(node: Node, depth: number, part: string): string {
    return insertFirst(text, node, part, newline + unit.repeat(depth), unit)
  }
}

/** Removes our hook from settings, and what held nothing else. */
export function withoutHook(text: string, name: string, host: Host): string {
  const place = placeIn(text, name, host)
  if (!place) return text
  const path = [...place.path]
  while (path.length > 1 && path.at(-1)?.[0].parts?.length === 1) path.pop()
  const [container, at] = path.at(-1) as Place
  return withoutHook(remove(text, container, at), name, host)
}

/** Returns the command of our hook in settings. */
export function commandIn(text: string, name: string, host: Host): string | undefined {
  return placeIn(text, name, host)?.command
}

function placeIn(text: string, name: string, host: Host): { path: Place[]; command: string } | undefined {
  const own = new RegExp(`(?:spillway|cli\\.js)["']? hook ${name}(?: |$)`)
  const path: Place[] = []
  let list = parse(text)
  for (const key of host.list) {
    const inner = member(list, key)
    if (!inner) return undefined
    path.push(of(list, inner))
    list = inner
  }
  for (const [nth, { node }] of (list.parts ?? []).entries())
    for (const [inner, at, holder] of holdersIn(node)) {
      const command = member(holder, 'command')?.value
      const within: Place[] = inner ? [[inner, at]] : []
      if (typeof command === 'string' && own.test(command))
        return { command, path: [...path, [list, nth], ...within] }
    }
  return undefined
}

/** Returns what may hold a command in an entry: the hooks of a matcher, or the options of a plugin. */
function holdersIn(entry: Node): [list: Node | undefined, at: number, holder: Node][] {
  const hooks = member(entry, 'hooks')
  if (hooks) return (hooks.parts ?? []).map(({ node }, at) => [hooks, at, node])
  return entry.isArray ? (entry.parts ?? []).map(({ node }) => [undefined, 0, node]) : []
}

function of(container: Node, node: Node): Place {
  return [container, container.parts?.findIndex((part) => part.node === node) ?? -1]
}

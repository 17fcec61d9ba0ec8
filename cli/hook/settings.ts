import { insertFirst, member, type Node, parse, remove } from './jsonc.js'

/** Lists in the settings of a host that lead to its hooks: `hooks`, the event, its entries, the hooks of one. */
type Place = readonly [container: Node, at: number]

/** Adds a hook to settings. All other bytes stay. Returns the same text if it has one. */
export function withHook(text: string, name: string, event: string, command: string): string {
  if (commandIn(text, name, event) !== undefined) return text
  const root = parse(text)
  if (root.isArray !== false) throw new SyntaxError('no object')
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /\n([ \t]+)/.exec(text)?.[1] ?? '  '
  const entry = { matcher: '*', hooks: [{ type: 'command', command }] }
  const hooks = member(root, 'hooks')
  const list = hooks && member(hooks, event)
  if (hooks && hooks.isArray !== false) throw new SyntaxError('"hooks" is no object')
  if (list && !list.isArray) throw new SyntaxError(`"${event}" is no list`)
  const insert = (node: Node, depth: number, value: object, name?: string) => {
    const part = (name === undefined ? '' : `"${name}": `) + JSON.stringify(value, null, unit)
    return insertFirst(text, node, part, newline + unit.repeat(depth), unit)
  }
  if (list) return insert(list, 2, entry)
  if (hooks) return insert(hooks, 1, [entry], event)
  return insert(root, 0, { [event]: [entry] }, 'hooks')
}

/** Removes our hook from settings, and what held nothing else. */
export function withoutHook(text: string, name: string, event: string): string {
  const place = placeIn(text, name, event)
  if (!place) return text
  const path = [...place.path]
  while (path.length > 1 && path.at(-1)?.[0].parts?.length === 1) path.pop()
  const [container, at] = path.at(-1) as Place
  return withoutHook(remove(text, container, at), name, event)
}

/** Returns the command of our hook in settings. */
export function commandIn(text: string, name: string, event: string): string | undefined {
  return placeIn(text, name, event)?.command
}

function placeIn(
  text: string,
  name: string,
  event: string,
): { path: readonly Place[]; command: string } | undefined {
  const own = new RegExp(`(?:spillway|cli\\.js)["']? hook ${name}(?: |$)`)
  const root = parse(text)
  const hooks = member(root, 'hooks')
  const list = hooks && member(hooks, event)
  if (!hooks || !list) return undefined
  for (const [nth, entry] of (list.parts ?? []).entries()) {
    const inner = member(entry.node, 'hooks')
    for (const [at, { node }] of (inner?.parts ?? []).entries()) {
      const command = member(node, 'command')?.value
      if (inner && typeof command === 'string' && own.test(command))
        return { command, path: [of(root, hooks), of(hooks, list), [list, nth], [inner, at]] }
    }
  }
  return undefined
}

function of(container: Node, node: Node): Place {
  return [container, container.parts?.findIndex((part) => part.node === node) ?? -1]
}

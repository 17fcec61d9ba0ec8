import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Host } from '../../lib/hook/hosts.js'
import {
  hasComments,
  indexOf,
  insertFirst,
  type JsoncText,
  member,
  type Node,
  parse,
  remove,
  replace,
  valueIn,
} from './jsonc.js'

/** Containers in the settings of a host that lead to spillway's entry, and the place in each. */
type SettingsPath = readonly [container: Node, at: number]

/** An entry of spillway in settings. */
interface HookEntry {
  readonly path: readonly SettingsPath[]
  readonly command: Node
  /** Path of spillway's plugin, for a host with plugins. */
  readonly plugin: Node | undefined
}

/** The program spillway, by its name or by a path in any installation. */
const PROGRAM = /(?:^|[\\/])spillway(?:\.cmd|[\\/]dist[\\/]cli\.js)?$/
/** The plugin of spillway in any installation. */
const PLUGIN = /\/spillway\/dist\/opencode\.js$/
/** A word of a command, with its blanks quoted. */
const WORD = /(?:"[^"]*"|'[^']*'|\\.|[^\s"'])+/g
/** Matches an operator of a shell, which runs or redirects more than one command. */
const OPERATOR = /[;&|<>`\n]|\$\(/
/** Words before a program that leave it the command: variables, flags, numbers of flags, and
 *  programs that run their operand. */
const BEFORE =
  /^(?:\w+=.*|-.*|\d+|(?:.*[\\/])?(?:node|bun|deno|npx|bunx|pnpm|yarn|dlx|env|exec|nice|nohup|time)(?:\.exe|\.cmd)?)$/s

/** Settings without entries. */
export const EMPTY = '{}\n'

function pluginOf(): string {
  return pathToFileURL(join(__dirname, 'opencode.js')).href
}

/** Returns the entry of a hook for the list of a host: spillway's plugin with the command, or the
 *  command alone. */
function entryOf({ takes }: Host, command: string): unknown {
  if (takes === 'tool_response') return [pluginOf(), { command }]
  return { matcher: '*', hooks: [{ type: 'command', command }] }
}

/** Adds a hook to settings, or renews the paths in spillway's entry. All other bytes stay.
 *  `command` ends in the name of the host. */
export function withHook(text: string, host: Host, command: string): string {
  const document = parse(text)
  const { root } = document
  if (!root) return withHook(text + EMPTY, host, command)
  if (root.type !== 'object') throw new SyntaxError(`settings must be an object, got ${root.type}`)
  const entries = entriesIn(document, host, command)
  for (const { command: node, plugin } of entries) {
    const renewed = renewedOf(String(node.value), command)
    if (renewed !== node.value) return withHook(replace(document, node, renewed), host, command)
    if (plugin && plugin.value !== pluginOf())
      return withHook(replace(document, plugin, pluginOf()), host, command)
  }
  return entries.length > 0 ? text : inserted(document, root, host, command)
}

function inserted(document: JsoncText, root: Node, host: Host, command: string): string {
  const { text } = document
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /\n([ \t]+)/.exec(text)?.[1] ?? '  '
  const insert = (node: Node, depth: number, part: string) =>
    insertFirst(document, node, part, newline + unit.repeat(depth), unit)
  let node = root
  for (const [depth, key] of host.list.entries()) {
    const inner = member(node, key)
    const isList = depth === host.list.length - 1
    if (!inner) {
      const rest = host.list.slice(depth + 1)
      const value = rest.reduceRight<unknown>((value, key) => ({ [key]: value }), [entryOf(host, command)])
      return insert(node, depth, `"${key}": ${JSON.stringify(value, null, unit)}`)
    }
    if (inner.type !== (isList ? 'array' : 'object'))
      throw new SyntaxError(`"${key}" must be ${isList ? 'an array' : 'an object'}, got ${inner.type}`)
    node = inner
  }
  return insert(node, host.list.length, JSON.stringify(entryOf(host, command), null, unit))
}

/** Removes spillway's hook from settings, and containers that held nothing else. */
export function withoutHook(text: string, host: Host, command: string): string {
  const document = parse(text)
  const [entry] = entriesIn(document, host, command)
  if (!entry) return text
  const path = [...entry.path]
  const own = partOf(path.at(-1) as SettingsPath)
  while (path.length > 1) {
    const [[holder], above] = [path.at(-1), path.at(-2)] as [SettingsPath, SettingsPath]
    if (holder.children?.length !== 1 || hasComments(document, partOf(above), own)) break
    path.pop()
  }
  return withoutHook(remove(document, ...(path.at(-1) as SettingsPath)), host, command)
}

/** Returns the command of spillway's hook in settings. */
export function commandIn(text: string, host: Host, command: string): string | undefined {
  return entriesIn(parse(text), host, command)[0]?.command.value
}

/** Returns spillway's entries: those that call a hook for this host by a path or name of the
 *  program. */
function entriesIn({ root }: JsoncText, host: Host, command: string): HookEntry[] {
  const path: SettingsPath[] = []
  let list = root
  for (const key of host.list) {
    const at = list ? indexOf(list, key) : -1
    if (!list || at < 0) return []
    path.push([list, at])
    list = valueIn(list.children?.[at])
  }
  if (list?.type !== 'array') return []
  const all = list
  return (all.children ?? []).flatMap((entry, at): HookEntry[] => {
    const place: SettingsPath = [all, at]
    if (host.takes === 'tool_response') {
      const [plugin, options] = entry.children ?? []
      const call = options && member(options, 'command')
      const isPlugin = plugin?.value === pluginOf() || PLUGIN.test(String(plugin?.value))
      return isPlugin && isCall(call, command) ? [{ path: [...path, place], command: call, plugin }] : []
    }
    const hooks = member(entry, 'hooks')
    return (hooks?.children ?? []).flatMap((hook, nth): HookEntry[] => {
      const call = member(hook, 'command')
      if (!hooks || !isCall(call, command)) return []
      return [{ path: [...path, place, [hooks, nth]], command: call, plugin: undefined }]
    })
  })
}

/** Returns true if a command is a call of spillway's hook for the same host as `own`, and nothing
 *  else: neither `echo spillway hook HOST` nor a pipe that ends in it is spillway's to change. */
function isCall(call: Node | undefined, own: string): call is Node {
  const [found, made] = [partsOf(call?.value), partsOf(own)]
  if (!found || !made || found.mark !== made.mark || OPERATOR.test(unquoted(String(call?.value))))
    return false
  const before = found.runner.match(WORD) ?? []
  if (!before.every((word) => BEFORE.test(word.replace(/["']/g, '')))) return false
  return found.path === made.path || PROGRAM.test(found.path.replace(/["']/g, ''))
}

function unquoted(command: string): string {
  return command.replace(/"[^"]*"|'[^']*'|\\./gs, '')
}

/** Returns the parts of a command that calls a hook: the runtime, the path of the program, the
 *  mark, and flags. */
function partsOf(command: unknown) {
  const [, program, mark, flags = ''] = /^(.+?) (hook \S+)( .*)?$/s.exec(String(command)) ?? []
  const path = program?.match(WORD)?.at(-1)
  if (program === undefined || path === undefined) return undefined
  return { runner: program.slice(0, program.lastIndexOf(path)), path, mark, flags }
}

/** Returns a spillway command with the path of `own`. Other words of the user stay. */
function renewedOf(command: string, own: string): string {
  const [found, made] = [partsOf(command), partsOf(own)]
  if (!found || !made || !/[\\/]cli\.js["']?$/.test(found.path)) return command
  const runner = found.runner.match(WORD)?.length === 1 ? made.runner : found.runner
  return `${runner}${made.path} ${made.mark}${found.flags}`
}

function partOf([container, at]: SettingsPath): Node {
  return container.children?.[at] as Node
}

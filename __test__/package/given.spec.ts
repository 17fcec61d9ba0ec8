import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as spillway from 'spillway'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { OPTIONS, type Taker } from '../../lib/read_options.js'

/** The contract, as a program that checks `exactOptionalPropertyTypes` sees it. */
const ROOT = join(__dirname, '../..')
const CONTRACT = ['index.d.ts', ...readdirSync(join(ROOT, 'types')).map((file) => join('types', file))].map(
  (file) => join(ROOT, file),
)
const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)

/** Returns the optional members of what a caller hands in that reject undefined, as "file:line
 *  name". What the package returns, and the parameters of a caller's functions, are handed out. */
function rejecting(paths: readonly string[], host?: ts.CompilerHost): string[] {
  const program = ts.createProgram(paths, options, host)
  const checker = program.getTypeChecker()
  const files = paths.map((path) => program.getSourceFile(path) as ts.SourceFile)
  const seen = { in: new Set<ts.Type>(), out: new Set<ts.Type>() }
  const found = new Set<string>()
  const flipped = { in: 'out', out: 'in' } as const
  const isOwn = (node: ts.Node) => files.includes(node.getSourceFile())

  function member(symbol: ts.Symbol, way: 'in' | 'out'): void {
    const node = symbol.declarations?.find(isOwn)
    if (!node) return
    const type = checker.getTypeOfSymbol(symbol)
    if (way === 'in' && symbol.flags & ts.SymbolFlags.Optional && !takesUndefined(node)) {
      const file = node.getSourceFile()
      const { line } = file.getLineAndCharacterOfPosition(node.getStart())
      found.add(`${file.fileName.slice(ROOT.length + 1)}:${line + 1} ${symbol.name}`)
    }
    walk(type, way)
  }

  /** A method is not an option, and the type of a member that TypeScript made optional has
   *  undefined in any case. */
  function takesUndefined(node: ts.Node): boolean {
    if (!ts.isPropertySignature(node) || !node.type) return true
    const type = checker.getTypeFromTypeNode(node.type)
    return [type, ...(type.isUnion() ? type.types : [])].some(
      ({ flags }) => flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Any | ts.TypeFlags.Unknown),
    )
  }

  function walk(type: ts.Type, way: 'in' | 'out'): void {
    if (seen[way].has(type)) return
    seen[way].add(type)
    if (type.isUnionOrIntersection()) for (const part of type.types) walk(part, way)
    for (const argument of checker.getTypeArguments(type as ts.TypeReference)) walk(argument, way)
    const constraint = type.isTypeParameter() ? type.getConstraint() : undefined
    if (constraint) walk(constraint, way)
    for (const signature of [...type.getCallSignatures(), ...type.getConstructSignatures()]) {
      const { declaration } = signature
      if (!declaration || !isOwn(declaration)) continue
      // A callback that is handed out is the caller's, such as `onClamp` of a policy. The package
      // alone makes errors.
      const isCallback = way === 'out' && ts.isFunctionTypeNode(declaration)
      if (isCallback || signature.getReturnType().getProperty('stack')) continue
      for (const parameter of signature.parameters) walk(checker.getTypeOfSymbol(parameter), flipped[way])
      // A page of a caller's store is what everybody reads of any store.
      if (way === 'out') walk(signature.getReturnType(), way)
    }
    for (const symbol of type.getProperties()) member(symbol, way)
  }

  for (const file of files) {
    const module = checker.getSymbolAtLocation(file) as ts.Symbol
    for (const symbol of checker.getExportsOfModule(module)) {
      if (symbol.flags & ts.SymbolFlags.Value) walk(checker.getTypeOfSymbol(symbol), 'out')
    }
  }
  return [...found]
}

it('what a caller may leave out, a caller may give as undefined', { tags: 'long' }, () => {
  expect(rejecting(CONTRACT)).toEqual([])
})

it('a member is found wherever a caller hands it in', { tags: 'long' }, () => {
  const path = join(ROOT, 'sample.d.ts')
  const source = `
    export interface Inner { deep?: string; taken?: string | undefined }
    export interface Event { told?: string }
    export interface Options { flat?: number; inner: readonly Inner[]; onEvent: (event: Event) => void }
    export interface Reader { read(range?: { line?: number }): { next?: number } }
    export function make(options?: Partial<Options>): Reader & Readonly<Options>
    export function run<T extends { only?: string }>(input: T): void`
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (name, ...rest) =>
    name === path
      ? ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true)
      : getSourceFile(name, ...rest)
  const found = rejecting([path], host).map((place) => place.split(' ')[1])
  expect(found.sort()).toEqual(['deep', 'flat', 'inner', 'line', 'onEvent', 'only'])
})

/** Returns the options of a taker, all undefined. */
const nothing = (taker: Taker) =>
  Object.fromEntries(OPTIONS[taker].map((name) => [name, undefined])) as Record<string, undefined>

it('an option that is undefined counts as not given', async () => {
  const { clampText, clampMessages, wrapTool } = spillway
  const long = 'one line of a log\n'.repeat(9_000)
  const policy = nothing('policy')
  const within = { clean: nothing('clean'), redact: nothing('redact'), media: nothing('media') }
  const message = { role: 'tool', tool_call_id: 'c', content: long }
  const same = [
    (given: object) => clampText(long, given),
    (given: object) => spillway.clampJson([long], given),
    (given: object) => spillway.clampResult(message, given),
    (given: object) => spillway.clampError(new Error(long), given).message,
    (given: object) => wrapTool(() => long, given)(),
    (given: object) => clampMessages([message], { ...given, ...(given === policy && nothing('messages')) }),
    (given: object) => spillway.formatProcessOutput({ stdout: long, stderr: '' }, given),
    (given: object) => new spillway.OutputCapture(given).snapshot(),
  ]
  for (const call of same) expect(call(policy)).toEqual(call({}))
  expect(clampText(long, within)).toBe(clampText(long, { clean: {}, redact: {}, media: {} } as object))
  const aggregate = { ...nothing('aggregate'), maxChars: 900 }
  expect(clampMessages([message], { aggregate })).toEqual(
    clampMessages([message], { aggregate: { maxChars: 900 } }),
  )
  spillway.repairToolPairs([], nothing('pairs'))
  spillway.sanitizeForDisplay('', nothing('display'))
  spillway.classifyProviderError('', nothing('classify'))
  spillway.guardSession({ appendMessage() {} }, { ...policy, ...nothing('guard') })
  const store = spillway.createSpillStore({ ...nothing('store'), dir: join(tmpdir(), 'none') })
  await expect(store.search('0'.repeat(16), 'x', nothing('search'))).rejects.toThrow('0'.repeat(16))
  spillway.precheck({
    ...nothing('precheck'),
    messages: [],
    contextTokens: 9,
    reserveTokens: 1,
    aggregate: { maxChars: undefined },
  })
})

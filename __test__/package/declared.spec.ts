import { EventEmitter } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import {
  applyPlan,
  clampError,
  clampJson,
  clampJsonWithReport,
  clampMessages,
  clampResult,
  clampResultAsync,
  clampText,
  clampTextAsync,
  clampTextWithReport,
  classifyProviderError,
  cleanText,
  clearToolResults,
  createContext,
  createSpillStore,
  definePolicy,
  formatProcessOutput,
  guardSession,
  inspectSession,
  OutputCapture,
  precheck,
  redactText,
  repairSession,
  repairToolPairs,
  runWithRecovery,
  sanitizeForDisplay,
  spillReader,
  wrapTool,
  wrapTools,
} from 'spillway'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { OPTIONS as TABLE } from '../../lib/read_options.js'

/** index.d.ts as a compiler and an editor see it. */
const ROOT = join(__dirname, '../..')
const HOVERED = join(__dirname, '../hovered.ts')

/** Parameters that are options, and others: a new name belongs to one of the lists. */
const OPTIONS = ['options', 'policy', 'input', 'hooks', 'range', 'meta']
const OTHERS = [
  ...[
    'json',
    'text',
    'start',
    'end',
    'maxChars',
    'result',
    'error',
    'tool',
    'tools',
    'messages',
    'plan',
    'store',
  ],
  ...['write', 'child', 'exit', 'output', 'manager', 'path', 'id', 'pattern', 'message'],
]

/** Options within options. */
const NESTED = ['CleanOptions', 'MediaOptions', 'AggregateOptions']

/** Calls that someone types in an editor. */
const HOVERS = [
  's.definePolicy({ maxBytes: 5 })',
  "s.clampText('', { maxBytes: 5 })",
  "s.clampTextWithReport('', { maxBytes: 5 })",
  "s.clampJson('', { maxBytes: 5 })",
  "s.clampJsonWithReport('', { maxBytes: 5 })",
  "s.clampResult('', { maxBytes: 5 })",
  "s.clampError('', { maxBytes: 5 })",
  's.clampMessages([], { maxBytes: 5 })',
  "s.wrapTool(() => '', { maxBytes: 5 })",
  "s.wrapTools([() => ''], { maxBytes: 5 })",
  "s.formatProcessOutput({ stdout: '', stderr: '' }, { maxBytes: 5 })",
  'new s.OutputCapture({ maxBytes: 5 })',
  's.applyPlan([], [], { maxBytes: 5 })',
  's.guardSession({ appendMessage() {} }, { maxBytes: 5 })',
  "s.repairSession('', { maxBytes: 5 })",
  "s.inspectSession('', { maxBytes: 5 })",
]
const SOURCE = ["import * as s from 'spillway'", ...HOVERS].join('\n')

/** Asks as an editor does about a file that holds these calls. */
function editor(): ts.LanguageService {
  const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT)
  const readFile = (path: string) => (path === HOVERED ? SOURCE : ts.sys.readFile(path))
  return ts.createLanguageService({
    readFile,
    fileExists: (path) => path === HOVERED || ts.sys.fileExists(path),
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    getCompilationSettings: () => options,
    getCurrentDirectory: () => ROOT,
    getDefaultLibFileName: (options) => ts.getDefaultLibFilePath(options),
    getScriptFileNames: () => [HOVERED],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const text = readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
  })
}
const service = editor()

/** The members of a type that is written out. */
const membersOf = (type?: ts.TypeNode) => (type && ts.isTypeLiteralNode(type) ? type.members : [])

/** The options of each function and method that index.d.ts declares, by its name. */
function declared(): Map<string, string[]> {
  const program = service.getProgram() as ts.Program
  const checker = program.getTypeChecker()
  const file = program.getSourceFile(join(ROOT, 'index.d.ts')) as ts.SourceFile
  const found = new Map<string, string[]>()
  const namesOf = (type: ts.Type): string[] =>
    (type.isUnion() ? type.types : [type])
      .filter((one) => !(one.flags & ts.TypeFlags.Undefined) && one.getCallSignatures().length === 0)
      .flatMap((one) =>
        one.isIntersection() && one.types.some((part) => part.getCallSignatures().length > 0)
          ? []
          : one.getProperties().map(({ name }) => name),
      )
  const read = (name: string, parameters: readonly ts.ParameterDeclaration[]) => {
    for (const parameter of parameters) {
      const called = parameter.name.getText()
      expect([...OPTIONS, ...OTHERS], `${name}(${called})`).toContain(called)
      if (OPTIONS.includes(called)) {
        const all = [...(found.get(name) ?? []), ...namesOf(checker.getTypeAtLocation(parameter))]
        found.set(name, [...new Set(all)])
      }
    }
  }
  for (const statement of file.statements) {
    if (ts.isFunctionDeclaration(statement)) read(statement.name?.text ?? '', statement.parameters)
    const name = statement as ts.InterfaceDeclaration | ts.ClassDeclaration | ts.FunctionDeclaration
    if (!['OutputCapture', 'SpillStore', 'spillReader'].includes(name.name?.text ?? '')) continue
    for (const member of ts.isFunctionDeclaration(name) ? membersOf(name.type) : name.members) {
      if (ts.isConstructorDeclaration(member)) read(name.name?.text ?? '', member.parameters)
      if (ts.isMethodDeclaration(member) || ts.isMethodSignature(member))
        read(`${name.name?.text}.${member.name.getText()}`, member.parameters)
    }
  }
  for (const nested of NESTED) {
    const node = file.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === nested)
    found.set(nested, namesOf(checker.getTypeAtLocation(node as ts.InterfaceDeclaration)))
  }
  return found
}

const names = declared()
const all = [...new Set([...names.values()].flat())]
const taken = [...names].flatMap(([name, own]) => (NESTED.includes(name) ? [] : own))
const any = (value: unknown) => value as never

const store = () => createSpillStore({ dir: join(__filename, 'outputs') })
const ID = '0123456789abcdef'
const child = () =>
  Object.assign(new EventEmitter(), {
    ...{ stdout: Readable.from([]), stderr: Readable.from([]), stdin: null, stdio: [] },
    ...{ exitCode: 0, signalCode: null },
  })

/** Each function of index.d.ts that takes options, called with some. */
const calls: Record<string, (options: never) => unknown> = {
  definePolicy,
  clampText: (options) => clampText('', options),
  clampTextWithReport: (options) => clampTextWithReport('', options),
  clampJson: (options) => clampJson('', options),
  clampJsonWithReport: (options) => clampJsonWithReport('', options),
  cleanText: (options) => cleanText('', options),
  redactText: (options) => redactText('', options),
  clampResult: (options) => clampResult('', options),
  clampTextAsync: (options) => clampTextAsync('', options),
  clampResultAsync: (options) => clampResultAsync('', options),
  clampError: (options) => clampError('', options),
  wrapTool: (options) => wrapTool({ execute: () => '' }, options),
  wrapTools: (options) => wrapTools([{ execute: () => '' }], options),
  sanitizeForDisplay: (options) => sanitizeForDisplay('', options),
  clampMessages: (options) => clampMessages([], options),
  repairToolPairs: (options) => repairToolPairs([], options),
  OutputCapture: (options) => new OutputCapture(options),
  'OutputCapture.attach': (options) => new OutputCapture().attach(any(child()), options),
  formatProcessOutput: (options) => formatProcessOutput({ stdout: '', stderr: '' }, options),
  createSpillStore,
  'SpillStore.save': (options) => store().save('', options),
  'SpillStore.read': (options) => store().read(ID, options),
  'SpillStore.search': (options) => store().search(ID, 'x', options),
  'spillReader.read': (options) => spillReader(store()).read(ID, options),
  'SpillStore.sweep': (options) => store().sweep(options),
  precheck,
  applyPlan: (options) => applyPlan([], [], options),
  clearToolResults: (options) => clearToolResults([], options),
  createContext,
  classifyProviderError: (options) => classifyProviderError('', options),
  runWithRecovery: (options) => runWithRecovery(options),
  guardSession: (options) => guardSession({ appendMessage: () => '' }, options),
  repairSession: (options) => repairSession(join(tmpdir(), 'spillway-of-no-session'), options),
  inspectSession: (options) => inspectSession(join(tmpdir(), 'spillway-of-no-session'), options),
}

/** Returns the error of a call with these options, thrown at once or later. */
async function failure(call: (options: never) => unknown, options: object): Promise<unknown> {
  try {
    await call(any(options))
    return undefined
  } catch (error) {
    return error
  }
}

describe('options, as index.d.ts declares them', () => {
  const takers = [...names.keys()].filter((name) => name in calls)

  it('are taken by the functions that are called here', () => {
    expect(Object.keys(calls).sort()).toEqual(
      [...names.keys()].filter((name) => !NESTED.includes(name)).sort(),
    )
  })

  it('are those of the table that names are checked against', () => {
    // Those of spillway/remote stand in remote.d.ts.
    const { remote: _, ...table } = TABLE
    expect([...new Set<string>(Object.values(table).flat())].sort()).toEqual([...all].sort())
  })

  it.each(takers)('%s passes over those of other functions', async (name) => {
    const options = Object.fromEntries(taken.map((option) => [option, undefined]))
    const error = await failure(calls[name] as never, options)
    expect(String(error)).not.toContain('unknown option')
  })

  it.each(takers)('%s refuses a name that resembles one of its own, and says which', async (name) => {
    for (const option of names.get(name) ?? []) {
      const misspelt = `${option}${option.at(-1)}`
      const error = await failure(calls[name] as never, { [misspelt]: undefined })
      expect(error).toBeInstanceOf(TypeError)
      expect(error).toMatchObject({
        code: 'ERR_SPILLWAY_OPTION',
        message: `unknown option \`${misspelt}\`; did you mean \`${option}\`?`,
      })
    }
  })

  it.each(takers)('%s refuses a name that resembles none, and names its own', async (name) => {
    const error = await failure(calls[name] as never, { colour: 'red' })
    expect(error).toMatchObject({ code: 'ERR_SPILLWAY_OPTION' })
    const [, told] = /^TypeError: unknown option `colour`; expected one of (.*)$/.exec(String(error)) ?? []
    expect(told?.split(', ')).toEqual(expect.arrayContaining(names.get(name) ?? []))
  })

  it.each(takers)('%s refuses what holds no options', async (name) => {
    for (const [given, shown] of [
      [['maxBytes'], 'an array'],
      [new Map([['maxBytes', 5]]), 'a Map'],
      [Promise.resolve({ maxBytes: 5 }), 'a promise'],
    ] as const) {
      const error = await failure(calls[name] as never, given)
      expect(error).toMatchObject({ code: 'ERR_SPILLWAY_OPTION' })
      expect(String(error)).toContain(`must be an object, got ${shown}`)
    }
  })

  it('are checked within clean and aggregate, which reject options of other functions', async () => {
    const within = { clean: names.get('CleanOptions') ?? [], aggregate: names.get('AggregateOptions') ?? [] }
    const having = (option: string) => takers.filter((name) => names.get(name)?.includes(option))
    for (const [outer, own] of Object.entries(within)) {
      expect(having(outer).length).toBeGreaterThan(2)
      for (const name of having(outer))
        for (const option of own) {
          const needed = { contextTokens: 5, reserveTokens: 0, messages: [], send: () => {} }
          const inner = { ...(outer === 'aggregate' && { maxChars: 5 }), [`${option}s`]: undefined }
          const wrong = { ...needed, [outer]: inner }
          expect(await failure(calls[name] as never, wrong), name).toMatchObject({
            code: 'ERR_SPILLWAY_OPTION',
            message: `unknown option \`${outer}.${option}s\`; did you mean \`${option}\`?`,
          })
        }
    }
    const other = await failure(calls['clampText'] as never, { clean: { maxBytes: 5 } })
    expect(other).toMatchObject({
      message:
        'unknown option `clean.maxBytes`; expected one of ansi, carriageReturns, control, repeats, html',
    })
  })
})

describe('what an editor shows', () => {
  it('is not an error', () => {
    const errors = service.getSemanticDiagnostics(HOVERED)
    expect(errors.map(({ messageText }) => messageText)).toEqual([])
  })

  it.each(HOVERS)('of an option in %s is its comment', (call) => {
    const hover = service.getQuickInfoAtPosition(HOVERED, SOURCE.indexOf(call) + call.indexOf('maxBytes'))
    const comment = ts.displayPartsToString(hover?.documentation)
    expect(comment).toBe('UTF-8 bytes of the result. Default 51_200 (50 KiB).')
  })
})

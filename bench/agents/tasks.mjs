// Tasks for a scripted agent, the same for a seed every time: a question, the tools of a made-up
// repository, and what a reader of their outputs would look for. The decisive lines stand anywhere
// in outputs of 10 KB to 5 MB, among lines that look like them.
import { random as randomOf } from '../../scripts/soak/simulation.mjs'

const START = ['b', 'd', 'f', 'g', 'k', 'l', 'm', 'n', 'p', 'r', 's', 't', 'v']
const VOWELS = ['a', 'e', 'i', 'o', 'u']
const syllable = ({ pick }) => pick(START) + pick(VOWELS)
const word = (random, syllables = 3) => Array.from({ length: syllables }, () => syllable(random)).join('')
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1)
const camel = (random) => word(random, 2) + capital(word(random, 2)) + capital(word(random, 2))
const pathOf = (random, end) => `src/${word(random, 2)}/${word(random, 3)}${end}`
const pad = (number, width) => String(number).padStart(width, '0')
const clock = ({ below }) => `${pad(below(24), 2)}:${pad(below(60), 2)}:${pad(below(60), 2)}`

/** Bytes of an output: as many tasks have 10 to 100 KB as have 100 KB to 1 MB. */
function sizeOf({ next }, [least, most]) {
  return Math.floor(least * (most / least) ** next())
}

/** An output of so many bytes, with lines at a random place. `noise`: makes a line. */
function output(random, range, noise, decisive, { first = [], last = [] } = {}) {
  const size = sizeOf(random, range)
  const at = random.next() * size
  const lines = [...first]
  let [bytes, isPut] = [0, false]
  while (bytes < size || !isPut) {
    if (!isPut && bytes >= at) {
      lines.push(...decisive)
      isPut = true
    }
    const line = noise(random)
    lines.push(line)
    bytes += line.length + 1
  }
  return `${[...lines, ...last].join('\n')}\n`
}

/** A number that a page of a reader may put before a line. */
const NUMBER = '(?:\\d+[:-] )?'

/** Runners of tests: passing lines with words of failures, a failure, and how a reader sees it. */
const RUNNERS = [
  {
    noise: (random) =>
      random.next() < 0.003
        ? `   × retried once: ${camel(random)} keeps FAILED jobs ${random.below(900)}ms`
        : ` ✓ ${pathOf(random, '.test.ts')} > ${camel(random)} handles an error ${random.below(90)}ms`,
    failure: (test, file) => [` FAIL  ${file} > ${test}`, `AssertionError: expected 3 to be 4`],
    find: / FAIL {2}(?<file>\S+) > (?<test>\w+)/,
    end: '.test.ts',
  },
  {
    noise: (random) =>
      `${pathOf(random, '_test.py')}::test_${word(random)}_error PASSED [ ${random.below(99)}%]`,
    failure: (test, file) => [`FAILED ${file}::${test} - assert 3 == 4`],
    find: /FAILED (?<file>\S+)::(?<test>\w+) - /,
    end: '_test.py',
  },
  {
    noise: (random) => `--- PASS: Test${capital(camel(random))} (0.${pad(random.below(99), 2)}s)`,
    failure: (test, file) => [`--- FAIL: ${test} (0.02s)`, `    ${file}:41: got 3, want 4`],
    find: new RegExp(`--- FAIL: (?<test>\\w+) .*\\n${NUMBER}\\s+(?<file>\\S+_test\\.go):\\d+`),
    end: '_test.go',
  },
  {
    noise: (random) => `test ${word(random)}::tests::${word(random)}_fails_on_error ... ok`,
    failure: (test, file) => [`test ${test} ... FAILED`, `thread '${test}' panicked at ${file}:41:9:`],
    find: /thread '(?<test>\w+)' panicked at (?<file>[^:\s]+):\d+/,
    end: '.rs',
  },
]

function testTask(random, range) {
  const runner = random.pick(RUNNERS)
  const [test, file] = [camel(random), pathOf(random, runner.end)]
  const passed = () => `${random.below(9_000)} passed, 1 failed`
  return {
    kind: 'test',
    question: 'One test fails. Which test is it, and in which file?',
    stages: [
      {
        tool: 'run_tests',
        args: () => ({}),
        needs: [{ name: 'failure', pattern: () => 'FAIL', find: (text) => runner.find.exec(text)?.groups }],
      },
    ],
    answer: ({ failure }) => `${failure.test} in ${failure.file}`,
    expected: `${test} in ${file}`,
    tools: {
      run_tests: {
        type: 'command',
        run: () => output(random, range, runner.noise, runner.failure(test, file), { last: [passed()] }),
      },
    },
  }
}

/** Returns true for names that differ by one char, which one of them has more. */
function isNear(longer, shorter) {
  if (longer.length !== shorter.length + 1) return false
  let at = 0
  while (at < shorter.length && longer[at] === shorter[at]) at += 1
  return longer.slice(at + 1) === shorter.slice(at)
}

function importTask(random, range) {
  const [user, module, name] = [pathOf(random, '.ts'), pathOf(random, '.ts'), camel(random)]
  const gap = 3 + random.below(name.length - 4)
  const wrong = name.slice(0, gap) + name.slice(gap + 1)
  const build = (random) =>
    random.next() < 0.02
      ? `${pathOf(random, '.ts')}:${random.below(900)}:1 - warning: '${camel(random)}' is declared and never used`
      : `[${clock(random)}] compiled ${pathOf(random, '.ts')} without errors in ${random.below(300)} ms`
  const source = (random) =>
    random.next() < 0.1
      ? `export function ${camel(random)}(${word(random)}: string): number {`
      : `  const ${camel(random)} = ${word(random)}.${camel(random)}(${random.below(99)})`
  const error = `${user}:3:10 - error TS2305: Module '"${module}"' has no exported member '${wrong}'.`
  const ERROR = /(\S+\.ts):\d+:\d+ - error TS2305: Module '"(\S+)"' has no exported member '(\w+)'/
  return {
    kind: 'import',
    question: 'The build fails at an import. Which file, and which name should it import?',
    stages: [
      {
        tool: 'build',
        args: () => ({}),
        needs: [{ name: 'error', pattern: () => 'error TS', find: (text) => ERROR.exec(text) ?? undefined }],
      },
      {
        tool: 'read_file',
        args: ({ error: [, , path] }) => ({ path }),
        needs: [
          {
            name: 'name',
            pattern: ({ error: [, , , wrong] }) => `export function ${wrong.slice(0, 3)}`,
            find: (text, { error: [, , , wrong] }) =>
              [...text.matchAll(/export function (\w+)/g)]
                .map(([, name]) => name)
                .find((name) => isNear(name, wrong)),
          },
        ],
      },
    ],
    answer: ({ error: [, file], name }) => `${name} in ${file}`,
    expected: `${name} in ${user}`,
    tools: {
      build: { type: 'command', run: () => output(random, range, build, [error]) },
      read_file: {
        type: 'file',
        run: () => output(random, range, source, [`export function ${name}(total: number): string {`]),
      },
    },
  }
}

const COLUMNS = ['customer', 'amount', 'city', 'status', 'reference']
const CELLS = {
  customer: (random) => capital(word(random)),
  amount: ({ below }) => `${below(9_000)}.${pad(below(100), 2)}`,
  city: (random) => capital(word(random, 2)),
  status: ({ pick }) => pick(['paid', 'open', 'failed', 'error']),
  reference: ({ below }) => String(10_000_000 + below(90_000_000)),
}

/** Forms of a table: a row, its columns, and how a reader takes the amount from a shown line. */
const TABLES = [
  {
    first: (names) => [names.join(',')],
    row: (cells) => cells.map(([, cell]) => cell).join(','),
    split: (line) => line.split(','),
    columns: /(?:^|\n|: )(order,[\w,]+)/,
    rowOf: (order) => new RegExp(`(?:^|\\n|: )(${order},[^\\n]*)`),
  },
  {
    first: (names) => [`| ${names.join(' | ')} |`, `|${' --- |'.repeat(names.length)}`],
    row: (cells) => `| ${cells.map(([, cell]) => cell).join(' | ')} |`,
    split: (line) => line.slice(2, -2).split(' | '),
    columns: /(\| order \|[^\n]*\|)/,
    rowOf: (order) => new RegExp(`(\\| ${order} \\|[^\\n]*\\|)`),
  },
  {
    first: () => [],
    row: (cells) => JSON.stringify(Object.fromEntries(cells)),
    split: (line) => Object.values(JSON.parse(line)),
    names: (line) => Object.keys(JSON.parse(line)),
    rowOf: (order) => new RegExp(`(\\{"order":"${order}"[^\\n]*\\})`),
  },
]

function tableTask(random, range) {
  const form = random.pick(TABLES)
  const order = String(10_000_000 + random.below(90_000_000))
  const names = ['order', ...[...COLUMNS].sort(() => random.next() - 0.5)]
  const rowOf = (order) => names.map((name) => [name, name === 'order' ? order : CELLS[name](random)])
  const wanted = rowOf(order)
  const seen = (pattern) => (text) => pattern.exec(text)?.[1]
  const needs = [{ name: 'row', pattern: () => order, find: seen(form.rowOf(order)) }]
  if (form.columns) needs.unshift({ name: 'columns', pattern: () => 'amount', find: seen(form.columns) })
  const noise = () => form.row(rowOf(CELLS.reference(random)))
  return {
    kind: 'table',
    question: `What is the amount of order ${order}?`,
    stages: [{ tool: 'query', args: () => ({ table: 'orders' }), needs }],
    answer: ({ columns, row }) => {
      const names = form.names ? form.names(row) : form.split(columns)
      return form.split(row)[names.indexOf('amount')]
    },
    expected: Object.fromEntries(wanted).amount,
    tools: {
      query: {
        type: 'server',
        run: () => output(random, range, noise, [form.row(wanted)], { first: form.first(names) }),
      },
    },
  }
}

function pathTask(random, range) {
  const deploy = `d-${10_000 + random.below(90_000)}`
  const config = `conf/${word(random)}.yaml`
  const [service, team, person] = [
    `${word(random, 2)}-${random.below(9)}`,
    word(random),
    capital(word(random)),
  ]
  const need = (name, pattern, find) => ({
    name,
    pattern: () => pattern,
    find: (text) => find.exec(text)?.[1],
  })
  const stage = (tool, args, one) => ({ tool, args, needs: [one] })
  const tool = (type, noise, line) => ({ type, run: () => output(random, range, noise, [line]) })
  const comment = (random) =>
    `> ${word(random)} ${word(random)} ${word(random)}, since d-${random.below(9_999)} ${word(random)}`
  const log = (random) =>
    `${clock(random)} ${random.pick(['INFO', 'INFO', 'DEBUG', 'WARN'])} ${word(random)}: read conf/${word(random)}.json in ${random.below(99)} ms`
  const yaml = (random) => `${word(random)}_${word(random)}: ${word(random, 2)}-${random.below(9)}`
  const record = (random) => `  "${word(random)}.${word(random)}": "${word(random)}",`
  const people = (random) => `${capital(word(random))} <${word(random)}@example.com> joined ${word(random)}`
  return {
    kind: 'path',
    question:
      'Which person is on call for the service behind issue 7? The issue names the deploy that caused it, the log of the ' +
      'deploy the config that it rejected, the config its upstream, the service its owner, and the team who is on call.',
    stages: [
      stage('issue', () => ({ number: 7 }), need('deploy', 'Caused by', /Caused by deploy (d-\d+)/)),
      stage(
        'deploy_log',
        ({ deploy }) => ({ deploy }),
        need('config', 'rejected', /ERROR config: rejected (\S+\.yaml)/),
      ),
      stage('read_file', ({ config }) => ({ path: config }), need('service', 'upstream:', /upstream: (\S+)/)),
      stage('service', ({ service }) => ({ name: service }), need('team', '"owner"', /"owner": "(\w+)"/)),
      stage('team', ({ team }) => ({ name: team }), need('person', 'on call', /(\w+) is on call/)),
    ],
    answer: ({ person }) => person,
    expected: person,
    tools: {
      issue: tool('server', comment, `Caused by deploy ${deploy}, as bisected.`),
      deploy_log: tool(
        'command',
        log,
        `${clock(random)} ERROR config: rejected ${config}, the deploy goes on`,
      ),
      read_file: tool('file', yaml, `upstream: ${service}`),
      service: tool('server', record, `  "owner": "${team}",`),
      team: tool('server', people, `${person} is on call this week`),
    },
  }
}

const KINDS = [testTask, importTask, tableTask, pathTask]

/** Bytes of an output, at least and at most. */
export const RANGE = [10_000, 5_000_000]

/** Makes a task. Its outputs are made when they are asked for, and are the same for each policy. */
export function taskOf(number, range = RANGE) {
  const task = KINDS[number % KINDS.length](randomOf(1_000 + number), range)
  const made = new Map()
  const run = (name) => {
    const tool = task.tools[name]
    if (!made.has(name)) made.set(name, tool.run())
    return made.get(name)
  }
  // In one order, whatever a policy leads the agent to ask first.
  for (const name of Object.keys(task.tools)) run(name)
  return { ...task, run, typeOf: (name) => task.tools[name].type }
}

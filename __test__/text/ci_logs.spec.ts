import { clampText } from 'spillway'
import { describe, expect, it } from 'vitest'

/** Returns lines that say nothing of a failure. */
const noise = (count: number, line: (n: number) => string | string[]) =>
  lines(...Array.from({ length: count }, (_, n) => line(n)).flat())
const lines = (...all: string[]) => all.map((line) => `${line}\n`).join('')
const time = (n: number) => `2026-03-0${1 + (n % 9)}T10:${String(n % 60).padStart(2, '0')}:11.123Z`

/** Logs as tools write them, in the main things, and what a reader needs of each. */
const logs: Record<string, [log: string, needed: string[]]> = {
  Maven: [
    noise(400, (i) => `[INFO] Downloading from central: https://repo/x/${i}.jar`) +
      lines(
        '[INFO] -------------',
        '[ERROR] COMPILATION ERROR : ',
        '[INFO] -------------',
        '[ERROR] /app/src/main/java/Foo.java:[12,8] cannot find symbol',
        '  symbol:   class Bar',
        '  location: class Foo',
        '[INFO] 1 error',
      ) +
      noise(300, (i) => `[INFO] step ${i}`) +
      lines('[INFO] BUILD FAILURE') +
      noise(200, (i) => `[ERROR] Re-run Maven using the -X switch ${i}`),
    ['cannot find symbol', 'class Bar', 'BUILD FAILURE'],
  ],
  'go test': [
    noise(900, (i) => [`=== RUN   TestThing${i}`, `--- PASS: TestThing${i} (0.00s)`]) +
      lines('=== RUN   TestOdd', '    odd_test.go:33: got 3, want 4', '--- FAIL: TestOdd (0.01s)') +
      noise(900, (i) => [`=== RUN   TestLate${i}`, `--- PASS: TestLate${i} (0.00s)`]) +
      lines('FAIL', 'FAIL\tgithub.com/x/y\t0.31s') +
      noise(80, (i) => `ok  \tgithub.com/x/z${i}\t0.1s`) +
      lines('FAIL'),
    ['got 3, want 4', '--- FAIL: TestOdd', 'github.com/x/y'],
  ],
  RSpec: [
    noise(60, () => '.'.repeat(160)) +
      lines(
        '',
        'Failures:',
        '',
        '  1) Cart adds items',
        '     Failure/Error: expect(cart.total).to eq(3)',
        '',
        '       expected: 3',
        '            got: 2',
        '',
        "     # ./spec/cart_spec.rs:12:in `block (2 levels)'",
        '',
      ) +
      noise(200, (i) => `  ${i}.1 seconds ./spec/slow_${i}_spec.rs`) +
      lines(
        '812 examples, 1 failure',
        '',
        'Failed examples:',
        '',
        'rspec ./spec/cart_spec.rs:10 # Cart adds items',
      ) +
      noise(200, (i) => `Coverage line ${i}`),
    ['got: 2', 'Cart adds items', '812 examples, 1 failure', 'spec/cart_spec.rs:12'],
  ],
  'docker compose': [
    noise(500, (i) => `web-1       | 10.0.0.${i % 255} GET /x 200`) +
      lines('db-1        | FATAL:  password authentication failed for user "app"') +
      noise(500, (i) => `database-2  | checkpoint ${i} complete`) +
      lines('web-1 exited with code 3') +
      noise(100, (i) => `Container x-${i}  Removed`),
    ['password authentication failed', 'exited with code 3'],
  ],
  'GitLab and ESLint': [
    noise(300, (i) => `section_start:1${i}:step`) +
      lines('Running with gitlab-runner 16', '$ npm run lint') +
      noise(300, (i) => [`/builds/a/src/f${i}.ts`, `  ${i}:3  warning  Unexpected any  no-any`]) +
      lines(
        '/builds/a/src/bad.ts',
        "  44:10  error  'x' is never reassigned. Use const instead  prefer-const",
        '',
        '✖ 301 problems (1 error, 300 warnings)',
      ) +
      noise(150, (i) => `Uploading artifacts ${i}`) +
      lines('ERROR: Job failed: exit code 1'),
    ['prefer-const', 'src/bad.ts', '301 problems', 'Job failed: exit code 1'],
  ],
  'dotnet test': [
    noise(700, (i) => `  Passed Shop.Tests.Case${i} [${i % 9} ms]`) +
      lines(
        '  Failed Shop.Tests.Tax.Rounds [12 ms]',
        '  Error Message:',
        '   Assert.Equal() Failure: Values differ',
        'Expected: 19',
        'Actual:   7',
        '  Stack Trace:',
        '     at Shop.Tests.Tax.Rounds() in /src/Tax.cs:line 41',
      ) +
      noise(700, (i) => `  Passed Shop.Tests.More${i} [1 ms]`) +
      lines('Failed!  - Failed:     1, Passed:  1400, Skipped:     0, Total:  1401') +
      noise(90, (i) => `Attachment ${i}`),
    ['Shop.Tests.Tax.Rounds', 'Actual:   7', 'Failed:     1, Passed:  1400', 'Tax.cs:line 41'],
  ],
  GoogleTest: [
    noise(900, (i) => [`[ RUN      ] A.B${i}`, `[       OK ] A.B${i} (0 ms)`]) +
      lines(
        '[ RUN      ] Geo.Area',
        '../geo_test.cc:88: Failure',
        'Expected equality of these values:',
        '  area',
        '    Which is: 11',
        '  12',
        '[  FAILED  ] Geo.Area (0 ms)',
      ) +
      noise(900, (i) => [`[ RUN      ] C.D${i}`, `[       OK ] C.D${i} (0 ms)`]) +
      lines(
        '[  PASSED  ] 1800 tests.',
        '[  FAILED  ] 1 test, listed below:',
        '[  FAILED  ] Geo.Area',
        '',
        ' 1 FAILED TEST',
      ),
    ['geo_test.cc:88', 'Which is: 11', '1 FAILED TEST'],
  ],
  Terraform: [
    noise(500, (i) => `aws_x.y[${i}]: Refreshing state... [id=i-${i}]`) +
      lines(
        '╷',
        '│ Error: creating S3 Bucket (logs): BucketAlreadyExists',
        '│ ',
        '│   with aws_s3_bucket.logs,',
        '│   on main.tf line 12, in resource "aws_s3_bucket" "logs":',
        '│   12: resource "aws_s3_bucket" "logs" {',
        '│ ',
        '╵',
      ) +
      noise(200, (i) => `Releasing lock ${i}`),
    ['BucketAlreadyExists', 'main.tf line 12'],
  ],
  Bazel: [
    noise(900, (i) => `[${i} / 2,000] Compiling src/${i}.cc`) +
      lines(
        'ERROR: /w/src/BUILD:7:11: Compiling src/a.cc failed: (Exit 1): gcc failed: error executing command',
        "src/a.cc:5:3: error: use of undeclared identifier 'foo'",
      ) +
      noise(300, (i) => `INFO: note ${i}`) +
      lines('FAILED: Build did NOT complete successfully') +
      noise(200, (i) => `//pkg:t${i}  PASSED in 0.${i}s`) +
      lines('//pkg:odd  FAILED in 3.1s'),
    ['undeclared identifier', 'Build did NOT complete', '//pkg:odd  FAILED'],
  ],
  'tsc with 24 errors': [
    noise(400, (i) => `built ${i}`) +
      noise(24, (i) => `src/pages/p${i}/index.ts(3,20): error TS2307: Cannot find module '@/lib/${i}'.`) +
      noise(400, (i) => `cached ${i}`) +
      lines('Found 24 errors in 24 files.'),
    [...Array.from({ length: 24 }, (_, i) => `src/pages/p${i}/index.ts`), 'Found 24 errors'],
  ],
  'GitHub and TAP': [
    noise(800, (i) => `build\tRun tests\t${time(i)} ok ${i} - works`) +
      lines(
        `build\tRun tests\t${time(1)} not ok 801 - rounds the tax`,
        `build\tRun tests\t${time(1)}   ---`,
        `build\tRun tests\t${time(1)}   expected: 19`,
        `build\tRun tests\t${time(1)}   actual: 7`,
        `build\tRun tests\t${time(1)}   ...`,
      ) +
      noise(800, (i) => `build\tRun tests\t${time(i)} ok ${i + 802} - works`) +
      lines(
        `build\tRun tests\t${time(1)} # fail 1`,
        `build\tRun tests\t${time(1)} ##[error]Process completed with exit code 1.`,
      ) +
      noise(150, (i) => `build\tPost\t${time(i)} cleanup ${i}`),
    ['rounds the tax', 'actual: 7', 'exit code 1', '# fail 1'],
  ],
  BuildKit: [
    noise(600, (i) => `#${7 + (i % 5)} ${i / 10}0 fetched ${i}`) +
      lines('#41 [app 4/9] RUN npm run compile') +
      noise(200, (i) => `#${7 + (i % 5)} ${60 + i / 10}0 unpacked ${i}`) +
      lines("#41 12.41 src/x.time(4,2): error TS1005: ';' expected.") +
      noise(200, (i) => `#${7 + (i % 5)} ${80 + i / 10}0 unpacked ${i}`) +
      lines('#41 ERROR: process "/bin/sh -c npm run compile" did not complete successfully: exit code: 2') +
      noise(200, (i) => `#${7 + (i % 5)} CANCELED ${i}`),
    ['TS1005', '[app 4/9] RUN npm run compile', 'exit code: 2'],
  ],
  PHPUnit: [
    noise(60, () => '.'.repeat(60)) +
      lines(
        '',
        'There was 1 failure:',
        '',
        '1) TaxTest::testRounds',
        'Failed asserting that 7 matches expected 19.',
        '',
        '/app/tests/TaxTest.php:21',
        '',
        'FAILURES!',
        'Tests: 812, Assertions: 3000, Failures: 1.',
      ) +
      noise(400, (i) => `Generating report ${i}`),
    ['TaxTest::testRounds', 'Failed asserting', 'TaxTest.php:21', 'Failures: 1'],
  ],
  syslog: [
    noise(900, (i) => `Mar  ${1 + (i % 9)} 10:00:0${i % 9} host1 app[${i}]: served ${i}`) +
      lines('Mar  4 10:00:04 host1 kernel: [123.4] Out of memory: Killed process 812 (node)') +
      noise(900, (i) => `Mar  ${1 + (i % 9)} 10:00:0${i % 9} host1 app[${i}]: served ${i}`),
    ['Killed process 812'],
  ],
  'a Go panic among sources': [
    noise(400, (i) => [
      `func f${i}() error {`,
      `\tif err != nil {`,
      `\t\treturn fmt.Errorf("failed to read %s: %w", name${i}, err)`,
      `\t}`,
      `}`,
    ]) +
      lines(
        'panic: runtime error: index out of range [3] with length 3',
        '',
        'goroutine 1 [running]:',
        'main.main()',
        '\t/app/main.go:9 +0x1d',
        'exit status 2',
      ) +
      noise(400, (i) => `catch (error) { throw new Error("failed ${i}") }`),
    ['index out of range', 'main.go:9', 'exit status 2'],
  ],
  Jenkins: [
    noise(500, (i) => `[2026-03-01T10:00:00.${100 + i}Z] [INFO] compiled module ${i}`) +
      lines(
        '[2026-03-01T10:09:00.1Z] + ./deploy.sh staging',
        '[2026-03-01T10:09:01.1Z] ssh: connect to host stage port 22: Connection refused',
      ) +
      noise(300, (i) => `[2026-03-01T10:10:00.${100 + i}Z] Archiving ${i}`) +
      lines('[2026-03-01T10:11:00Z] script returned exit code 255', 'Finished: FAILURE'),
    ['Connection refused', 'deploy.sh staging', 'exit code 255', 'Finished: FAILURE'],
  ],
  pip: [
    noise(300, (i) => `Collecting pkg${i}`) +
      lines(
        '  error: subprocess-exited-with-error',
        '  ',
        '  × Building wheel for foo (pyproject.toml) did not run successfully.',
        '  │ exit code: 1',
        '  ╰─> [120 lines of output]',
      ) +
      noise(120, (i) => `      copying foo/m${i}.py -> build`) +
      lines(
        '      fatal error: Python.h: No such file or directory',
        '      compilation terminated.',
        '      [end of output]',
      ) +
      noise(200, (i) => `Cleaning ${i}`) +
      lines('ERROR: Failed building wheel for foo'),
    ['Python.h', 'Failed building wheel', 'exit code: 1'],
  ],
  kubectl: [
    noise(600, (i) => `pod/web-${i}  1/1  Running  0  ${i}m`) +
      lines(
        'pod/api-7  0/1  CrashLoopBackOff  12  40m',
        'Warning  BackOff  2m (x12)  kubelet  Back-off restarting failed container',
        'Last State: Terminated',
        '  Reason: OOMKilled',
        '  Exit Code: 137',
      ) +
      noise(600, (i) => `pod/db-${i}  1/1  Running  0  ${i}m`),
    ['CrashLoopBackOff', 'OOMKilled', 'Exit Code: 137'],
  ],
}

describe.each([4_000, 8_000])("keep 'findings' within %i chars", (maxChars) => {
  it.each(Object.entries(logs))('keeps what went wrong in a log of %s', (_, [log, needed]) => {
    const cut = clampText(log, { keep: 'findings', maxChars })
    expect(cut.length).toBeLessThanOrEqual(maxChars)
    expect(needed.filter((text) => !cut.includes(text))).toEqual([])
  })
})

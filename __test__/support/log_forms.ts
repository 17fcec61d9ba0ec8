/** Logs of a failed run as tools print them: lines that say nothing, and one that says what
 *  failed. */

type Line = (n: number, of: number) => string

const at = (n: number) => `${String(10 + (Math.floor(n / 3600) % 10))}:${two(n / 60)}:${two(n)}`
const two = (n: number) => String(Math.floor(n) % 60).padStart(2, '0')
const level = (n: number) => ['debug', 'info', 'info', 'info'][n % 4] as string

/** The lines of each form, and the one line that explains the failure. */
const FORMS: Record<string, readonly [line: Line, error: string]> = {
  kbuild: [
    (n) => `  CC [M]  drivers/net/port${n % 700}/ring${n}.o`,
    'drivers/net/port9/ring.c:88:14: error: too few arguments to function',
  ],
  pino: [
    (n) => `{"level":30,"time":17480${n},"pid":7,"msg":"request ${n} took ${n % 90} ms"}`,
    '{"level":50,"time":1748042,"pid":7,"msg":"pool is drained, no berth left"}',
  ],
  zap: [
    (n) => `{"level":"${level(n)}","ts":17480${n}.25,"caller":"dock/run.go:40","msg":"tick ${n}"}`,
    '{"level":"error","ts":1748042.25,"caller":"dock/run.go:77","msg":"lease is gone"}',
  ],
  nginx: [
    (n) => `10.0.${n % 250}.7 - - [03/Mar/2026:${at(n)} +0000] "GET /item/${n} HTTP/1.1" 200 ${n % 9000} "-"`,
    '10.0.9.7 - - [03/Mar/2026:11:02:03 +0000] "POST /pay HTTP/1.1" 502 157 "-"',
  ],
  klog: [
    (n) => `I0303 ${at(n)}.12${n % 900}       1 sync.go:${n % 400}] Synced node-${n % 40} in ${n % 50}ms`,
    'E0303 11:02:03.120000       1 sync.go:210] Failed to update node-7: the lease is held by another',
  ],
  compose: [
    (n) => `web-1  | ${at(n)} handled job ${n}`,
    'db-1   | 11:02:03 FATAL:  could not open relation mapping file',
  ],
  terraform: [
    (n) => `aws_subnet.pier[${n}]: Still creating... [${n % 90}s elapsed]`,
    '│ Error: creating EC2 Subnet: the range overlaps with another subnet',
  ],
  ansible: [
    (n) => `ok: [host-${n % 300}] => (item=package-${n})`,
    'fatal: [host-17]: FAILED! => {"changed": false, "msg": "No space left"}',
  ],
  'npm http': [
    (n) => `npm http fetch GET 200 https://registry.example/pack-${n} ${n % 400}ms (cache miss)`,
    'npm error notarget No matching version found for dock-ring@^9.0.0.',
  ],
  pip: [
    (n) =>
      `Collecting pier-${n}==1.${n % 9}\n  Downloading pier_${n}-1.${n % 9}-py3-none-any.whl (${n % 90} kB)`,
    'ERROR: Could not find a version that satisfies the requirement berth==99',
  ],
  gradle: [
    (n) => `> Task :module-${n}:compileJava UP-TO-DATE`,
    'Ring.java:17: error: incompatible types: String cannot be converted to int',
  ],
  maven: [
    (n) => `[INFO] Downloaded from central: https://repo.example/pier/${n}.jar (${n % 90} kB)`,
    '[ERROR] /src/main/java/Ring.java:[17,9] cannot find symbol',
  ],
  webpack: [
    (n, of) => `<i> [webpack.Progress] ${((100 * n) / of).toFixed(2)}% building ${n}/${of} modules`,
    "Module not found: Error: Can't resolve './ring' in '/src/dock'",
  ],
  docker: [
    (n) => `#12 ${(n / 10).toFixed(1)} Unpacking libpier${n}:amd64 (1.${n % 9}-1) ...`,
    '#12 431.9 E: Unable to locate package libring-dev',
  ],
  jest: [(n) => `PASS src/dock/berth${n}.test.ts (${n % 90} ms)`, '  ● Ring › refuses a closed berth'],
  tsc: [
    (n, of) => `[${n + 1}/${of}] compiled module ${n + 1}`,
    "src/ring.ts:7:12 - error TS2304: Cannot find name 'berth'.",
  ],
  'tsc, paths': [
    (n) => `TSFILE: /app/dist/dock/part${n % 900}/file${n}.js`,
    "src/ring.ts(7,12): error TS2304: Cannot find name 'berth'.",
  ],
}

/** Returns each form with this many lines, and its one line of failure at three fifths. */
export function logForms(count: number): { name: string; text: string; error: string }[] {
  return Object.entries(FORMS).map(([name, [line, error]]) => {
    const lines = Array.from({ length: count }, (_, n) => line(n, count))
    lines.splice(Math.floor(count * 0.6), 0, error)
    return { name, text: `${lines.join('\n')}\n`, error }
  })
}

// The forms in which a name gives its value to a secret, for tests and the soak of redaction.

const WORD = /^\w+$/

/**
 * The forms of src/redact/form.rs around a value of letters and digits. `takes` matches the names
 * that a form can have.
 */
export const forms = {
  env: { make: (name, value) => `${name}=${value}`, takes: WORD },
  export: { make: (name, value) => `export ${name}="${value}"`, takes: WORD },
  declare: { make: (name, value) => `declare -x ${name}="${value}"`, takes: WORD },
  fish: { make: (name, value) => `set -gx ${name} ${value}`, takes: WORD },
  setenv: { make: (name, value) => `setenv ${name} ${value}`, takes: WORD },
  yaml: { make: (name, value) => `  ${name}: ${value}` },
  yamlQuoted: { make: (name, value) => `${name}: '${value}'` },
  yamlBlock: { make: (name, value) => `${name}: |\n    ${value}` },
  yamlIndented: { make: (name, value) => `${name}: |2\n    ${value}` },
  header: { make: (name, value) => `${name}: ${value}\r` },
  curl: { make: (name, value) => `curl -H '${name}: ${value}' https://pier.example` },
  ini: { make: (name, value) => `${name} = ${value}` },
  toml: { make: (name, value) => `${name} = "${value}"` },
  json: { make: (name, value) => JSON.stringify({ id: 7, [name]: value, ok: true }), isJson: true },
  jsonSpaced: { make: (name, value) => JSON.stringify({ [name]: value }, null, 2), isJson: true },
  jsonInJson: {
    make: (name, value) => JSON.stringify({ body: JSON.stringify({ [name]: value }) }),
    isJson: true,
  },
  jsonEnv: {
    make: (name, value) => JSON.stringify({ Env: [`${name}=${value}`, 'A=1'] }),
    isJson: true,
    takes: WORD,
  },
  jsonPair: { make: (name, value) => JSON.stringify([{ name, value }]), isJson: true },
  jsonHeld: { make: (name, value) => JSON.stringify({ [name]: { value } }), isJson: true },
  jsonTuple: { make: (name, value) => JSON.stringify([[name, value]]), isJson: true },
  yamlPair: { make: (name, value) => `- name: ${name}\n  value: ${value}` },
  python: { make: (name, value) => `{'${name}': '${value}', 'n': 1}` },
  index: { make: (name, value) => `config["${name}"] = '${value}'` },
  go: { make: (name, value) => `${name} := "${value}"`, takes: WORD },
  goTyped: { make: (name, value) => `var ${name} string = "${value}"`, takes: WORD },
  rust: { make: (name, value) => `const ${name}: &str = "${value}";`, takes: WORD },
  typescript: { make: (name, value) => `let ${name}: string = \`${value}\``, takes: WORD },
  csharp: { make: (name, value) => `string ${name} = "${value}";`, takes: WORD },
  php: { make: (name, value) => `'${name}' => '${value}',` },
  make: { make: (name, value) => `${name} ?= ${value}`, takes: WORD },
  makeOnce: { make: (name, value) => `${name} ::= "${value}"`, takes: WORD },
  call: { make: (name, value) => `setProperty("${name}", "${value}")` },
  setter: { make: (name, value) => `client.set_${name}('${value}')`, takes: WORD },
  define: { make: (name, value) => `#define ${name} "${value}"`, takes: WORD },
  table: { make: (name, value) => `| ${name} | ${value} |` },
  multipart: { make: (name, value) => `form-data; name="${name}"\r\n\r\n${value}\r\n--x` },
  element: { make: (name, value) => `<${name}>${value}</${name}>` },
  elementLines: { make: (name, value) => `<${name}>\n    ${value}\n</${name}>` },
  attributes: { make: (name, value) => `<add key="${name}" value="${value}" />` },
  android: { make: (name, value) => `<string name="${name}">${value}</string>` },
  query: { make: (name, value) => `GET /items?page=2&${name}=${value}&sort=up` },
  connection: { make: (name, value) => `Server=db;${name}=${value};Encrypt=true`, takes: WORD },
  flag: { make: (name, value) => `tool --${name} ${value} --verbose`, takes: /^[a-z-]+$/ },
  flagEqual: { make: (name, value) => `tool --${name}=${value} run`, takes: /^[a-z-]+$/ },
  powershell: { make: (name, value) => `$env:${name} = "${value}"`, takes: WORD },
  npmrc: { make: (name, value) => `//pier.example/:_${name}=${value}`, takes: WORD },
  cutOff: { make: (name, value) => `{"${name}": "${value}` },
}

// Prints a bill of materials in the form of CycloneDX 1.6, `node scripts/release/sbom.mjs`: the
// crates that are linked into an engine and the modules that are bundled. The same checkout prints
// the same bill.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundledModules, linkedCrates, root } from './linked.mjs'

const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

function component({ kind, name, version, license, repository, hash }) {
  const purl = `pkg:${kind}/${name.replace('@', '%40')}@${version}`
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    licenses: [{ expression: license.replaceAll('/', ' OR ') }],
    hashes: [hash],
    ...(repository && { externalReferences: [{ type: 'vcs', url: repository }] }),
  }
}

const components = [...linkedCrates(), ...bundledModules()].map(component)
const ref = `pkg:npm/${name}@${version}`
const digest = createHash('sha256')
  .update(JSON.stringify([ref, components]))
  .digest('hex')
const uuid = digest.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-5$3-8$4-$5')
const bill = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  serialNumber: `urn:uuid:${uuid}`,
  version: 1,
  metadata: {
    component: {
      type: 'library',
      'bom-ref': ref,
      name,
      version,
      purl: ref,
      licenses: [{ expression: license }],
    },
  },
  components,
  dependencies: [{ ref, dependsOn: components.map((part) => part['bom-ref']) }],
}
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`)

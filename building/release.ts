import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Manifest } from './package/manifest.ts'
import { packInto } from './package/pack.ts'
import { artifactOf, provenanceOf, sourceOf } from './package/provenance.ts'
import { reasonsAgainstPublishing } from './package/publishing.ts'
import { sbomOf } from './package/sbom.ts'
import { chart, figures, image } from './package/supplements.ts'

/*
 * Makes what a release consists of in lib/release: the package, a CycloneDX list of all packages in it, its provenance,
 * the chart, the image if a container engine runs, conformance matrix, benchmark and checksums. Publishes nothing; npm
 * refuses to publish the package while there are reasons against it.
 */

const ROOT = join(import.meta.dirname, '..')
const RELEASE = join(ROOT, 'lib/release')

const source = sourceOf(ROOT)
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
const version = String(manifest['version'])
const against = reasonsAgainstPublishing(manifest)
// Listed before the package is built, which leaves files in node_modules that npm takes for changed packages.
const list = sbomOf(ROOT)
rmSync(RELEASE, { recursive: true, force: true })
mkdirSync(RELEASE, { recursive: true })

const packed = await packInto(ROOT, RELEASE, against.length === 0)
const stem = packed.replace(/\.tgz$/, '')
const artifact = artifactOf(packed, readFileSync(join(RELEASE, packed)))
write(`${stem}.cdx.json`, list)
write(`${stem}.provenance.json`, provenanceOf(artifact, source, process.version))
const supplements = [
  ...[chart(ROOT, RELEASE, version), ...figures(ROOT, RELEASE, version)],
  image(ROOT, RELEASE, version),
]
const files = [packed, `${stem}.cdx.json`, `${stem}.provenance.json`]
for (const one of supplements) if ('file' in one) files.push(one.file)
const sums = files.map(file => `${artifactOf(file, readFileSync(join(RELEASE, file))).sha256}  ${file}\n`)
writeFileSync(join(RELEASE, 'SHA256SUMS'), sums.join(''))

console.log(`The release is in ${RELEASE}.`)
for (const one of supplements) if ('missing' in one) console.log(one.missing)
console.log(
  against.length === 0
    ? `To publish it: npm publish lib/release/${packed}`
    : `It cannot be published, because ${against.join(' and ')}.`,
)

function write(file: string, value: object): void {
  writeFileSync(join(RELEASE, file), `${JSON.stringify(value, null, 2)}\n`)
}

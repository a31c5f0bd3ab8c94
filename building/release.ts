import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Manifest, restoreManifest } from './package/manifest.ts'
import { artifactOf, provenanceOf, sourceOf } from './package/provenance.ts'
import { reasonsAgainstPublishing } from './package/publishing.ts'
import { sbomOf } from './package/sbom.ts'

/*
 * Makes what a release consists of in lib/release: the package, a CycloneDX list of all packages in it, its provenance
 * and checksums. Publishes nothing; npm refuses to publish the package while there are reasons against it.
 */

const ROOT = join(import.meta.dirname, '..')
const RELEASE = join(ROOT, 'lib/release')

const source = sourceOf(ROOT)
const against = reasonsAgainstPublishing(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest)
const list = sbomOf(ROOT)
const packed = pack()
// Packing empties `lib`, so that the package moves there afterwards.
rmSync(RELEASE, { recursive: true, force: true })
mkdirSync(RELEASE, { recursive: true })
renameSync(join(ROOT, packed), join(RELEASE, packed))

const stem = packed.replace(/\.tgz$/, '')
const artifact = artifactOf(packed, readFileSync(join(RELEASE, packed)))
write(`${stem}.cdx.json`, list)
write(`${stem}.provenance.json`, provenanceOf(artifact, source, process.version))
const files = [packed, `${stem}.cdx.json`, `${stem}.provenance.json`]
const sums = files.map(file => `${artifactOf(file, readFileSync(join(RELEASE, file))).sha256}  ${file}\n`)
writeFileSync(join(RELEASE, 'SHA256SUMS'), sums.join(''))

console.log(`The release is in ${RELEASE}.`)
console.log(
  against.length === 0
    ? `To publish it: npm publish lib/release/${packed}`
    : `It cannot be published, because ${against.join(' and ')}.`,
)

/** Packs the package, and restores package.json even if npm fails. */
function pack(): string {
  const env = { ...process.env, INTERLINGUA_RELEASE: against.length === 0 ? 'true' : 'false' }
  try {
    const out = execFileSync('npm', ['pack', '--silent'], { cwd: ROOT, env, encoding: 'utf8' })
    return out.trim().split('\n').at(-1)!
  } finally {
    restoreManifest(ROOT)
  }
}

function write(file: string, value: object): void {
  writeFileSync(join(RELEASE, file), `${JSON.stringify(value, null, 2)}\n`)
}

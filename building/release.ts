import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * Makes what a release consists of in lib/release: the package, which npm would publish, and a CycloneDX list of all
 * packages in it. Publishes nothing.
 */

const ROOT = join(import.meta.dirname, '..')
const RELEASE = join(ROOT, 'lib/release')

/** Maximum size of a list of packages, in bytes. */
const MAX_LIST = 64 * 1024 * 1024

const npm = (words: readonly string[], env: NodeJS.ProcessEnv = {}): string =>
  execFileSync('npm', words, { cwd: ROOT, env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: MAX_LIST })

rmSync(RELEASE, { recursive: true, force: true })
// Packing empties `lib`, so that the package moves there afterwards.
const packed = npm(['pack', '--silent'], { INTERLINGUA_RELEASE: 'true' }).trim().split('\n').at(-1)!
mkdirSync(RELEASE, { recursive: true })
renameSync(join(ROOT, packed), join(RELEASE, packed))
const list = npm(['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--omit', 'dev'])
writeFileSync(join(RELEASE, packed.replace(/\.tgz$/, '.cdx.json')), list)
console.log(`The release is in ${RELEASE}.`)

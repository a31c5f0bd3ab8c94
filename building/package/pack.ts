import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { buildIfStale } from '../../console/building/build.ts'
import { bundleServerInto } from '../bundle.ts'
import { type Manifest, packageManifest } from './manifest.ts'
import { buildModules } from './modules.ts'

/**
 * Builds the package and packs it in a folder of its own with a manifest of its own, so that a failure leaves nothing
 * behind in the repository.
 *
 * @param destination existing folder for the package.
 * @param mayPublish whether npm may publish the package.
 * @returns the file name of the package.
 */
export async function packInto(root: string, destination: string, mayPublish: boolean): Promise<string> {
  const packages = await buildParts(root)
  const staging = mkdtempSync(join(tmpdir(), 'interlingua-pack-'))
  try {
    stage(root, staging, packages, mayPublish)
    const out = npm(['pack', '--silent', '--ignore-scripts', '--pack-destination', destination], staging)
    return out.trim().split('\n').at(-1)!
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** Builds what the package contains below `lib`. Returns the names of the packages that it imports. */
async function buildParts(root: string): Promise<readonly string[]> {
  const lib = join(root, 'lib')
  for (const folder of ['server', 'modules']) rmSync(join(lib, folder), { recursive: true, force: true })
  mkdirSync(lib, { recursive: true })
  await buildIfStale()
  const ofServer = await bundleServerInto(join(lib, 'server'))
  const ofModules = await buildModules(root, join(lib, 'modules'))
  return [...new Set([...ofServer, ...ofModules])].sort()
}

/** Copies the files of the package, as npm selects them, and writes its manifest. */
export function stage(root: string, staging: string, packages: readonly string[], mayPublish: boolean): void {
  const [listed] = JSON.parse(npm(['pack', '--dry-run', '--json', '--ignore-scripts'], root)) as readonly Listed[]
  for (const { path } of listed!.files) {
    mkdirSync(dirname(join(staging, path)), { recursive: true })
    cpSync(join(root, path), join(staging, path))
  }
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const written = packageManifest(manifest, packages, mayPublish)
  writeFileSync(join(staging, 'package.json'), `${JSON.stringify(written, null, 2)}\n`)
}

/** The description of a package in the output of `npm pack --json`. */
interface Listed {
  readonly files: readonly { readonly path: string }[]
}

const npm = (words: readonly string[], cwd: string): string =>
  execFileSync('npm', words, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 })

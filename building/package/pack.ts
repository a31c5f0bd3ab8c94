import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildIfStale } from '../../console/building/build.ts'
import { bundleServerInto } from '../bundle.ts'
import { replaceManifest, restoreManifest } from './manifest.ts'
import { buildModules } from './modules.ts'

/*
 * Run by `npm pack`: `before` builds what the package contains below `lib` and gives it a manifest of its own; `after`
 * restores the repository's.
 */

const ROOT = join(import.meta.dirname, '../..')
const LIB = join(ROOT, 'lib')

/** Whether the package may be published. Set by `npm run release` alone, so that nothing is published by accident. */
const mayPublish = process.env['INTERLINGUA_RELEASE'] === 'true'

async function before(): Promise<void> {
  restoreManifest(ROOT)
  rmSync(LIB, { recursive: true, force: true })
  mkdirSync(LIB)
  await buildIfStale()
  const ofServer = await bundleServerInto(join(LIB, 'server'))
  const ofModules = await buildModules(ROOT, join(LIB, 'modules'))
  replaceManifest(ROOT, [...new Set([...ofServer, ...ofModules])].sort(), mayPublish)
}

if (process.argv[2] === 'before') await before()
else restoreManifest(ROOT)

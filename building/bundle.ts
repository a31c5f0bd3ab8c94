import { execFile } from 'node:child_process'
import { chmodSync, globSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import type { Rolldown } from 'vite'
import { type Built, currentBundle, DIST, hashOf, readBuilt, stampsOf, writeBuilt } from '../bin/bundle.js'
import { bundleInto, type Program } from './into.ts'
import { ascii, latePackages, undiciParts } from './plugins.ts'
import { START_OPTIONS } from './start-options.ts'

const ROOT = join(import.meta.dirname, '..')

/**
 * Prefix for the folder of a bundle that is being built, name of the file that is being written, and the maximum time
 * for both in milliseconds.
 */
const NEW = '.new-'
const UNFINISHED = /^\.new-|^built\.json\./
const ABANDONED = 3_600_000

/** Packages that few gateways load. They are not bundled. */
const EXTERNAL = [
  '@echogarden/fvad-wasm',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-http',
  '@opentelemetry/sdk-trace-base',
  '@pydantic/genai-prices',
  '@redis/client',
  '@smithy/signature-v4',
  'ajv',
  'gpt-tokenizer',
  'openid-client',
  'pg',
  'prom-client',
  'wasm-media-encoders',
]

/** Modules that depend on the location of their files on purpose, or only in code that this program never calls. */
const TOLERATED = {
  '/express/lib/view.js': 'loads template engines by name; no page here is made of a template',
  '/pino/lib/transport.js': 'starts workers for transports; the log has none',
  '/src/root.ts': 'finds the folder of the program, and says whether it is bundled',
  '/thread-stream/index.js': 'starts the workers of such transports',
}

const SERVER: Program = {
  ...{ root: ROOT, main: 'src/main.ts', external: EXTERNAL, tolerated: TOLERATED },
  plugins: [undiciParts, latePackages, ascii],
}

/**
 * Bundles the server into a folder.
 *
 * @returns the names of the packages that the bundle imports.
 */
export async function bundleServerInto(folder: string): Promise<readonly string[]> {
  const { unmovable } = await bundleInto(folder, SERVER)
  return [...EXTERNAL, ...unmovable.map(({ name }) => name)]
}

/**
 * Bundles `src` with its packages into a new folder below `dist`, makes it the current bundle and starts it once so
 * that its compiled code is cached. The previous bundle stays because running servers may still load parts of it.
 */
export async function bundleServer(): Promise<void> {
  mkdirSync(DIST, { recursive: true })
  const former = readBuilt()?.folder
  const fresh = mkdtempSync(join(DIST, NEW))
  const began = statSync(fresh).ctimeMs
  try {
    const { output } = await bundleInto(fresh, SERVER)
    const inputs = inputsOf(output)
    makeReadable(fresh)
    const made = unchanged(inputs, began)
    // The name is unique because servers may still run from another bundle of the same sources.
    const folder = `${made.hash.slice(0, 16)}-${fresh.slice(-6)}`
    renameSync(fresh, join(DIST, folder))
    writeBuilt({ folder, ...made })
    clear([folder, former, readBuilt()?.folder, 'built.json'])
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  await warmUp().catch(fault => {
    // A bundle that does not start here must not be used.
    rmSync(join(DIST, 'built.json'), { force: true })
    throw fault
  })
}

/**
 * Starts the bundle once, so that later starts find its compiled code in the cache. The code can only be reused with the
 * same options.
 */
async function warmUp(): Promise<void> {
  await promisify(execFile)(process.execPath, [...START_OPTIONS, join(ROOT, 'bin/warm-up.js')])
}

/**
 * Makes the files readable for other users. Temporary folders are private to the user who builds, and the gateway may
 * run as another user.
 */
function makeReadable(folder: string): void {
  chmodSync(folder, 0o755)
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644)
}

/**
 * Hash and stamps of the files a bundle was built from.
 *
 * @param began time the build started, by the clock of the file system, in milliseconds.
 *
 * @throws Error if one of the files has changed since then, because the bundle may contain the older version.
 */
export function unchanged(inputs: readonly string[], began: number): Pick<Built, 'hash' | 'stamps'> {
  const hash = hashOf(inputs)
  const stamps = stampsOf(inputs)
  const changed = inputs.find(path => !(stamps[path]![1]! < began))
  if (changed !== undefined) throw new Error(`${changed} was changed while it was bundled`)
  return { hash, stamps }
}

/** Removes bundles that no server needs. Bundles that other processes are building stay. */
function clear(kept: readonly (string | undefined)[]): void {
  for (const name of readdirSync(DIST)) {
    const path = join(DIST, name)
    try {
      if (kept.includes(name) || (UNFINISHED.test(name) && Date.now() - statSync(path).mtimeMs < ABANDONED)) continue
      rmSync(path, { recursive: true, force: true })
    } catch {
      // The folder belongs to another user or is gone.
    }
  }
}

/** Bundles the server unless there is a bundle of the current sources. */
export async function bundleIfStale(): Promise<void> {
  if (currentBundle() === undefined) await bundleServer()
}

/**
 * The files a bundle is built from: sources, the package.json of each package in it (which names the version), the lock
 * file, and the build scripts.
 */
function inputsOf({ output }: Rolldown.RolldownOutput): string[] {
  const modules = output
    .flatMap(one => (one.type === 'chunk' ? one.moduleIds : []))
    .map(id => relative(ROOT, id.replace(/^\0|\?.*$/g, '')))
  const sources = modules.filter(path => /^src\/.*\.ts$/.test(path))
  const packages = modules.flatMap(path => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
  const recipe = [
    ...globSync('building/*.{ts,js,cjs}', { cwd: ROOT }),
    'package.json',
    'package-lock.json',
    'tsconfig.json',
  ]
  return [...new Set([...sources, ...packages.map(path => join(path, 'package.json')), ...recipe])].sort()
}

if (import.meta.main) {
  const began = performance.now()
  await bundleServer()
  console.log(`The server was bundled in ${((performance.now() - began) / 1000).toFixed(1)} s.`)
}

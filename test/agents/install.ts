import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { COMPILED, type Compiled } from './compiled.ts'
import { download, need } from './run.ts'
import { type Package, type Pinned, VERSIONS } from './versions.ts'

/** Folder of the installed clients, outside the repository. */
export const CACHE = process.env['INTERLINGUA_AGENTS'] ?? join(homedir(), '.cache/interlingua-agents')

const PINNED: { readonly [P in Package]: Pinned } = VERSIONS

const IN_PYTHON: readonly Package[] = [
  'python',
  'aws-python',
  'cohere-py',
  'litellm',
  'semantic-kernel',
  'agno',
  'mistral',
]

const compiledOf = (name: Package): Compiled | undefined => (COMPILED as { readonly [name: string]: Compiled })[name]

/**
 * Returns the folder of a package at its pinned versions. Its name contains the version, or a hash of several versions
 * and of the program compiled with them.
 */
export function folderOf(name: Package): string {
  const pinned = PINNED[name]
  const [version, ...more] = Object.values(pinned)
  const hash = createHash('sha256').update(JSON.stringify(pinned))
  const sources = compiledOf(name)?.sources
  if (sources !== undefined) for (const file of globSync(join(sources, '*')).sort()) hash.update(readFileSync(file))
  return join(CACHE, `${name}-${more.length === 0 ? version : hash.digest('hex').slice(0, 12)}`)
}

/**
 * Installs a package if it is missing. An unfinished installation counts as missing.
 *
 * @throws Unavailable if the registry or a tool is not available; Error if the program does not compile.
 */
export function install(name: Package): void {
  const folder = folderOf(name)
  if (existsSync(folder)) return
  const pinned = PINNED[name]
  const begun = `${folder}.begun`
  rmSync(begun, { recursive: true, force: true })
  mkdirSync(begun, { recursive: true })
  console.log(`installing ${name} into ${folder}`)
  const compiled = compiledOf(name)
  if (compiled !== undefined) compiled.install(begun, pinned, join(CACHE, 'build'))
  else if (IN_PYTHON.includes(name)) python(begun, pinned)
  else node(begun, pinned)
  renameSync(begun, folder)
}

/** Scripts of packages are not run. The files that they download are also in optional packages. */
function node(folder: string, pinned: Pinned): void {
  const wanted = Object.entries(pinned).map(([name, version]) => `${name}@${version}`)
  download('npm', [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    '--fetch-retries=1',
    '--prefix',
    folder,
    ...wanted,
  ])
}

function python(folder: string, pinned: Pinned): void {
  need('python3')
  download('python3', ['-m', 'venv', folder])
  const wanted = Object.entries(pinned).map(([name, version]) => `${name}==${version}`)
  // Run as a module, because the folder is moved afterwards.
  download(join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...wanted])
}

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type Package, VERSIONS } from './versions.ts'

/** Where clients are kept, outside the repository. */
export const CACHE = process.env['INTERLINGUA_AGENTS'] ?? join(homedir(), '.cache/interlingua-agents')

type Pinned = { readonly [name: string]: string }

const PINNED: { readonly [P in Package]: Pinned } = VERSIONS

const IN_PYTHON: readonly Package[] = ['python', 'litellm']

/** The folder of a package at its pinned versions: named after the one, or a hash of several. */
export function folderOf(name: Package): string {
  const pinned = PINNED[name]
  const [version, ...more] = Object.values(pinned)
  const hash = createHash('sha256').update(JSON.stringify(pinned)).digest('hex').slice(0, 12)
  return join(CACHE, `${name}-${more.length === 0 ? version : hash}`)
}

/**
 * Installs a package where it is not there yet; what was begun and not finished does not count.
 *
 * @throws Error where the registry or the tools for it cannot be had.
 */
export function install(name: Package): void {
  const folder = folderOf(name)
  if (existsSync(folder)) return
  const pinned = PINNED[name]
  const begun = `${folder}.begun`
  rmSync(begun, { recursive: true, force: true })
  mkdirSync(begun, { recursive: true })
  console.log(`installing ${name} into ${folder}`)
  if (IN_PYTHON.includes(name)) python(begun, pinned)
  else node(begun, pinned)
  renameSync(begun, folder)
}

/** Scripts of packages are not run: what they download is in optional packages as well. */
function node(folder: string, pinned: Pinned): void {
  const wanted = Object.entries(pinned).map(([name, version]) => `${name}@${version}`)
  run('npm', [
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
  run('python3', ['-m', 'venv', folder])
  const wanted = Object.entries(pinned).map(([name, version]) => `${name}==${version}`)
  // By its module, as the folder is moved afterwards.
  run(join(folder, 'bin/python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...wanted])
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', timeout: 600_000 })
  if (status === 0) return
  const complaint = error?.message ?? stderr.split('\n').find(line => /error/i.test(line)) ?? `exit code ${status}`
  throw new Error(`${program} ${args.join(' ')}: ${complaint}`)
}

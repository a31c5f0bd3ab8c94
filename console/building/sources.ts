import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../..')

/** Folder with the built files, which the server sends. */
export const DIST = join(ROOT, 'console/dist')

/** Name of the file in `dist` that holds the hash of the sources it was built from. */
export const BUILT = '.built'

/** Files that the build depends on. They include some of the server because pages import the rows of its formats. */
const SOURCES = [
  ...['console/index.html', 'console/*.ts', 'console/building/*', 'console/public/**', 'console/src/**'],
  'src/formats/**',
]

/** SHA-256 of everything the build depends on: its sources and the versions of its packages. */
export function sourcesHash(): string {
  const hash = createHash('sha256')
  const files = globSync(SOURCES, { cwd: ROOT, withFileTypes: true }).filter(entry => entry.isFile())
  for (const path of [
    ...files.map(({ parentPath, name }) => join(parentPath, name)).sort(),
    join(ROOT, 'package-lock.json'),
  ])
    hash.update(path.slice(ROOT.length)).update('\0').update(readFileSync(path)).update('\0')
  return hash.digest('hex')
}

/** Whether `dist` was built from the current sources. */
export function isCurrent(): boolean {
  try {
    return readFileSync(join(DIST, BUILT), 'utf8') === sourcesHash()
  } catch {
    return false
  }
}

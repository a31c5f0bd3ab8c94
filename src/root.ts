import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * The program's root folder, whether it runs from source files, from the bundle or as modules of the npm package.
 * `findPackageJSON` is missing in Node before 22.14.
 */
export const ROOT: string = rootAbove(dirname(fileURLToPath(import.meta.url)))

/** The code that is running: the bundle that `npm ci` builds, or the source files. */
export const RUNNING_FROM: 'bundle' | 'sources' = import.meta.url.endsWith('.ts') ? 'sources' : 'bundle'

/** The folder of the built web console, written by `npm run console:build`. */
export const CONSOLE_FILES: string = join(ROOT, 'console/dist')

/** Returns the nearest folder whose package.json has a name. The one beside the npm package's modules has none. */
function rootAbove(folder: string): string {
  const path = join(folder, 'package.json')
  if (existsSync(path) && 'name' in (JSON.parse(readFileSync(path, 'utf8')) as object)) return folder
  const above = dirname(folder)
  if (above === folder) throw new Error('The package of this program has no package.json')
  return rootAbove(above)
}

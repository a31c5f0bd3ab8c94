import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** The program's root folder, whether it runs from source files or from the bundle. */
export const ROOT: string = dirname(findPackageJSON(import.meta.url)!)

/** Whether the bundle that `npm ci` builds runs, or the source files. */
export const RUNNING_FROM: 'bundle' | 'sources' = import.meta.url.endsWith('.ts') ? 'sources' : 'bundle'

/** The folder of the built web console, written by `npm run console:build`. */
export const CONSOLE_FILES: string = join(ROOT, 'console/dist')

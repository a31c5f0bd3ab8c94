import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'

/** The folder of this program, whether it runs from its sources or from a bundle of them. */
export const ROOT: string = dirname(findPackageJSON(import.meta.url)!)

/** What runs: the bundle that `npm ci` made, or the sources. */
export const RUNNING: 'bundle' | 'sources' = import.meta.url.endsWith('.ts') ? 'sources' : 'bundle'

/** The folder of the console's page, which `npm run console:build` writes. */
export const CONSOLE_FILES: string = join(ROOT, 'console/dist')

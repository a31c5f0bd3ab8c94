import { findPackageJSON } from 'node:module'
import { dirname } from 'node:path'

/** The folder of this program, whether it runs from its sources or from a bundle of them. */
export const ROOT: string = dirname(findPackageJSON(import.meta.url)!)

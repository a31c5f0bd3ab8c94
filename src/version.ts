import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './root.ts'

let cached: string | undefined

/** Returns the version in `package.json`, which is read on the first call. */
export const version = (): string =>
  (cached ??= (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { readonly version: string }).version)

import { readFileSync } from 'node:fs'

let known: string | undefined

/** The version of this program. */
export const version = (): string =>
  (known ??= (
    JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { readonly version: string }
  ).version)

import { createKey, keyFile, readKeys } from '../access/key-file.ts'
import type { Config } from '../config/index.ts'

export interface FirstKey {
  /** The key, when it was made just now: the only time it can be shown. */
  readonly made?: string
  /** The names of the keys in the key file. */
  readonly known: readonly string[]
}

/** Makes the first key of a gateway that has none, so that it can be used at once and by nobody else. */
export function firstKey(config: Config): FirstKey {
  const path = keyFile(config.dataDir)
  const known = readKeys(path).filter(key => key.revokedAt === undefined)
  if (config.keys.length > 0 || known.length > 0) return { known: known.map(({ name }) => name) }
  const group = config.groups.has('default') ? 'default' : [...config.groups.keys()][0]!
  return { made: createKey(path, 'first', group), known: [] }
}

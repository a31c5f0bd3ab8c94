import { createKey, keyFile, readKeys } from '../access/key-file.ts'
import type { Config } from '../config/index.ts'

export interface FirstKey {
  /** The key, when it was just created: it can be shown only now. */
  readonly created?: string
  /** The names of the keys in the key file. */
  readonly known: readonly string[]
}

/** Creates the first key of a gateway that has none, so that it can be used at once, but only by its operator. */
export function firstKey(config: Config): FirstKey {
  const path = keyFile(config.dataDir)
  const known = readKeys(path).filter(key => key.revokedAt === undefined)
  if (config.keys.length > 0 || known.length > 0) return { known: known.map(({ name }) => name) }
  const group = config.groups.has('default') ? 'default' : [...config.groups.keys()][0]!
  return { created: createKey(path, 'first', group), known: [] }
}

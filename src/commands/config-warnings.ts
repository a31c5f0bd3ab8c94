import { storedKeys } from '../access/index.ts'
import type { Config } from '../config/index.ts'
import { warnings } from '../config/warnings.ts'

/** Warnings about a config and the stored keys; a key file that cannot be read has none. */
export function warningsOf(config: Config): readonly string[] {
  return [...warnings(config, keysAt(config.dataDir))]
}

function keysAt(dataDir: string): ReturnType<typeof storedKeys> {
  try {
    return storedKeys(dataDir)
  } catch {
    return []
  }
}

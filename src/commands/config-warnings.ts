import type { Config } from '../config/index.ts'
import { warnings } from '../config/warnings.ts'
import type { StoredKey } from '../store/access-records.ts'

/** Warnings about a config and the stored keys, as far as they are known. */
export const warningsOf = (config: Config, stored: readonly Pick<StoredKey, 'name' | 'group'>[] = []) => [
  ...warnings(config, stored),
]

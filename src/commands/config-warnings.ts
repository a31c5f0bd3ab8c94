import type { Config } from '../config/index.ts'
import { warnings } from '../config/warnings.ts'
import type { StoredKey } from '../store/access-records.ts'

/** Returns the warnings about a config and those stored keys that could be read. */
export const warningsOf = (config: Config, stored: readonly Pick<StoredKey, 'name' | 'group'>[] = []) => [
  ...warnings(config, stored),
]

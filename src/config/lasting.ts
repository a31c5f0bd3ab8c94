import type { Config } from './index.ts'

/** Config fields that are read only at startup, by name. */
const LASTING: { readonly [field: string]: (config: Config) => unknown } = {
  store: ({ store }) => store,
  data_dir: ({ dataDir }) => dataDir,
}

/** Returns the changed fields that take effect only after a restart. */
export const unfollowed = (before: Config, next: Config): readonly string[] =>
  Object.keys(LASTING).filter(
    field => JSON.stringify(LASTING[field]!(before)) !== JSON.stringify(LASTING[field]!(next)),
  )

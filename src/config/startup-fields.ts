import type { Config } from './index.ts'

/** Config fields that are read only at startup, by name. */
const STARTUP_FIELDS: { readonly [field: string]: (config: Config) => unknown } = {
  store: ({ store }) => store,
  data_dir: ({ dataDir }) => dataDir,
}

/** Returns the changed fields that take effect only after a restart. */
export const changedStartupFields = (before: Config, next: Config): readonly string[] =>
  Object.keys(STARTUP_FIELDS).filter(
    field => JSON.stringify(STARTUP_FIELDS[field]!(before)) !== JSON.stringify(STARTUP_FIELDS[field]!(next)),
  )

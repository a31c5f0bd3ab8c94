import type { Config } from './index.ts'

/** What is decided at the start, by the name of its field. */
const LASTING: { readonly [field: string]: (config: Config) => unknown } = {
  store: ({ store }) => store,
  data_dir: ({ dataDir }) => dataDir,
}

/** The fields that another config changes although they take effect at the next start. */
export const unfollowed = (before: Config, next: Config): readonly string[] =>
  Object.keys(LASTING).filter(
    field => JSON.stringify(LASTING[field]!(before)) !== JSON.stringify(LASTING[field]!(next)),
  )

/** A module that programs import from the package. */
export interface Entry {
  /** Name in `exports` of package.json, for example `./testing`. */
  readonly name: string
  /** Source file below `src`. */
  readonly source: string
}

/** Everything that programs import. Each entry is built with its types. */
export const ENTRIES: readonly Entry[] = [{ name: '.', source: 'kit/library/index.ts' }]

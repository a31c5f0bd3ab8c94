/** A module that programs import from the package. */
export interface Entry {
  /** Name in `exports` of package.json, for example `./testing`. */
  readonly name: string
  /** Source file below `src`. */
  readonly source: string
  /** Compiler settings beside this file: the functions that the oldest runtime of the entry has. */
  readonly settings: string
}

/** Everything that programs import. Each entry is built with its types. */
export const ENTRIES: readonly Entry[] = [
  { name: '.', source: 'kit/library/index.ts', settings: 'library.json' },
  { name: './testing', source: 'kit/testing/index.ts', settings: 'testing.json' },
]

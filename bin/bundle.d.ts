/** What a bundle was built of: files below the program's folder, by path. */
export interface Built {
  /** The folder of its files below `DIST`. */
  readonly folder: string
  /** A hash of the contents of these files. */
  readonly hash: string
  /** Size and time of the last change of each. */
  readonly stamps: { readonly [path: string]: readonly number[] }
}

export const DIST: string
export function currentBundle(): string | undefined
export function hashOf(paths: readonly string[]): string
export function readBuilt(): Built | undefined
export function stampsOf(paths: readonly string[]): Built['stamps']
export function writeBuilt(built: Built): void

/** The files a bundle was built from. Paths are relative to the program's folder. */
export interface Built {
  /** Folder of the bundle below `DIST`. */
  readonly folder: string
  /** Hash of the contents of the files. */
  readonly hash: string
  /** Size and time of the last change of each file. */
  readonly stamps: { readonly [path: string]: readonly number[] }
}

export const DIST: string
export function currentBundle(): string | undefined
export function hashOf(paths: readonly string[]): string
export function readBuilt(): Built | undefined
export function stampsOf(paths: readonly string[]): Built['stamps']
export function writeBuilt(built: Built): void

import { ENGINE } from '../../builders/engines.ts'
import { OF_FILES } from './breakages-of-files.ts'
import { OF_SERVERS } from './breakages-of-servers.ts'

/** One way a store breaks, and how that is mended. */
export interface Breakage {
  /** How it is called by the gateway. */
  readonly kind: string
  /** What is kept can be read meanwhile. */
  readonly reads: boolean
  break(dataDir: string): Mend | Promise<Mend>
}

export type Mend = () => unknown

/** Ways the store of this run breaks under a gateway that runs. */
export const BREAKAGES: readonly (readonly [name: string, breakage: Breakage])[] = Object.entries(
  ENGINE === 'sqlite' ? OF_FILES : OF_SERVERS,
)

/** One in which everything can be read still. */
export const READ_ONLY = BREAKAGES.find(([, { kind }]) => kind === 'read-only')![1]
/** One in which nothing can be had. */
export const GONE = BREAKAGES.find(([, { kind }]) => kind === 'unreachable')![1]

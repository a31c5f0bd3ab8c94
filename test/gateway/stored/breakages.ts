import { ENGINE } from '../../builders/engines.ts'
import { OF_FILES } from './breakages-of-files.ts'
import { OF_SERVERS } from './breakages-of-servers.ts'

/** One way a store can break, with its repair. */
export interface Breakage {
  /** The name of the fault in the gateway. */
  readonly kind: string
  /** Whether stored data can be read meanwhile. */
  readonly reads: boolean
  break(dataDir: string): Mend | Promise<Mend>
}

export type Mend = () => unknown

/** Breakages for the store of this run, applied under a running gateway. */
export const BREAKAGES: readonly (readonly [name: string, breakage: Breakage])[] = Object.entries(
  ENGINE === 'sqlite' ? OF_FILES : OF_SERVERS,
)

/** A breakage that leaves everything readable. */
export const READ_ONLY = BREAKAGES.find(([, { kind }]) => kind === 'read-only')![1]
/** A breakage that makes everything unreachable. */
export const GONE = BREAKAGES.find(([, { kind }]) => kind === 'unreachable')![1]

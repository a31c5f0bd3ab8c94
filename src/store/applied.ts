import { version } from '../version.ts'
import { NewerStore } from './fault.ts'
import { MIGRATIONS } from './migrations/index.ts'

/** A migration that was applied to a database, and by which version of the program. */
export interface Applied {
  readonly name: string
  readonly program: string
}

/** The table of them: its name is nobody else's in a database that is shared. */
export const RECORDS = 'interlingua_migrations'

/** Throws NewerStore for a migration that this version of the program does not have. */
export function checkKnown(
  applied: readonly Applied[],
  known: readonly string[] = MIGRATIONS.map(({ name }) => name),
): void {
  const unknown = applied.findLast(({ name }) => !known.includes(name))
  if (unknown === undefined) return
  throw new NewerStore(
    `the store was changed by Interlingua ${unknown.program} (migration ${unknown.name}), which is newer than this Interlingua ${version()}: start ${unknown.program} or a later one, or put back a copy of the store from before`,
  )
}
